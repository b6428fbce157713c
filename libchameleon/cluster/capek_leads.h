// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Leads by CAPEK (capek.h) on signatures, where there are more behaviours than leads. Each main
/// cluster is a group of its own, so every Call-Path has a lead, and all are clustered side by
/// side: k of each is K / number of main clusters, at least 1. An item is a rank as its own
/// cluster. Ranks that are alike (alike.h) are at no distance, and others at some, even where their
/// averages agree; a medoid that is like another one leads no ranks.
///
/// The other selections (selection.h) choose at each node of the tree, among its clusters. This one
/// looks at 5 samples of 40 + 2k ranks of each main cluster, and at all ranks once: behaviours that
/// few ranks have are likely to be led by others.
///
/// Cost in addition to that of the main clusters: for n of them 5 n samples, and 6 (P - 1)
/// messages, none of more than the medoids of all trials or the clusters found. A worker clusters
/// its sample by PAM, whose work grows as k^3: it is meant for K of tens, not of thousands.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "cluster/alike.h"
#include "cluster/capek.h"
#include "cluster/clustering.h"
#include "cluster/options.h"

namespace chameleon::cluster {

/// A world whose ranks can be sampled, and can say that they are not ready for it.
template <class W>
concept SamplingWorld = GatherWorld<W> && requires(W& world) {
  world.absent(true).count;
  world.attempt([] {});
};

/// How unlike two ranks of one main cluster are.
class Unlikeness {
 public:
  explicit Unlikeness(const ClusterOptions& options) : options_(options) {}
  double operator()(const SubCluster& a, const SubCluster& b) const;

 private:
  const ClusterOptions& options_;
};

/// The plan, which all ranks know beforehand.
struct LeadPlan {
  CapekPlan capek;
  /// The main cluster of a rank, by the Call-Path of its own.
  std::uint32_t group_of(const SubCluster& own) const;
  std::vector<std::pair<std::uint64_t, std::uint32_t>> groups;  ///< by Call-Path, ascending
};
/// From main clusters without sub-clusters.
LeadPlan plan_leads(const Clustering& mains, std::uint32_t ranks, const ClusterOptions& options);

/// By main cluster: its leads, as CAPEK found them, each once; none where it did not look.
using FoundLeads = std::vector<Medoids<SubCluster>>;
FoundLeads distinct_leads(std::vector<CapekClusters<SubCluster>>&& found,
                          const ClusterOptions& options);

/// A rank in the cluster of its lead, without the signature, which all ranks have. Nothing if it
/// has none.
std::vector<SubCluster> membership(std::uint32_t rank, const SubCluster& own,
                                   const Medoids<SubCluster>& leads, const ClusterOptions& options);
/// Joins clusters, both ascending by lead.
void join_members(std::vector<SubCluster>& mine, std::vector<SubCluster>&& theirs,
                  const ClusterOptions& options);
/// The main clusters with these sub-clusters. One that has none of them keeps its own.
Clustering divide(Clustering mains, std::vector<SubCluster>&& found, const FoundLeads& leads);

/// Collective: `mains`, which all ranks have, with leads by CAPEK if `mains` has been found to have
/// too many behaviours. Where a rank is not ready for it, `mains` as it is.
template <SamplingWorld World>
Clustering capek_leads(World& world, typename World::template PerRank<SignatureVector>& signatures,
                       Clustering mains, const ClusterOptions& options) {
  LeadPlan plan;
  const bool ready = world.attempt([&] { plan = plan_leads(mains, world.size(), options); });
  const bool all = world.absent(ready && !mains.main.empty()).count == 0;
  if (!all || !mains.selected || world.failed()) return mains;

  auto items = world.map(signatures, [&](std::uint32_t rank, const SignatureVector& signature) {
    return own_cluster(rank, signature, options);
  });
  const auto group_of = [&](std::uint32_t, const SubCluster& own) { return plan.group_of(own); };
  auto found =
      capek_groups<World, SubCluster>(world, items, plan.capek, group_of, Unlikeness(options),
                                      LeastDissimilarity(), [](const char*) {});
  FoundLeads leads;
  world.attempt([&] { leads = distinct_leads(std::move(found), options); });

  auto members = world.map(items, [&](std::uint32_t rank, const SubCluster& own) {
    const std::uint32_t group = plan.group_of(own);
    return group < leads.size() ? membership(rank, own, leads[group], options)
                                : std::vector<SubCluster>();
  });
  auto joined = world.reduce(std::move(members), [&](auto& mine, auto&& theirs) {
    join_members(mine, std::move(theirs), options);
  });
  std::optional<Clustering> divided;
  if (joined) world.attempt([&] { divided = divide(std::move(mains), std::move(*joined), leads); });
  return world.broadcast(std::move(divided));
}

}  // namespace chameleon::cluster
