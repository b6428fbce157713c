// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// How often a marker is acted on: every n-th, as CHAMELEON_CALL_FREQUENCY says, or as often as
/// leaves an interval at least a tenth of a second (`kAuto`); and less often by a factor that keeps
/// the tool's share of the run time in its budget. All ranks receive the length of an interval with
/// the vote, so all have the same n from the same marker on, without a further message.
///
/// By itself n is a power of two. It grows where an interval was too short, by a factor of at most
/// `kFastest` at a time, since a program may begin with steps that are shorter than all others; and
/// it falls at once where an interval was `kTooLong` times what is wanted, to half of that. In
/// between it stays, however uneven steps are: an interval that has another number of markers than
/// the one before is not compared with it. Pure; O(1).

#include <algorithm>
#include <cstdint>

#include "markers/marker.h"

namespace chameleon::markers {

class Pace {
 public:
  static constexpr std::uint64_t kAuto = 0;  ///< in place of a number of markers
  static constexpr std::uint64_t kLeastNs = 100'000'000;
  static constexpr std::uint64_t kMost = 1U << 16, kFastest = 8, kTooLong = 8;

  constexpr explicit Pace(std::uint64_t every)
      : finds_itself_(every == kAuto), own_(std::max<std::uint64_t>(every, 1)), frequency_(own_) {}

  /// As of `MarkerFrequency`.
  constexpr bool act() { return frequency_.act(); }
  constexpr std::uint64_t seen() const { return frequency_.seen(); }
  constexpr std::uint64_t next() const { return frequency_.next(); }

  /// From now on n is found.
  constexpr void find() { finds_itself_ = true; }
  constexpr bool finds_itself() const { return finds_itself_; }

  /// Every n-th marker is acted on.
  constexpr std::uint64_t every() const { return own_ * factor_; }

  /// After a vote: an interval of `markers` markers took `ns` on the rank that was busy longest,
  /// and markers are to be acted on less often by `factor`. Whether the next interval has another
  /// number of markers. The time before the first marker does not count.
  constexpr bool adjust(std::uint64_t ns, std::uint64_t markers, std::uint64_t factor) {
    const std::uint64_t before = every();
    if (finds_itself_ && measured_) own_ = wanted(ns / std::max<std::uint64_t>(markers, 1) * own_);
    measured_ = true;
    factor_ = std::max<std::uint64_t>(factor, 1);
    frequency_.act_on_every(every());
    return every() != before;
  }

 private:
  /// Where `own_` markers took `ns`.
  constexpr std::uint64_t wanted(std::uint64_t ns) const {
    std::uint64_t found = own_;
    if (ns >= kTooLong * kLeastNs)
      for (; found > 1 && ns >= kTooLong / 2 * kLeastNs; ns /= 2) found /= 2;
    const std::uint64_t most = std::min(kMost, kFastest * own_);
    for (; found < most && ns < kLeastNs; ns *= 2) found *= 2;
    return found;
  }

  bool finds_itself_;
  bool measured_ = false;  ///< there was a vote
  std::uint64_t own_;      ///< without the factor
  std::uint64_t factor_ = 1;
  MarkerFrequency frequency_;
};

}  // namespace chameleon::markers
