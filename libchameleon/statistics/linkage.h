// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Agglomerative hierarchical clustering, and the results of its tree (Aguilera et al. 2006).
/// Single linkage is Kruskal's spanning forest over the pairs that have a distance: O(E log E)
/// time, memory of E. Complete and average linkage follow chains of nearest neighbours (Murtagh
/// 1983): O(n^2) time and memory. Pairs without a distance are infinitely far apart and merge last.
/// For equal distances, single linkage takes the pair of lowest items first.

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/rooms.h"

namespace chameleon::statistics {

enum class Linkage : std::uint8_t { kSingle, kComplete, kAverage };

const char* linkage_name(Linkage linkage);  ///< single, complete, average
/// Reads what `linkage_name` gives; false on anything else.
bool linkage_of(std::string_view name, Linkage& linkage);

/// Most items of complete and average linkage.
inline constexpr std::uint32_t kMostFullItems = 4096;

struct PairDistance {
  std::uint32_t a = 0, b = 0;
  double distance = 0;
};

/// Two clusters become one. Items are clusters 0 to n - 1, merge i makes cluster n + i.
struct Merge {
  std::uint32_t a = 0, b = 0;  ///< the cluster of the lower item first
  double height = 0;           ///< may be infinite
  std::uint32_t size = 0;      ///< items in the new cluster
};

/// n - 1 merges by ascending height; none of fewer than two items. Each pair is named once, and
/// for complete and average linkage `items` is at most `kMostFullItems`.
std::vector<Merge> hierarchy(std::uint32_t items, std::span<const PairDistance> pairs,
                             Linkage linkage);

/// Items from one end of the dendrogram to the other: branches do not cross.
std::vector<std::uint32_t> leaf_order(std::uint32_t items, std::span<const Merge> merges);

/// The cluster of each item if merging stops at this number of clusters (1 to `items`), numbered
/// from 0 in order of their lowest items.
std::vector<std::uint32_t> cut_tree(std::uint32_t items, std::span<const Merge> merges,
                                    std::uint32_t clusters);

/// Clusters left before the merge whose height is the largest multiple of the one before it; 1 if
/// no height is larger than another.
std::uint32_t natural_clusters(std::uint32_t items, std::span<const Merge> merges);

}  // namespace chameleon::statistics
