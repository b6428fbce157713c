// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Choosing k of n items to stand for all: K-Farthest, K-Medoid (PAM) and
/// K-Random, over a matrix of dissimilarities that any metric may fill; CAPEK samples ranks instead
/// (capek_leads.h). Items are
/// in canonical order (of ranks), which breaks ties. Chosen items are given as
/// ascending indices, all of them when k >= n. Nothing depends on anything but the
/// arguments, so all ranks agree.

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/rooms.h"

namespace chameleon::cluster {

enum class Selection : std::uint8_t { kFarthest, kMedoid, kRandom, kCapek };

/// As CHAMELEON_CLUSTERING takes it: k-farthest, k-medoid, k-random, capek.
const char* selection_name(Selection selection);
/// Reads what `selection_name` gives; false on anything else.
bool selection_of(std::string_view name, Selection& selection);

/// A symmetric matrix with zeros on the diagonal, of `size` items.
class Dissimilarities {
 public:
  /// metric(i, j) is called once for each i < j.
  template <class Metric>
  Dissimilarities(std::size_t size, Metric metric) : size_(size), values_(size * size) {
    for (std::size_t i = 0; i < size; ++i)
      for (std::size_t j = i + 1; j < size; ++j)
        values_[i * size + j] = values_[j * size + i] = metric(i, j);
  }
  std::size_t size() const { return size_; }
  double operator()(std::size_t i, std::size_t j) const { return values_[i * size_ + j]; }

 private:
  std::size_t size_;
  std::vector<double> values_;
};

using Chosen = std::vector<std::size_t>;

/// Item 0, then always the one farthest from those chosen (Algorithms 5 and 7), until all are
/// nearer than `enough`. O(n k).
Chosen k_farthest(const Dissimilarities& items, std::size_t k, double enough = 0);

/// Partitioning Around Medoids (Kaufman and Rousseeuw 1990: BUILD, then the best SWAP
/// until none lowers the cost), where the cost is each item's distance to its
/// nearest medoid times its weight. O(n^2 k) a step.
Chosen k_medoid(const Dissimilarities& items, std::span<const double> weights, std::size_t k);

/// The k with the lowest hash of seed and id: a uniform choice whatever else is in
/// the list, so that choosing among the chosen of parts chooses among all.
Chosen k_random(std::span<const std::uint64_t> ids, std::size_t k, std::uint64_t seed);

/// For each item the nearest of `chosen`, the lowest of equally near ones; a chosen one
/// is its own.
std::vector<std::size_t> nearest(const Dissimilarities& items, const Chosen& chosen);

}  // namespace chameleon::cluster
