// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Which of several clusterings is the best: the criterion of clara.h and capek.h. The lowest score
/// wins, and the first of equal ones. A criterion sees sums over all ranks only.

#include <cmath>
#include <concepts>
#include <cstdint>
#include <span>
#include <vector>

#include "statistics/partition.h"
#include "statistics/sampling.h"

namespace chameleon::cluster {

/// Sums over the ranks of a cluster, of what a value differs from the medoid's.
struct Deviations {
  double sum = 0, squares = 0;
};

/// A clustering by its sums.
struct TrialTotals {
  std::span<const std::uint32_t> sizes;  ///< of the clusters
  double dissimilarity = 0;              ///< to the medoids, over all ranks
  double squares = 0;                    ///< of dissimilarities
  std::span<const Deviations> values;    ///< by cluster, if the criterion has `value`
  std::span<const double> medoids;       ///< their values, likewise
};

template <class C>
concept ClusteringCriterion = requires(const C& criterion, const TrialTotals& totals) {
  { criterion.score(totals) } -> std::same_as<double>;
};
/// A criterion that also looks at one value of each item.
template <class C, class Item>
concept LooksAtValues = ClusteringCriterion<C> && requires(const C& criterion, const Item& item) {
  { criterion.value(item) } -> std::convertible_to<double>;
};

/// For one number of clusters: with more of them it only falls (Kaufman & Rousseeuw 1990).
struct LeastDissimilarity {
  double score(const TrialTotals& totals) const { return totals.dissimilarity; }
};

/// The Bayesian information criterion of X-means (partition.h).
struct Bayesian {
  double dimensions = 1;   ///< of an item as it is clustered
  bool published = false;  ///< as Gamblin et al. 2010 print it
  double score(const TrialTotals& totals) const {
    const std::vector<std::uint64_t> sizes(totals.sizes.begin(), totals.sizes.end());
    return -bayesian_criterion(sizes, totals.squares, dimensions, published);
  }
};

/// The clusters that need the fewest ranks to be measured, each as a stratum of its own (Eq. 1):
/// what stratified sampling wants of a clustering. `Value` gives what is to be estimated.
template <class Value>
struct FewestSamples {
  Value value;
  double relative_error = 0.05, confidence = 0.95;
  double score(const TrialTotals& totals) const {
    double samples = 0;
    for (std::size_t i = 0; i < totals.sizes.size(); ++i) {
      const double size = totals.sizes[i], mean = totals.values[i].sum / size;
      const double variance = totals.values[i].squares / size - mean * mean;
      const Stratum stratum{size, totals.medoids[i] + mean, std::sqrt(std::max(0.0, variance))};
      samples += static_cast<double>(stratum_sample(stratum, relative_error, confidence));
    }
    return samples;
  }
};

}  // namespace chameleon::cluster
