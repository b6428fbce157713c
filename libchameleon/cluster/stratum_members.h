// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Which ranks of each stratum are measured: its medoid, and of the others those with the least
/// hash of seed and rank. Exactly as many as are wanted, where Gamblin et al. 2010 let every rank
/// decide by chance. A reduction of lists that never have more entries than are wanted in all
/// (16 bytes each), and a broadcast of a bound for each stratum.

#include <algorithm>
#include <compare>
#include <cstdint>
#include <new>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "world/world.h"

namespace chameleon::cluster {

struct Candidate {
  std::uint32_t stratum = 0, rank = 0;
  std::uint64_t hash = 0;  ///< 0: a medoid, which comes first
  std::strong_ordering operator<=>(const Candidate& other) const {
    if (const auto order = stratum <=> other.stratum; order != 0) return order;
    if (const auto order = hash <=> other.hash; order != 0) return order;
    return rank <=> other.rank;
  }
  bool operator==(const Candidate&) const = default;
};

/// Joins lists in order, and keeps the first `wanted[i]` of each stratum.
inline void join_candidates(std::vector<Candidate>& mine, std::vector<Candidate>&& theirs,
                            std::span<const std::uint64_t> wanted) {
  std::vector<Candidate> all;
  std::merge(mine.begin(), mine.end(), theirs.begin(), theirs.end(), std::back_inserter(all));
  mine.clear();
  std::uint64_t kept = 0;
  for (const Candidate& each : all) {
    kept = mine.empty() || mine.back().stratum != each.stratum ? 0 : kept + 1;
    if (kept < wanted[each.stratum]) mine.push_back(each);
  }
}

template <class World>
struct StratumMembers {
  typename World::template PerRank<std::uint8_t> chosen;  ///< 1 on ranks to be measured
  /// At rank 0: by stratum, ascending ranks.
  std::optional<std::vector<std::vector<std::uint32_t>>> members;
};

/// Collective. `strata` is each rank's stratum, an index of `medoids` (ranks) and of `wanted`,
/// which are at least 1.
template <TreeWorld World>
StratumMembers<World> stratum_members(World& world,
                                      typename World::template PerRank<std::uint32_t>& strata,
                                      std::span<const std::uint32_t> medoids,
                                      std::span<const std::uint64_t> wanted, std::uint64_t seed) {
  const auto candidate = [&](std::uint32_t rank, std::uint32_t stratum) {
    const bool medoid = medoids[stratum] == rank;
    return Candidate{stratum, rank, medoid ? 0 : std::max<std::uint64_t>(1, combine(seed, rank))};
  };
  const auto has_stratum = [&](std::uint32_t stratum) { return stratum < medoids.size(); };
  auto lists = world.map(strata, [&](std::uint32_t rank, std::uint32_t stratum) {
    std::vector<Candidate> list;
    if (has_stratum(stratum)) list.push_back(candidate(rank, stratum));
    return list;
  });
  auto all = world.reduce(std::move(lists),
                          [&](std::vector<Candidate>& mine, std::vector<Candidate>&& theirs) {
                            join_candidates(mine, std::move(theirs), wanted);
                          });
  StratumMembers<World> result;
  std::optional<std::vector<Candidate>> last;
  const auto divide = [&] {
    last.emplace();
    result.members.emplace(medoids.size());
    for (const Candidate& each : *all) {
      // Other ranks know strata for which this one had no memory.
      if (!has_stratum(each.stratum)) throw std::bad_alloc();
      if (last->empty() || last->back().stratum != each.stratum) last->emplace_back();
      last->back() = each;
      (*result.members)[each.stratum].push_back(each.rank);
    }
    for (auto& ranks : *result.members) std::sort(ranks.begin(), ranks.end());
  };
  if (all && !world.attempt(divide)) last.reset(), result.members.reset();
  const std::vector<Candidate> bounds = world.broadcast(std::move(last));
  result.chosen = world.map(strata, [&](std::uint32_t rank, std::uint32_t stratum) {
    if (!has_stratum(stratum)) return std::uint8_t{0};
    const Candidate mine = candidate(rank, stratum);
    const auto bound = std::find_if(bounds.begin(), bounds.end(),
                                    [&](const Candidate& each) { return each.stratum == stratum; });
    return static_cast<std::uint8_t>(bound != bounds.end() && mine <= *bound);
  });
  return result;
}

}  // namespace chameleon::cluster
