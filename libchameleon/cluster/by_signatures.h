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
/// CAPEK (capek_leads.h) selects leads for all ranks at once, after the main clusters are known.
///
/// Cost: messages of at most that many clusters, each some dozens of bytes and its rank list; at a
/// node O(K^2) distances, for K-Medoid O(K^3) a swap. Without a bound on K a message has as many
/// clusters as there are behaviours, and joining two lists is linear in them.

#include <cstdint>
#include <optional>
#include <utility>

#include "cluster/adaptive.h"
#include "cluster/capek_leads.h"
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

/// Whether every rank of the world has these clusters and continues with them. A rank
/// without memory for them does not know them. 2 (P - 1) messages of 16 bytes. Subsets do
/// not ask.
template <TreeWorld World>
bool all_have(World& world, const Clustering& clusters) {
  if constexpr (requires { world.absent(true).count; })
    return world.absent(!clusters.main.empty()).count == 0;
  else
    return true;
}

/// Collective: clusters by signatures; where CAPEK is to select leads and they are too few, main
/// clusters only.
///
/// Further signatures in which ranks differ are added while every behaviour still has a lead: all
/// of them at once, otherwise one after the other. That is one more reduction if there are any, and
/// a clustering for each that is tried, none of more than K clusters. If a rank cannot have one of
/// them, none is tried after it. All ranks receive them, whatever the audience.
template <TreeWorld World>
Clustering by_signatures(World& world, typename World::template PerRank<SignatureVector> signatures,
                         const ClusterOptions& options, Audience audience = Audience::kAll) {
  const auto further = static_cast<SignatureFormat>(options.further & ~options.format);
  if (further == 0) return cluster(world, std::move(signatures), BySignatures(options), audience);
  const auto with = [&](SignatureFormat more) {
    ClusterOptions tried = options;
    tried.format = static_cast<SignatureFormat>(options.format | more);
    return cluster(world, signatures, BySignatures(tried));
  };
  Clustering found = with(adapt(world, signatures, further));
  if (!all_have(world, found) || !found.selected) return found;
  const auto differ = static_cast<SignatureFormat>(found.format & further);  // as all have heard it
  found = with(0);
  if (!all_have(world, found) || found.selected) return found;
  SignatureFormat taken = 0;
  for (const Parameter parameter : {Parameter::kCount, Parameter::kTag, Parameter::kDataOperation,
                                    Parameter::kKey, Parameter::kColor, Parameter::kSequence}) {
    if ((differ & format_bit(parameter)) == 0) continue;
    const auto more = static_cast<SignatureFormat>(taken | format_bit(parameter));
    Clustering finer = with(more);
    if (!all_have(world, finer)) return found;
    if (finer.selected) continue;
    taken = more;
    found = std::move(finer);
  }
  return found;
}

/// Collective: clusters by the scheme that `options` name; an adaptive format is agreed on first. 2
/// (P - 1) messages, for the root alone half as many, twice as many if the format is adaptive;
/// further signatures and CAPEK add their own. CAPEK is not available for a subset: its leads are
/// selected by K-Farthest. CAPEK's clusters are on all ranks, whatever the audience.
template <TreeWorld World>
Clustering cluster(World& world, typename World::template PerRank<SignatureVector> signatures,
                   ClusterOptions options, Audience audience = Audience::kAll) {
  if (options.adaptive) options.format = adapt(world, signatures, options.format);
  if (options.selection != Selection::kCapek || options.k == kUnbounded)
    return by_signatures(world, std::move(signatures), options, audience);
  if constexpr (SamplingWorld<World>) {
    Clustering mains = by_signatures(world, signatures, options);
    return capek_leads(world, signatures, std::move(mains), options);
  } else {
    options.selection = Selection::kFarthest;
    return by_signatures(world, std::move(signatures), options, audience);
  }
}

}  // namespace chameleon::cluster
