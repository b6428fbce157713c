// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The kinds of values that a part of a trace does not know exactly, and the ranks concerned. A
/// lead traces for the ranks of its cluster. If they were not compared (fidelity `lead`), or were
/// found to differ (`checked`), the nodes declare it by kind of parameter.

#include <cstdint>
#include <vector>

#include "model/rank_list.h"

namespace chameleon::inline model {

/// Kinds of what is recorded, as bits of `Inexact::kinds` (columns of Table 4.2).
enum Inexactness : std::uint32_t {
  kInexactEvents = 1,  ///< which calls, how often: everything else with them
  kInexactCount = 2,
  kInexactSource = 4,
  kInexactDest = 8,
  kInexactTag = 16,
  kInexactOther = 32,
  kInexactAll = 63,
};

/// Ranks whose values of these kinds are their lead's, not their own.
struct Inexact {
  RankList ranks;
  std::uint32_t kinds = 0;
  bool operator==(const Inexact&) const = default;
};

/// The kinds in which `rank` is inexact.
inline std::uint32_t inexact_kinds(const std::vector<Inexact>& list, std::uint32_t rank) {
  std::uint32_t kinds = 0;
  for (const Inexact& entry : list)
    if (entry.ranks.contains(rank)) kinds |= entry.kinds;
  return kinds;
}

/// Adds `other` to `list`: an entry a set of kinds, at most 2^6 of them.
inline void merge_inexact(std::vector<Inexact>& list, const std::vector<Inexact>& other) {
  for (const Inexact& theirs : other) {
    Inexact* found = nullptr;
    for (Inexact& mine : list)
      if (mine.kinds == theirs.kinds) found = &mine;
    if (found != nullptr)
      found->ranks.merge(theirs.ranks);
    else
      list.push_back(theirs);
  }
}

}  // namespace chameleon::inline model
