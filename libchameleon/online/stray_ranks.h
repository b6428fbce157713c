// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Beside the vote: the ranks that stray, whose Call-Path is not that by which they were clustered.
/// Eight bytes, for any number of ranks. Who strays keeps its own interval, and so do the ranks of
/// a lead that strays: leads are known by a bit of 31, which several may share. A rank that keeps
/// its interval in vain does no harm. `combine` is associative and commutative.

#include <cstdint>

namespace chameleon::online {

class StrayRanks {
 public:
  StrayRanks() = default;

  /// One rank that strays.
  static StrayRanks one() {
    StrayRanks result;
    result.count_ = 1;
    return result;
  }
  /// It leads others.
  void lead(std::uint32_t rank) { bits_ |= bit(rank); }
  /// It, or a rank that it leads, has not kept its intervals so far.
  void begin() { bits_ |= kBegins; }

  std::uint32_t count() const { return count_; }
  bool begins() const { return (bits_ & kBegins) != 0; }
  /// Whether this lead strays, or another one that has the same bit.
  bool may_have(std::uint32_t lead) const { return (bits_ & bit(lead)) != 0; }

  friend void combine(StrayRanks& mine, const StrayRanks& theirs) {
    mine.count_ += theirs.count_;
    mine.bits_ |= theirs.bits_;
  }

 private:
  static constexpr std::uint32_t kBegins = 1U << 31;
  static std::uint32_t bit(std::uint32_t rank) { return 1U << rank % 31; }

  std::uint32_t count_ = 0, bits_ = 0;
};

}  // namespace chameleon::online
