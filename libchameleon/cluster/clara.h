// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Clustering Large Applications (Kaufman & Rousseeuw 1990, chapter 3): PAM on samples, all items
/// to the nearest of each sample's medoids, and the best sample by a criterion. CAPEK (capek.h)
/// gives the same result as this does in one process with all items. Samples are independent, as
/// CAPEK's must be; the book's later ones contain the best medoids so far. O(trials (n k + s^2
/// k)).

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "cluster/criteria.h"
#include "cluster/pam.h"
#include "cluster/sums.h"
#include "cluster/trials.h"

namespace chameleon::cluster {

template <class Item>
struct Clara {
  Medoids<Item> medoids;
  std::vector<std::uint32_t> clusters;  ///< by item
  double score = 0;
};

/// The medoids of a sample, of which `item(rank)` are the items.
template <class Item, class At, class Dissimilarity>
Medoids<Item> sample_medoids(std::span<const std::uint32_t> sample, std::size_t k, At item,
                             const Dissimilarity& dissimilarity) {
  std::vector<Item> items;
  for (const std::uint32_t rank : sample) items.push_back(item(rank));
  Medoids<Item> medoids;
  for (const std::size_t i : pam(std::span<const Item>(items), k, dissimilarity))
    medoids.emplace_back(sample[i], std::move(items[i]));
  return medoids;
}

template <class Item, class Dissimilarity, ClusteringCriterion Criterion>
Clara<Item> clara(std::span<const Item> items, const TrialOptions& options,
                  const Dissimilarity& dissimilarity, const Criterion& criterion) {
  Clara<Item> best;
  best.score = std::numeric_limits<double>::infinity();
  const auto size = static_cast<std::uint32_t>(items.size());
  for (const Trial& trial : plan_trials(size, options)) {
    std::vector<Medoids<Item>> medoids(1);
    medoids[0] = sample_medoids<Item>(
        trial.sample, trial.k, [&](std::uint32_t rank) { return items[rank]; }, dissimilarity);
    TrialSums sums = TrialSums::none(medoids, LooksAtValues<Criterion, Item>);
    for (std::uint32_t rank = 0; rank < size; ++rank)
      sums.add(rank, items[rank], medoids, dissimilarity, criterion);
    const double score = sums.score(0, medoids, criterion);
    if (!best.medoids.empty() && !(score < best.score)) continue;
    best.score = score;
    best.medoids = std::move(medoids[0]);
  }
  for (std::uint32_t rank = 0; rank < size; ++rank)
    best.clusters.push_back(nearest_medoid(rank, items[rank], best.medoids, dissimilarity).cluster);
  return best;
}

}  // namespace chameleon::cluster
