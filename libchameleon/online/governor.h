// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Keeps the tool's share of the run time within a budget. Each rank says at its votes whether it
/// is over; all ranks then take the same step, so that nothing has to be sent:
///   1. markers are acted on less often: where they cost most, every second, fourth … 64th one;
///      where events do, every eighth at most;
///   2. where events cost most, their times are no longer kept;
///   3. only then intervals are left out, all but one of 2, 4 … 64.
/// The usual budget takes the first step alone: nothing is left out.
/// Over is who spent more than the budget both since the last step and since the start; the former
/// is looked at after a tenth of a second at the earliest. What the start took counts, and what
/// ranks do at markers: votes, clusterings, flushes. There is no way back: a share that fell
/// because of a step would rise again without it. Pure; cost: O(1).

#include <cstdint>
#include <string>

#include "base/rooms.h"

namespace chameleon::online {

class Governor {
 public:
  /// Nanoseconds since the start, the tool's by what it did.
  struct Spent {
    std::uint64_t elapsed = 0;
    std::uint64_t events = 0;
    std::uint64_t markers = 0;  ///< waiting for other ranks included
    std::uint64_t start = 0;
  };
  enum class Cause : std::uint8_t { kNone, kMarkers, kEvents };

  static constexpr std::uint64_t kMost = 64;                   ///< of each ratio
  static constexpr std::uint64_t kFirst = 8;                   ///< markers, where events cost most
  static constexpr std::uint64_t kLeastElapsed = 100'000'000;  ///< between steps

  /// `budget` is a share of the run time; 0: there is none. `may_drop_times`: times are kept
  /// beside events, not in them. `leaves_out`: steps 2 and 3 are taken.
  Governor(double budget, bool may_drop_times, bool leaves_out = true)
      : budget_(budget), times_(may_drop_times), leaves_out_(leaves_out) {}

  /// Why this rank is over its budget.
  Cause over(const Spent& now) const;

  /// Takes the next step for a cause, the same on all ranks. What the trace lacks or differs in
  /// from here on, for people; empty if it is nothing. `marks`: there are markers.
  std::string step(Cause cause, const Spent& now, bool marks = true);

  bool may_drop_times() const { return times_; }
  std::uint64_t every() const { return every_; }  ///< markers: one of so many is acted on
  bool drops_times() const { return drops_times_; }
  std::uint64_t one_of() const { return one_of_; }  ///< intervals: one of so many is recorded

 private:
  double budget_;
  bool times_;
  bool leaves_out_;
  Spent before_;
  std::uint64_t every_ = 1;
  std::uint64_t one_of_ = 1;
  bool drops_times_ = false;
};

}  // namespace chameleon::online
