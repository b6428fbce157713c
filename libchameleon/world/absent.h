// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The ranks that cannot take part in what a world does next. A few are named; of more than that
/// only the number is known, and the others had better leave it. Also, whether some rank has more
/// to bring after that. 20 bytes, for a vote.

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

namespace chameleon {

struct Absent {
  static constexpr std::uint32_t kMostNamed = 3;

  std::uint32_t count = 0;
  std::array<std::uint32_t, kMostNamed> ranks{};  ///< in no order
  bool more = false;                              ///< of any rank, absent or not

  static Absent one(std::uint32_t rank) { return {1, {rank}}; }
  bool all_named() const { return count <= kMostNamed; }
  bool names(std::uint32_t rank) const {
    const std::span named = std::span(ranks).first(std::min(count, kMostNamed));
    return std::find(named.begin(), named.end(), rank) != named.end();
  }

  void add(const Absent& other) {
    for (std::uint32_t i = 0; i < std::min(other.count, kMostNamed); ++i)
      if (count + i < kMostNamed) ranks[count + i] = other.ranks[i];
    count += other.count;
    more = more || other.more;
  }
};

}  // namespace chameleon
