// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Differences of times. Nothing guarantees the order of two readings: a thread moves between
/// processors with counters of their own, the length of a tick is measured anew, and an estimate is
/// corrected by a later measurement. As an unsigned number such a difference would be centuries.

#include <algorithm>
#include <cstdint>

#include "base/rooms.h"

namespace chameleon::inline base {

/// From one time to another; 0 where the second is not later.
[[gnu::always_inline]] constexpr std::uint64_t time_between(std::uint64_t from, std::uint64_t to) {
  return to > from ? to - from : 0;
}

/// Readings of a sum that may shrink in between. Each counts from the most that the sum has been,
/// so the pieces add up to no more than that.
class Growth {
 public:
  /// Since the last reading.
  std::uint64_t take(std::uint64_t reading) {
    const std::uint64_t more = time_between(most_, reading);
    most_ += more;
    return more;
  }
  std::uint64_t most() const { return most_; }

 private:
  std::uint64_t most_ = 0;
};

}  // namespace chameleon::inline base
