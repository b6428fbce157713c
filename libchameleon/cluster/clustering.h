// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// From a signature on every rank to clusters and leads on all ranks, in one walk
/// up the tree and one down (ACURDION's double-step clustering, Algorithm 5, and
/// Chameleon's, Algorithms 7 and 8). Every rank starts as its own cluster. Where
/// two lists meet, clusters of one Call-Path whose parameters in the format are
/// exactly equal become one, at no loss. If more than K are left, each *main
/// cluster* (Call-Path) keeps max(1, K / number of Call-Paths) leads and the others
/// join the nearest; so there are never fewer leads than Call-Paths, and a node
/// holds at most 2 max(K, Call-Paths) clusters at any time. Canonical: the same
/// on all ranks, in real jobs and virtual ones; main clusters are in order of
/// their lowest rank, sub-clusters of their lead.
///
/// Cost: 2 (P - 1) messages of at most max(K, Call-Paths) clusters, each a few dozen
/// bytes and its rank list; at a node O(K^2) distances, for K-Medoid O(K^3) a swap.

#include <cstdint>
#include <vector>

#include "base/bytes.h"
#include "cluster/distance.h"
#include "cluster/selection.h"
#include "model/rank_list.h"
#include "signature/signature.h"

namespace chameleon::cluster {

struct SubCluster {
  std::uint32_t lead = 0;     ///< traces for `ranks`, to which it belongs
  SignatureVector signature;  ///< the lead's
  RankList ranks;
  bool operator==(const SubCluster&) const = default;
};

struct MainCluster {
  std::uint64_t call_path = 0;  ///< 0 when Call-Path is not in the format
  std::vector<SubCluster> clusters;
  bool operator==(const MainCluster&) const = default;
};

struct Clustering {
  std::vector<MainCluster> main;

  /// Ascending.
  std::vector<std::uint32_t> leads() const;
  /// The cluster of a rank; null if it has none. O(clusters).
  const SubCluster* find(std::uint32_t rank) const;
  /// Sub-clusters, hence leads.
  std::size_t size() const;
  bool operator==(const Clustering&) const = default;
};

void encode(ByteWriter& writer, const Clustering& clustering);
bool decode(ByteReader& reader, Clustering& clustering);

struct ClusterOptions {
  Algorithm algorithm = Algorithm::kFarthest;
  std::uint32_t k = 9;  ///< leads wanted in all
  std::uint64_t seed = 1;
  Distance distance = Distance::kManhattan;
  SignatureFormat format = kDefaultFormat;
};

/// One rank as its own cluster.
Clustering single_cluster(std::uint32_t rank, const SignatureVector& signature,
                          const ClusterOptions& options);
/// Joins `theirs`, of higher ranks, into `mine` and reduces them to K.
void join_clusters(Clustering& mine, Clustering&& theirs, const ClusterOptions& options);

/// Collective: the clustering of all ranks, on all ranks (see above). On a world
/// that has failed an empty one.
template <class World>
Clustering cluster(World& world, typename World::template PerRank<SignatureVector> signatures,
                   const ClusterOptions& options) {
  auto own = world.map(signatures, [&](std::uint32_t rank, const SignatureVector& signature) {
    return single_cluster(rank, signature, options);
  });
  return world.all_reduce(std::move(own), [&](Clustering& mine, Clustering&& theirs) {
    join_clusters(mine, std::move(theirs), options);
  });
}

}  // namespace chameleon::cluster
