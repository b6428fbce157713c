// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The events of one rank, those of iterations that are alike once: for what they come to, where
/// neither their order nor other ranks matter. Periods of up to 64 iterations are found. O(1) a
/// loop's parameter and iteration read, beside reading the events.

#include <optional>
#include <unordered_set>

#include "analysis/operations.h"

namespace chameleon::analysis {

struct EventsRead {
  std::uint64_t events = 0;
  std::uint64_t at_once = 0;  ///< of those, events that others stand for
};

/// The loops of a plan that may be taken at once; none where ranks have several threads.
std::unordered_set<const Node*> loops_at_once(const TracePlan& plan);

class RankRounds {
 public:
  RankRounds(RankOperations& at, const std::unordered_set<const Node*>& loops) : at_(at) {
    watches_ = !loops.empty();
    if (watches_) at_.view().watch(loops);
  }

  /// The next event, or false at the end. It comes `times()` times.
  bool next() {
    if (watches_) look();
    if (!at_.next()) return false;
    read_.events += times_;
    read_.at_once += times_ - 1;
    return true;
  }
  std::uint64_t times() const { return times_; }
  const EventsRead& read() const { return read_; }

 private:
  static constexpr std::uint64_t kLongestPeriod = 64, kFewestTimes = 8;

  /// Before an event, which may begin an iteration.
  void look();
  void begin_comparing(const RankView::Round& round);

  RankOperations& at_;
  bool watches_ = false;
  EventsRead read_;
  std::uint64_t times_ = 1;
  std::optional<RankOperations::Mark> before_;
  RankView::Round since_;
  std::uint64_t compared_ = 0;               ///< iterations since
  std::uint64_t standing_ = 0, period_ = 0;  ///< iterations that stand for others: left, and in all
};

}  // namespace chameleon::analysis
