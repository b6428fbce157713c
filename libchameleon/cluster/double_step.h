// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// ACURDION's double-step clustering (dissertation section 4.1.1, Algorithm 5) as Chameleon
/// uses it (Algorithms 7 and 8): first by Call-Path, then by the other signatures. Every rank
/// starts as its own cluster. Where two lists meet, clusters of one Call-Path whose parameters
/// in the format are exactly equal become one, at no loss. If more than K are left, each *main
/// cluster* (Call-Path) keeps max(1, K / number of Call-Paths) leads and the others join the
/// nearest; so there are never fewer leads than Call-Paths, and a node holds at most
/// 2 max(K, Call-Paths) clusters at any time.
///
/// Cost: messages of at most max(K, Call-Paths) clusters, each a few dozen bytes and its rank
/// list; at a node O(K^2) distances, for K-Medoid O(K^3) a swap.

#include <cstdint>
#include <utility>

#include "cluster/distance.h"
#include "cluster/scheme.h"
#include "cluster/selection.h"

namespace chameleon::cluster {

struct ClusterOptions {
  Algorithm algorithm = Algorithm::kFarthest;
  std::uint32_t k = 9;  ///< leads wanted in all
  std::uint64_t seed = 1;
  Distance distance = Distance::kManhattan;
  SignatureFormat format = kDefaultFormat;
};

class DoubleStep {
 public:
  using Input = SignatureVector;
  using Summary = Clustering;

  explicit DoubleStep(const ClusterOptions& options) : options_(options) {}

  /// The rank as its own cluster.
  Clustering summarize(std::uint32_t rank, const SignatureVector& signature) const;
  /// Joins and reduces them to K.
  void join(Clustering& mine, Clustering&& theirs) const;
  /// The summary is the clustering.
  Clustering elect(Clustering&& all) const { return std::move(all); }

 private:
  ClusterOptions options_;
};
static_assert(ClusteringScheme<DoubleStep>);

/// Collective: clusters by the scheme that `options` name.
template <TreeWorld World>
Clustering cluster(World& world, typename World::template PerRank<SignatureVector> signatures,
                   const ClusterOptions& options) {
  return cluster(world, std::move(signatures), DoubleStep(options));
}

}  // namespace chameleon::cluster
