// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Partitioning Around Medoids (Kaufman & Rousseeuw 1990, chapter 2) of items of any type, by any
/// dissimilarity: `k_medoid` of selection.h where all items weigh the same. Memory of n^2, so for
/// samples; clara.h and capek.h are for more.

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "cluster/selection.h"

namespace chameleon::cluster {

/// The medoids as ascending indices; all items if there are no more than k.
template <class Item, class Dissimilarity>
std::vector<std::size_t> pam(std::span<const Item> items, std::size_t k,
                             const Dissimilarity& dissimilarity) {
  const Dissimilarities matrix(items.size(), [&](std::size_t i, std::size_t j) -> double {
    return dissimilarity(items[i], items[j]);
  });
  const std::vector<double> weights(items.size(), 1.0);
  return k_medoid(matrix, weights, k);
}

/// A medoid is a rank and its item. Ascending in ranks.
template <class Item>
using Medoids = std::vector<std::pair<std::uint32_t, Item>>;

struct Nearest {
  std::uint32_t cluster = 0;  ///< index of the medoid
  double dissimilarity = 0;
};
/// The cluster that a rank belongs to: a medoid's own, else that of the nearest medoid, the lowest
/// of equally near ones. There is at least one.
template <class Item, class Dissimilarity>
Nearest nearest_medoid(std::uint32_t rank, const Item& item, const Medoids<Item>& medoids,
                       const Dissimilarity& dissimilarity) {
  Nearest best;
  for (std::uint32_t i = 0; i < medoids.size(); ++i) {
    if (medoids[i].first == rank) return {i, 0};
    const double value = dissimilarity(item, medoids[i].second);
    if (i == 0 || value < best.dissimilarity) best = {i, value};
  }
  return best;
}

}  // namespace chameleon::cluster
