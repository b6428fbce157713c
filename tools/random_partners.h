// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Partners by chance: a permutation of the ranks for each round, so that who sends to whom follows
/// from no formula, and each rank is sent to once. A Feistel network of four rounds over the least
/// power of four that holds all ranks, applied until it gives a rank (cycle walking).

#include <bit>
#include <cstdint>

#include "base/hash.h"

namespace chameleon::tools {

class RandomPartners {
 public:
  RandomPartners(std::uint32_t ranks, std::uint64_t round)
      : ranks_(ranks), bits_((std::bit_width(ranks) + 1) / 2), round_(round) {}

  /// The rank that it sends to.
  std::uint32_t to(std::uint32_t rank) const {
    do rank = forth(rank);
    while (rank >= ranks_);
    return rank;
  }
  /// The rank that sends to it.
  std::uint32_t from(std::uint32_t rank) const {
    do rank = back(rank);
    while (rank >= ranks_);
    return rank;
  }

 private:
  static constexpr unsigned kSteps = 4;

  std::uint32_t mask() const { return (1U << bits_) - 1; }
  std::uint32_t scrambled(std::uint32_t half, unsigned step) const {
    return static_cast<std::uint32_t>(mix(combine(round_ * kSteps + step, half))) & mask();
  }
  std::uint32_t forth(std::uint32_t value) const {
    std::uint32_t left = value >> bits_, right = value & mask();
    for (unsigned step = 0; step < kSteps; ++step) {
      const std::uint32_t next = left ^ scrambled(right, step);
      left = right;
      right = next;
    }
    return left << bits_ | right;
  }
  std::uint32_t back(std::uint32_t value) const {
    std::uint32_t left = value >> bits_, right = value & mask();
    for (unsigned step = kSteps; step-- > 0;) {
      const std::uint32_t before = right ^ scrambled(left, step);
      right = left;
      left = before;
    }
    return left << bits_ | right;
  }

  std::uint32_t ranks_;
  int bits_;
  std::uint64_t round_;
};

}  // namespace chameleon::tools
