// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/cluster_study.h"

#include <algorithm>
#include <bit>
#include <set>

#include "base/hash.h"
#include "cluster/by_signatures.h"
#include "world/virtual_world.h"

namespace chameleon::analysis {
namespace {

std::uint64_t whole_hash(const SignatureVector& signature) {
  return combine(signature.call_path, signature[Parameter::kSequence].exact);
}

}  // namespace

Result<ClusterStudies> ClusterStudies::make(const Trace& trace, const signature::Rules& rules) {
  ClusterStudies studies(trace, FollowPlan(trace), signature::CallRules(rules));
  Result<std::vector<RankSignature>> ranks = rank_signatures(studies.plan_, studies.rules_);
  if (!ranks) return ranks.error();
  studies.ranks_ = std::move(*ranks);
  return studies;
}

std::size_t ClusterStudies::behaviours() const {
  std::set<std::uint64_t> distinct;
  for (const RankSignature& rank : ranks_) distinct.insert(whole_hash(rank.signature));
  return distinct.size();
}

Result<ClusterStudy> ClusterStudies::study(const cluster::ClusterOptions& options) const {
  ClusterStudy study;
  study.options = options;
  world::VirtualWorld world(trace_->world_size, true);
  study.clustering = cluster::cluster(
      world, world.generate([&](std::uint32_t rank) { return ranks_[rank].signature; }), options);
  study.traffic = world.traffic();
  study.main_clusters = study.clustering.main.size();
  study.leads = study.clustering.size();
  for (const cluster::MainCluster& main : study.clustering.main)
    study.largest = std::max(study.largest, main.clusters.size());
  std::vector<std::uint64_t> whole;
  for (const RankSignature& rank : ranks_) whole.push_back(whole_hash(rank.signature));
  Result<KeptShares> kept = kept_values(plan_, rules_, study.clustering, whole);
  if (!kept) return kept.error();
  study.kept = *kept;
  study.space = space_of(study);
  return study;
}

ClusterSpace ClusterStudies::space_of(const ClusterStudy& study) const {
  const auto size = static_cast<double>(ranks_.size());
  ClusterSpace space;
  double sequences = 0;
  for (const RankSignature& rank : ranks_) {
    space.trace += static_cast<double>(rank.trace_bytes) / size;
    sequences += 8.0 * static_cast<double>(rank.events + rank.parameters) / size;
  }
  const SignatureFormat format = study.clustering.format;
  space.signature = 8.0 * std::popcount(format);
  if ((format & signature::kSequenceBit) != 0) space.signature = sequences;
  const auto leads = static_cast<double>(study.leads);
  space.clustered =
      (space.trace * (leads - 1) + size * space.signature + space.signature * leads * (size - 1)) /
      size;
  const auto mains = static_cast<double>(study.main_clusters);
  const auto most = static_cast<double>(study.largest);
  space.by_main = (space.trace * (mains - 1) + size * space.signature +
                   space.signature * (mains + most) * (size - 1)) /
                  size;
  space.unclustered = space.trace * (size - 1) / size;
  double sent = static_cast<double>(study.traffic.bytes);
  for (const std::uint32_t lead : study.clustering.leads())
    if (lead != 0) sent += static_cast<double>(ranks_[lead].trace_bytes);
  space.counted = sent / size;
  return space;
}

}  // namespace chameleon::analysis
