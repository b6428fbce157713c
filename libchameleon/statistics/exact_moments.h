// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Number, sum and sum of squares of whole numbers, exactly: the result is the same, bit for bit,
/// in any order of addition. Trivially copyable, so that it can be reduced over ranks.

#include <cmath>
#include <cstdint>

#include "base/rooms.h"

namespace chameleon::statistics {

class ExactMoments {
 public:
  /// Larger numbers count as this one: 2^24 of their squares have room in 128 bits.
  static constexpr std::uint64_t kMost = (std::uint64_t{1} << 51) - 1;

  void add(std::uint64_t number) {
    const std::uint64_t capped = number < kMost ? number : kMost;
    add(1, capped, Wide{capped} * capped);
  }
  void add(const ExactMoments& other) { add(other.count_, other.sum_, other.squares()); }

  std::uint64_t count() const { return count_; }
  std::uint64_t sum() const { return sum_; }  ///< saturates
  double mean() const {
    return count_ == 0 ? 0 : static_cast<double>(sum_) / static_cast<double>(count_);
  }
  /// The deviation of a population: exactly 0 for equal numbers.
  double deviation() const {
    if (count_ == 0) return 0;
    // About the floor of the mean, which is a whole number, and then about the mean.
    const std::uint64_t floor = sum_ / count_;
    const Wide about = squares() - Wide{floor} * (Wide{2} * sum_ - Wide{floor} * count_);
    const double n = static_cast<double>(count_);
    const double rest = static_cast<double>(sum_ % count_) / n;
    return std::sqrt(std::fmax(0.0, static_cast<double>(about) / n - rest * rest));
  }

  bool operator==(const ExactMoments&) const = default;

 private:
  __extension__ using Wide = unsigned __int128;

  Wide squares() const { return Wide{high_} << 64 | low_; }
  void add(std::uint64_t count, std::uint64_t sum, Wide squares) {
    count_ += count;
    if (__builtin_add_overflow(sum_, sum, &sum_)) sum_ = UINT64_MAX;
    squares += this->squares();
    low_ = static_cast<std::uint64_t>(squares);
    high_ = static_cast<std::uint64_t>(squares >> 64);
  }

  std::uint64_t count_ = 0, sum_ = 0;
  std::uint64_t low_ = 0, high_ = 0;  ///< the sum of squares
};

}  // namespace chameleon::statistics
