// SPDX-License-Identifier: BSD-3-Clause
#include "cluster/by_signatures.h"

#include <algorithm>
#include <iterator>

#include "cluster/alike.h"

namespace chameleon::cluster {
namespace {

Chosen select(const std::vector<SubCluster>& clusters, const Dissimilarities& matrix, std::size_t k,
              const ClusterOptions& options) {
  switch (options.selection) {
    case Selection::kFarthest: return k_farthest(matrix, k);
    case Selection::kMedoid: {
      std::vector<double> weights;
      for (const SubCluster& cluster : clusters)
        weights.push_back(static_cast<double>(cluster.ranks.size()));
      return k_medoid(matrix, weights, k);
    }
    case Selection::kRandom: {
      std::vector<std::uint64_t> leads;
      for (const SubCluster& cluster : clusters) leads.push_back(cluster.lead);
      return k_random(leads, k, options.seed);
    }
    case Selection::kCapek: break;  // not among clusters of the tree
  }
  return {};
}

/// Leaves at most k leads, whose clusters take in the others (Algorithm 7).
void select_leads(std::vector<SubCluster>& clusters, std::size_t k, const ClusterOptions& options) {
  if (clusters.size() <= k) return;
  const Dissimilarities matrix(clusters.size(), [&](std::size_t i, std::size_t j) {
    return distance(clusters[i].signature, clusters[j].signature, options.distance, options.format);
  });
  const Chosen chosen = select(clusters, matrix, k, options);
  const std::vector<std::size_t> joins = nearest(matrix, chosen);
  for (std::size_t i = 0; i < clusters.size(); ++i)
    if (joins[i] != i) take_in_unlike(clusters[joins[i]], clusters[i]);
  std::vector<SubCluster> kept;
  for (const std::size_t i : chosen) kept.push_back(std::move(clusters[i]));
  clusters = std::move(kept);
}

/// One cluster of all: CAPEK looks at the ranks themselves, once, when all main clusters are known.
void leave_to_capek(std::vector<SubCluster>& clusters) {
  for (std::size_t i = 1; i < clusters.size(); ++i) take_in_unlike(clusters[0], clusters[i]);
  clusters.resize(1);
}

void join_alike(std::vector<SubCluster>& mine, std::vector<SubCluster>&& theirs,
                const ClusterOptions& options) {
  const AlikeIndex index(mine, options);
  std::vector<SubCluster> others;
  for (SubCluster& cluster : theirs) {
    SubCluster* const match = index.find(cluster);
    if (match != nullptr)
      take_in(*match, cluster, options);
    else
      others.push_back(std::move(cluster));
  }
  std::move(others.begin(), others.end(), std::back_inserter(mine));
}

}  // namespace

Clustering BySignatures::summarize(std::uint32_t rank, const SignatureVector& signature) const {
  const bool main = options_.steps == Steps::kDouble && (options_.format & kCallPathBit) != 0;
  Clustering result;
  result.format = options_.format;
  MainCluster& only = result.main.emplace_back();
  only.call_path = main ? signature.call_path : 0;
  only.clusters.push_back(own_cluster(rank, signature, options_));
  return result;
}

void BySignatures::join(Clustering& mine, Clustering&& theirs) const {
  // All ranks of `theirs` are higher, so what is appended keeps the order.
  mine.selected = mine.selected || theirs.selected;
  const KeyIndex places(mine.main, [](const MainCluster& each) { return each.call_path; });
  for (MainCluster& each : theirs.main) {
    const std::size_t at = places.find(each.call_path);
    if (at != KeyIndex::kNone)
      join_alike(mine.main[at].clusters, std::move(each.clusters), options_);
    else
      mine.main.push_back(std::move(each));
  }
  const bool sampled = options_.selection == Selection::kCapek;
  const bool fit = options_.k == kUnbounded || mine.size() <= options_.k;  // Algorithm 8, line 12
  if (fit && !(sampled && mine.selected)) return;
  mine.selected = true;
  const std::size_t k = std::max<std::size_t>(1, options_.k / mine.main.size());
  for (MainCluster& each : mine.main)
    if (sampled)
      leave_to_capek(each.clusters);
    else
      select_leads(each.clusters, k, options_);
}

}  // namespace chameleon::cluster
