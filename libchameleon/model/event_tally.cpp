// SPDX-License-Identifier: BSD-3-Clause
#include "model/event_tally.h"

#if defined(__SSE2__)

#include <algorithm>
#include <bit>

namespace chameleon::inline model {

std::uint32_t EventTally::key_of(std::uint64_t ns) {
  const double value = std::max(static_cast<double>(ns), 0.5);
  return static_cast<std::uint32_t>(std::bit_cast<std::uint64_t>(value) >> 50);
}

std::uint8_t EventTally::bin_of_key(std::uint32_t key) {
  if (key >= kKeyOfFour) return static_cast<std::uint8_t>(key - kKeyOfFour + 4);
  return key == key_of(0) ? 0 : key == key_of(1) ? 1 : key == key_of(2) ? 2 : 3;
}

void EventTally::empty() {
  sums_ = squares_ = most_ = _mm_setzero_pd();
  least_ = _mm_set1_pd(2147483648.0);
  counts_ = {};
  count_ = 0;
}

/// The first event may have been a rare one (of a cold cache): the counters move after 32, and then
/// the next time after twice as many.
void EventTally::missed(std::uint64_t compute, std::uint64_t communication, Durations& rest) {
  constexpr std::uint16_t kMostMoves = 10;
  const bool placed = first_[0] != kNowhere, full = count_ == kMost;
  if (placed && !full && ++misses_ < 32U << std::min(moves_, kMostMoves)) return;
  add_to(rest);
  empty();
  if (placed && (full || moves_ == kMostMoves)) return;
  misses_ = 0;
  if (placed) ++moves_;
  const auto around = [](std::uint64_t ns) { return std::max(kKeyOfZero, key_of(ns) - kKeys / 2); };
  first_ = {around(compute), around(communication)};
}

void EventTally::add_to(Durations& rest) const {
  if (count_ == 0) return;
  alignas(16) std::array<std::array<double, 2>, 4> moments;
  _mm_store_pd(moments[0].data(), sums_);
  _mm_store_pd(moments[1].data(), squares_);
  _mm_store_pd(moments[2].data(), least_);
  _mm_store_pd(moments[3].data(), most_);
  for (std::size_t kind = 0; kind < 2; ++kind) {
    const auto whole = [&](std::size_t i) { return static_cast<std::uint64_t>(moments[i][kind]); };
    Histogram::Counted many{count_, whole(0), whole(2), whole(3), moments[1][kind], {}};
    for (std::uint32_t i = 0; i < kKeys; ++i)
      if (counts_[kind][i] != 0)
        many.bins.emplace_back(bin_of_key(first_[kind] + i), counts_[kind][i]);
    (kind == 0 ? rest.compute : rest.communication).add(many);
  }
}

}  // namespace chameleon::inline model

#endif
