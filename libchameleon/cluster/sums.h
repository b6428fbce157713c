// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The sums over all ranks by which trials are judged: 4 bytes for each cluster of each trial, 16
/// for each trial, and 16 more for each cluster if the criterion uses values.

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "cluster/criteria.h"
#include "cluster/pam.h"
#include "world/world.h"

namespace chameleon::cluster {

class TrialSums {
 public:
  /// Sums over no rank yet.
  template <class Item>
  static TrialSums none(const std::vector<Medoids<Item>>& trials, bool values) {
    std::size_t clusters = 0;
    for (const Medoids<Item>& medoids : trials) clusters += medoids.size();
    TrialSums sums;
    sums.sizes_.resize(clusters);
    sums.dissimilarities_.resize(trials.size());
    if (values) sums.values_.resize(clusters);
    return sums;
  }

  /// Takes in a rank: in each trial it belongs to the cluster of the nearest medoid.
  template <class Item, class Dissimilarity, class Criterion>
  void add(std::uint32_t rank, const Item& item, const std::vector<Medoids<Item>>& trials,
           const Dissimilarity& dissimilarity, const Criterion& criterion) {
    std::size_t first = 0;
    for (std::size_t t = 0; t < trials.size(); ++t) {
      if (trials[t].empty()) continue;
      const Nearest nearest = nearest_medoid(rank, item, trials[t], dissimilarity);
      ++sizes_[first + nearest.cluster];
      dissimilarities_[t].sum += nearest.dissimilarity;
      dissimilarities_[t].squares += nearest.dissimilarity * nearest.dissimilarity;
      if constexpr (LooksAtValues<Criterion, Item>) {
        const double value =
            criterion.value(item) - criterion.value(trials[t][nearest.cluster].second);
        values_[first + nearest.cluster].sum += value;
        values_[first + nearest.cluster].squares += value * value;
      }
      first += trials[t].size();
    }
  }

  /// Joins the sums of other ranks, in the order of the tree. Those of no rank are empty.
  void join(TrialSums&& other) {
    if (sizes_.empty())
      *this = std::move(other);
    else if (!other.sizes_.empty())
      add_up(other);
  }

  template <class Item, class Criterion>
  double score(std::size_t trial, const std::vector<Medoids<Item>>& trials,
               const Criterion& criterion) const {
    std::vector<double> medoids;
    if constexpr (LooksAtValues<Criterion, Item>)
      for (const auto& [rank, item] : trials[trial]) medoids.push_back(criterion.value(item));
    const std::size_t first = first_cluster(trial, trials), count = trials[trial].size();
    const std::span<const Deviations> values = values_;
    return criterion.score({std::span(sizes_).subspan(first, count), dissimilarities_[trial].sum,
                            dissimilarities_[trial].squares,
                            values.empty() ? values : values.subspan(first, count), medoids});
  }

  template <class Item>
  std::vector<std::uint32_t> sizes(std::size_t trial,
                                   const std::vector<Medoids<Item>>& trials) const {
    const auto first = sizes_.begin() + static_cast<std::ptrdiff_t>(first_cluster(trial, trials));
    return {first, first + static_cast<std::ptrdiff_t>(trials[trial].size())};
  }

  bool empty() const { return sizes_.empty(); }

  void encode(ByteWriter& writer) const {
    encode_values(writer, sizes_, dissimilarities_, values_);
  }
  static bool decode(ByteReader& reader, TrialSums& sums) {
    return decode_values(reader, sums.sizes_, sums.dissimilarities_, sums.values_);
  }

 private:
  template <class Item>
  static std::size_t first_cluster(std::size_t trial, const std::vector<Medoids<Item>>& trials) {
    std::size_t first = 0;
    for (std::size_t t = 0; t < trial; ++t) first += trials[t].size();
    return first;
  }
  static void add_up(std::vector<Deviations>& mine, const std::vector<Deviations>& theirs) {
    for (std::size_t i = 0; i < mine.size(); ++i) {
      mine[i].sum += theirs[i].sum;
      mine[i].squares += theirs[i].squares;
    }
  }
  void add_up(const TrialSums& other) {
    for (std::size_t i = 0; i < sizes_.size(); ++i) sizes_[i] += other.sizes_[i];
    add_up(dissimilarities_, other.dissimilarities_);
    add_up(values_, other.values_);
  }

  std::vector<std::uint32_t> sizes_;         ///< by trial and cluster
  std::vector<Deviations> dissimilarities_;  ///< by trial
  std::vector<Deviations> values_;           ///< by trial and cluster
};

/// Sums by group of ranks, ascending: of those groups that have ranks here.
using GroupSums = std::vector<std::pair<std::uint32_t, TrialSums>>;

/// Joins the sums of other ranks.
inline void join_groups(GroupSums& mine, GroupSums&& theirs) {
  for (auto& [group, sums] : theirs) {
    const auto at =
        std::lower_bound(mine.begin(), mine.end(), group,
                         [](const auto& one, std::uint32_t key) { return one.first < key; });
    if (at != mine.end() && at->first == group)
      at->second.join(std::move(sums));
    else
      mine.emplace(at, group, std::move(sums));
  }
}

}  // namespace chameleon::cluster
