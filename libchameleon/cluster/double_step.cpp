// SPDX-License-Identifier: BSD-3-Clause
#include "cluster/double_step.h"

#include <algorithm>
#include <unordered_map>

namespace chameleon::cluster {
namespace {

/// Position of the first item with a given key; a hash table once there are many.
template <class Key>
class Places {
 public:
  template <class Items>
  Places(const Items& items, Key key) : key_(key) {
    keys_.reserve(items.size());
    for (const auto& item : items) add(item);
  }
  template <class Item>
  void add(const Item& item) {
    keys_.push_back(key_(item));
    if (keys_.size() == kFew)
      for (std::size_t i = 0; i < kFew; ++i) table_.try_emplace(keys_[i], i);
    else if (keys_.size() > kFew)
      table_.try_emplace(keys_.back(), keys_.size() - 1);
  }
  /// The number of items when there is none.
  template <class Item>
  std::size_t find(const Item& item) const {
    const std::uint64_t key = key_(item);
    if (keys_.size() < kFew)
      return static_cast<std::size_t>(std::find(keys_.begin(), keys_.end(), key) - keys_.begin());
    const auto found = table_.find(key);
    return found == table_.end() ? keys_.size() : found->second;
  }

 private:
  static constexpr std::size_t kFew = 32;
  Key key_;
  std::vector<std::uint64_t> keys_;
  std::unordered_map<std::uint64_t, std::size_t> table_;
};

/// Equal for signatures whose parameters in the format are exactly equal.
std::uint64_t parameters_key(const SignatureVector& signature, SignatureFormat format) {
  std::uint64_t key = 0;
  for (std::size_t i = 0; i < kParameters; ++i)
    if ((format >> i & 1) != 0) key = combine(key, signature.parameters[i].exact);
  return key;
}

void take_in(SubCluster& mine, const SubCluster& theirs) {
  mine.ranks.merge(theirs.ranks);
  mine.same_distances = mine.same_distances && theirs.same_distances;
  for (const Parameter partner : {Parameter::kSource, Parameter::kDestination}) {
    const auto exact = [&](const SubCluster& one) {
      return one.signature.parameters[static_cast<std::size_t>(partner)].exact;
    };
    mine.same_distances = mine.same_distances && exact(mine) == exact(theirs);
  }
}

void join_equals(std::vector<SubCluster>& mine, std::vector<SubCluster>&& theirs,
                 SignatureFormat format) {
  Places places(mine, [format](const SubCluster& cluster) {
    return parameters_key(cluster.signature, format);
  });
  const std::size_t before = mine.size();
  for (SubCluster& cluster : theirs) {
    const std::size_t at = places.find(cluster);
    if (at < before)
      take_in(mine[at], cluster);
    else
      mine.push_back(std::move(cluster));
  }
}

/// Leaves at most k leads, whose clusters take in the others (Algorithm 7).
void select_leads(std::vector<SubCluster>& clusters, std::size_t k, const ClusterOptions& options) {
  if (clusters.size() <= k) return;
  const Dissimilarities matrix(clusters.size(), [&](std::size_t i, std::size_t j) {
    return distance(clusters[i].signature, clusters[j].signature, options.distance, options.format);
  });
  Selection chosen;
  switch (options.algorithm) {
    case Algorithm::kFarthest: chosen = k_farthest(matrix, k); break;
    case Algorithm::kMedoid: {
      std::vector<double> weights;
      for (const SubCluster& cluster : clusters)
        weights.push_back(static_cast<double>(cluster.ranks.size()));
      chosen = k_medoid(matrix, weights, k);
      break;
    }
    case Algorithm::kRandom: {
      std::vector<std::uint64_t> leads;
      for (const SubCluster& cluster : clusters) leads.push_back(cluster.lead);
      chosen = k_random(leads, k, options.seed);
      break;
    }
  }
  const std::vector<std::size_t> joins = nearest(matrix, chosen);
  for (std::size_t i = 0; i < clusters.size(); ++i)
    if (joins[i] != i) take_in(clusters[joins[i]], clusters[i]);
  std::vector<SubCluster> kept;
  for (const std::size_t i : chosen) kept.push_back(std::move(clusters[i]));
  clusters = std::move(kept);
}

}  // namespace

Clustering DoubleStep::summarize(std::uint32_t rank, const SignatureVector& signature) const {
  Clustering result;
  MainCluster& only = result.main.emplace_back();
  only.call_path = (options_.format & kCallPathBit) != 0 ? signature.call_path : 0;
  only.clusters.push_back({rank, signature, RankList::single(rank)});
  return result;
}

void DoubleStep::join(Clustering& mine, Clustering&& theirs) const {
  // All ranks of `theirs` are higher, so what is appended keeps the order.
  const Places places(mine.main, [](const MainCluster& each) { return each.call_path; });
  const std::size_t before = mine.main.size();
  for (MainCluster& each : theirs.main) {
    const std::size_t at = places.find(each);
    if (at < before)
      join_equals(mine.main[at].clusters, std::move(each.clusters), options_.format);
    else
      mine.main.push_back(std::move(each));
  }
  if (mine.size() <= options_.k) return;  // Algorithm 8, line 12
  const std::size_t k = std::max<std::size_t>(1, options_.k / mine.main.size());
  for (MainCluster& each : mine.main) select_leads(each.clusters, k, options_);
}

}  // namespace chameleon::cluster
