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

/// Whether work that ranks do in rounds continues, as far as one rank or all ranks know.
struct Rounds {
  bool more = false;         ///< something is left for another round
  bool ends = false;         ///< a process is about to end
  bool represented = false;  ///< a rank, whose events are gone, by what another brings

  /// Where no rank is represented, what is left is with the ranks that it is of.
  bool go_on() const { return more && (!ends || represented); }
  void add(const Rounds& other) {
    more = more || other.more;
    ends = ends || other.ends;
    represented = represented || other.represented;
  }
};

struct Absent {
  static constexpr std::uint32_t kMostNamed = 3;

  std::uint32_t count = 0;
  std::array<std::uint32_t, kMostNamed> ranks{};  ///< in no order
  Rounds rounds;                                  ///< of all ranks, absent or not

  static Absent one(std::uint32_t rank) { return {1, {rank}, {}}; }
  bool all_named() const { return count <= kMostNamed; }
  bool names(std::uint32_t rank) const {
    const std::span named = std::span(ranks).first(std::min(count, kMostNamed));
    return std::find(named.begin(), named.end(), rank) != named.end();
  }

  void add(const Absent& other) {
    for (std::uint32_t i = 0; i < std::min(other.count, kMostNamed); ++i)
      if (count + i < kMostNamed) ranks[count + i] = other.ranks[i];
    count += other.count;
    rounds.add(other.rounds);
  }
};

}  // namespace chameleon
