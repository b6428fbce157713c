// SPDX-License-Identifier: BSD-3-Clause
#include "cluster/capek_leads.h"

#include <iterator>

namespace chameleon::cluster {
namespace {

/// Ranks that are not alike are unlike, if less than those whose averages differ.
constexpr double kLeastUnlike = 0x1p-64;

TrialOptions trials_of(const ClusterOptions& options, std::size_t mains) {
  TrialOptions trials;
  trials.first_k = trials.last_k =
      static_cast<std::uint32_t>(std::max<std::size_t>(1, options.k / mains));
  trials.seed = options.seed;
  return trials;
}

auto lead_at(std::vector<SubCluster>& clusters, std::uint32_t lead) {
  return std::lower_bound(clusters.begin(), clusters.end(), lead,
                          [](const SubCluster& one, std::uint32_t key) { return one.lead < key; });
}

}  // namespace

double Unlikeness::operator()(const SubCluster& a, const SubCluster& b) const {
  if (alike_readings(a.signature, b.signature, options_).any()) return 0;
  return std::max(kLeastUnlike,
                  distance(a.signature, b.signature, options_.distance, options_.format));
}

std::uint32_t LeadPlan::group_of(const SubCluster& own) const {
  if (groups.size() == 1) return groups.front().second;  // of a single step, it has none
  const std::uint64_t key = own.signature.call_path;
  const auto at = std::lower_bound(groups.begin(), groups.end(), std::pair(key, 0U));
  return at != groups.end() && at->first == key ? at->second : UINT32_MAX;
}

LeadPlan plan_leads(const Clustering& mains, std::uint32_t ranks, const ClusterOptions& options) {
  LeadPlan plan;
  if (!mains.selected) return plan;
  std::vector<RankList> members;
  for (const MainCluster& main : mains.main) {
    plan.groups.emplace_back(main.call_path, static_cast<std::uint32_t>(members.size()));
    members.push_back(main.clusters.front().ranks);
  }
  std::sort(plan.groups.begin(), plan.groups.end());
  plan.capek = {plan_trials(members, trials_of(options, members.size())), ranks};
  return plan;
}

FoundLeads distinct_leads(std::vector<CapekClusters<SubCluster>>&& found,
                          const ClusterOptions& options) {
  const Unlikeness unlike(options);
  FoundLeads leads(found.size());
  for (std::size_t group = 0; group < found.size(); ++group)
    for (auto& medoid : found[group].medoids)
      if (std::none_of(leads[group].begin(), leads[group].end(),
                       [&](const auto& one) { return unlike(one.second, medoid.second) == 0; }))
        leads[group].push_back(std::move(medoid));
  return leads;
}

std::vector<SubCluster> membership(std::uint32_t rank, const SubCluster& own,
                                   const Medoids<SubCluster>& leads,
                                   const ClusterOptions& options) {
  std::vector<SubCluster> none_or_one;
  if (leads.empty()) return none_or_one;
  const Unlikeness unlike(options);
  const auto& [lead, its] = leads[nearest_medoid(rank, own, leads, unlike).cluster];
  SubCluster& member = none_or_one.emplace_back();
  member.lead = lead;
  member.ranks = own.ranks;
  const AlikeReadings alike = alike_readings(own.signature, its.signature, options);
  member.count = alike.any() ? own.count : its.count;
  // Who is like nobody has no say in what those share who are.
  member.relative_holds = alike.relative || !alike.any();
  member.mixed_holds = alike.mixed || !alike.any();
  member.xor_holds = own.xor_holds && (alike.xored || !alike.any());
  member.same_distances = same_distances(own.signature, its.signature);
  return none_or_one;
}

void join_members(std::vector<SubCluster>& mine, std::vector<SubCluster>&& theirs,
                  const ClusterOptions& options) {
  for (SubCluster& other : theirs) {
    const auto at = lead_at(mine, other.lead);
    if (at != mine.end() && at->lead == other.lead)
      take_in(*at, other, options);
    else
      mine.insert(at, std::move(other));
  }
}

Clustering divide(Clustering mains, std::vector<SubCluster>&& found, const FoundLeads& leads) {
  for (std::size_t group = 0; group < std::min(leads.size(), mains.main.size()); ++group) {
    std::vector<SubCluster> clusters;
    for (const auto& [lead, its] : leads[group]) {
      const auto at = lead_at(found, lead);
      if (at == found.end() || at->lead != lead) continue;
      at->signature = its.signature;
      // Only one that failed in the meantime is not in its own cluster.
      if (!at->ranks.contains(lead)) at->lead = at->ranks.first();
      clusters.push_back(std::move(*at));
    }
    if (!clusters.empty()) mains.main[group].clusters = std::move(clusters);
  }
  return mains;
}

}  // namespace chameleon::cluster
