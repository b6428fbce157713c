// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Clustering by signatures: the scheme on whose axes (options.h) all of the papers' clusterings
/// lie. Every rank starts as its own cluster. Where two lists meet, clusters that are alike become
/// one, at no loss (`Alike`). If more than K are left, leads are selected, and the other clusters
/// join the nearest (dissertation Algorithms 5 and 7).
///
/// In two steps (section 4.1.1, Algorithm 8) ranks of one Call-Path are a *main cluster*, which
/// keeps max(1, K / number of Call-Paths) leads; so there are never fewer leads than Call-Paths,
/// and a node holds at most 2 max(K, Call-Paths) clusters at any time. In a single step there is
/// one main cluster, Call-Path is one of the signatures, and a node holds at most 2 K.
///
/// Cost: messages of at most that many clusters, each some dozens of bytes and its rank list; at a
/// node O(K^2) distances, for K-Medoid O(K^3) a swap. Without a bound on K a message has as many
/// clusters as there are behaviours, and joining two lists is linear in them.

#include <cstdint>
#include <optional>
#include <utility>

#include "cluster/adaptive.h"
#include "cluster/options.h"
#include "cluster/scheme.h"

namespace chameleon::cluster {

class BySignatures {
 public:
  using Input = SignatureVector;
  using Summary = Clustering;

  explicit BySignatures(const ClusterOptions& options) : options_(options) {}

  /// The rank as its own cluster.
  Clustering summarize(std::uint32_t rank, const SignatureVector& signature) const;
  /// Joins and reduces them to K.
  void join(Clustering& mine, Clustering&& theirs) const;
  /// The summary is the clustering.
  Clustering elect(Clustering&& all) const { return std::move(all); }

 private:
  ClusterOptions options_;
};
static_assert(ClusteringScheme<BySignatures>);

/// Collective: clusters by the scheme that `options` name; an adaptive format is agreed on first.
/// 2 (P - 1) messages, twice as many if the format is adaptive.
template <TreeWorld World>
Clustering cluster(World& world, typename World::template PerRank<SignatureVector> signatures,
                   ClusterOptions options) {
  if (options.adaptive) options.format = adapt(world, signatures, options.format);
  return cluster(world, std::move(signatures), BySignatures(options));
}

}  // namespace chameleon::cluster
