// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// CAPEK (Gamblin, de Supinski, Schulz, Fowler, Reed, "Clustering Performance Data Efficiently at
/// Massive Scales", ICS 2010, section 3.2): CLARA where every rank has one item, on the ranks
/// themselves. Sampled ranks send their items to workers, which cluster the samples by PAM; all
/// ranks get all medoids and find the nearest; sums over all ranks say which sample was the best.
/// Nothing depends on anything but the arguments, so every kind of world gives the same, bit for
/// bit, as sums are made in the order of the tree. Groups of ranks can be clustered side by side,
/// each by itself.
///
/// Cost, of T trials with samples of s: at a worker O(s^2 k); at a rank O(T k) dissimilarities;
/// at most T s + 4 P messages, 1 + 4 log P deep. The largest message has all medoids, or
/// 4 bytes for each and 16 for each trial: neither grows with P.
///
/// What a rank has no memory for it goes without, and still takes part in every step: it needs
/// nothing but the plan.

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "cluster/clara.h"
#include "cluster/sums.h"
#include "cluster/trials.h"
#include "world/several_roots.h"

namespace chameleon::cluster {

/// The result, on all ranks. No medoids: the world has failed.
template <class Item>
struct CapekClusters {
  Medoids<Item> medoids;
  std::vector<std::uint32_t> sizes;  ///< ranks of each
  double score = 0;                  ///< by the criterion
};

template <class World, class Item>
struct Capek {
  CapekClusters<Item> all;
  /// Each rank's, an index of `all.medoids`.
  typename World::template PerRank<std::uint32_t> clusters;
};

/// The plan, which all ranks know beforehand.
struct CapekPlan {
  CapekPlan() : CapekPlan(std::vector<Trial>(), 0) {}
  /// All ranks as one group.
  CapekPlan(const TrialOptions& options, std::uint32_t ranks)
      : CapekPlan(plan_trials(ranks, options), ranks) {}
  /// Trials in order of their groups.
  CapekPlan(std::vector<Trial> all, std::uint32_t ranks)
      : trials(std::move(all)), gathered(transfers(trials)), workers(workers_of(trials), ranks) {}

  std::vector<Trial> trials;
  std::vector<Transfer> gathered;  ///< from sampled ranks to workers
  Members workers;

 private:
  static std::vector<std::uint32_t> workers_of(const std::vector<Trial>& trials) {
    std::vector<std::uint32_t> workers;
    for (const Trial& trial : trials) workers.push_back(trial.worker);
    return workers;
  }
};

namespace capek_steps {

template <class Item>
using TrialMedoids = std::vector<std::pair<std::uint32_t, Medoids<Item>>>;

/// A worker's result from its samples. Items that did not arrive are left out.
template <class Item, class Dissimilarity>
TrialMedoids<Item> find(std::uint32_t rank, const std::vector<Trial>& trials,
                        const std::vector<std::pair<std::uint32_t, Item>>& gathered,
                        const Dissimilarity& dissimilarity) {
  TrialMedoids<Item> found;
  if (gathered.empty()) return found;
  const auto place = [&](std::uint32_t of) {
    return std::lower_bound(gathered.begin(), gathered.end(), of,
                            [](const auto& one, std::uint32_t key) { return one.first < key; });
  };
  for (std::uint32_t t = 0; t < trials.size(); ++t) {
    if (trials[t].worker != rank) continue;
    std::vector<std::uint32_t> sample;
    for (const std::uint32_t of : trials[t].sample)
      if (const auto at = place(of); at != gathered.end() && at->first == of) sample.push_back(of);
    if (sample.empty()) continue;
    found.emplace_back(t, sample_medoids<Item>(
                              sample, trials[t].k,
                              [&](std::uint32_t of) { return place(of)->second; }, dissimilarity));
  }
  return found;
}

/// Medoids by group and trial; empty where a worker gave nothing.
template <class Item>
using GroupMedoids = std::vector<std::vector<Medoids<Item>>>;

template <class Item>
GroupMedoids<Item> by_group(const std::vector<Trial>& trials,
                            std::vector<TrialMedoids<Item>>&& workers) {
  std::vector<Medoids<Item>> all(trials.size());
  for (TrialMedoids<Item>& found : workers)
    for (auto& [trial, medoids] : found) all[trial] = std::move(medoids);
  GroupMedoids<Item> groups(trials.empty() ? 0 : trials.back().group + 1);
  for (std::size_t t = 0; t < trials.size(); ++t)
    groups[trials[t].group].push_back(std::move(all[t]));
  return groups;
}

struct Choice {
  std::uint32_t trial = 0;  ///< of those of the group
  double score = 0;
  std::vector<std::uint32_t> sizes;  ///< none: there is nothing to choose from
  void encode(ByteWriter& writer) const { encode_values(writer, trial, score, sizes); }
  static bool decode(ByteReader& reader, Choice& choice) {
    return decode_values(reader, choice.trial, choice.score, choice.sizes);
  }
};

/// The lowest score, the first of equal ones; no sizes if there is none.
template <class Item, class Criterion>
Choice choose(const TrialSums& sums, const std::vector<Medoids<Item>>& trials,
              const Criterion& criterion) {
  Choice best;
  for (std::uint32_t t = 0; t < trials.size() && !sums.empty(); ++t) {
    if (trials[t].empty()) continue;
    const double score = sums.score(t, trials, criterion);
    if (best.sizes.empty() || score < best.score) best = {t, score, sums.sizes(t, trials)};
  }
  return best;
}

template <class Item, class Criterion>
std::vector<Choice> choose(const GroupSums& sums, const GroupMedoids<Item>& groups,
                           const Criterion& criterion) {
  std::vector<Choice> choices(groups.size());
  for (const auto& [group, own] : sums) choices[group] = choose(own, groups[group], criterion);
  return choices;
}

/// The sums of one rank.
template <class Item, class Dissimilarity, class Criterion>
GroupSums sums_of(std::uint32_t rank, const Item& item, std::uint32_t group,
                  const GroupMedoids<Item>& groups, const Dissimilarity& dissimilarity,
                  const Criterion& criterion) {
  GroupSums sums;
  if (group >= groups.size() || groups[group].empty()) return sums;
  TrialSums own = TrialSums::none(groups[group], LooksAtValues<Criterion, Item>);
  own.add(rank, item, groups[group], dissimilarity, criterion);
  sums.emplace_back(group, std::move(own));
  return sums;
}

template <class Item>
std::vector<CapekClusters<Item>> chosen(GroupMedoids<Item>&& groups, std::vector<Choice>&& best) {
  std::vector<CapekClusters<Item>> all(groups.size());
  for (std::size_t i = 0; i < std::min(groups.size(), best.size()); ++i)
    if (!best[i].sizes.empty() && best[i].trial < groups[i].size())
      all[i] = {std::move(groups[i][best[i].trial]), std::move(best[i].sizes), best[i].score};
  return all;
}

}  // namespace capek_steps

/// Collective: the clusters of each group of ranks. `group_of(rank, item)` is a rank's own, whose
/// number is one of the plan's; `dissimilarity(a, b)` a number from 0; `after(step)` is called on
/// every rank after each step: gather, pam, medoids, assign, sums.
template <GatherWorld World, class Item, class GroupOf, class Dissimilarity,
          ClusteringCriterion Criterion, class After>
std::vector<CapekClusters<Item>> capek_groups(World& world,
                                              typename World::template PerRank<Item>& items,
                                              const CapekPlan& plan, const GroupOf& group_of,
                                              const Dissimilarity& dissimilarity,
                                              const Criterion& criterion, After after) {
  using namespace capek_steps;
  auto gathered = world.gather(plan.gathered, items);
  after("gather");

  using Gathered = std::vector<std::pair<std::uint32_t, Item>>;
  auto found = world.map(gathered, [&](std::uint32_t rank, const Gathered& mine) {
    return find(rank, plan.trials, mine, dissimilarity);
  });
  after("pam");

  std::vector<TrialMedoids<Item>> workers =
      broadcast_from<TrialMedoids<Item>>(world, plan.workers, std::move(found));
  GroupMedoids<Item> groups;
  world.attempt([&] { groups = by_group(plan.trials, std::move(workers)); });
  after("medoids");

  auto sums = world.map(items, [&](std::uint32_t rank, const Item& item) {
    return sums_of(rank, item, group_of(rank, item), groups, dissimilarity, criterion);
  });
  after("assign");

  const std::optional<GroupSums> total = world.reduce(std::move(sums), join_groups);
  std::optional<std::vector<Choice>> choices;
  if (total) world.attempt([&] { choices = choose(*total, groups, criterion); });
  std::vector<Choice> best = world.broadcast(std::move(choices));
  after("sums");

  std::vector<CapekClusters<Item>> all;
  world.attempt([&] { all = chosen(std::move(groups), std::move(best)); });
  return all;
}

/// Collective: all ranks as one group.
template <GatherWorld World, class Item, class Dissimilarity, ClusteringCriterion Criterion,
          class After>
Capek<World, Item> capek(World& world, typename World::template PerRank<Item>& items,
                         const CapekPlan& plan, const Dissimilarity& dissimilarity,
                         const Criterion& criterion, After after) {
  const auto only = [](std::uint32_t, const Item&) { return std::uint32_t{0}; };
  auto groups =
      capek_groups<World, Item>(world, items, plan, only, dissimilarity, criterion, after);
  Capek<World, Item> result;
  if (!groups.empty()) result.all = std::move(groups.front());
  result.clusters = world.map(items, [&](std::uint32_t rank, const Item& item) {
    return nearest_medoid(rank, item, result.all.medoids, dissimilarity).cluster;
  });
  return result;
}

template <GatherWorld World, class Item, class Dissimilarity, ClusteringCriterion Criterion>
Capek<World, Item> capek(World& world, typename World::template PerRank<Item>& items,
                         const CapekPlan& plan, const Dissimilarity& dissimilarity,
                         const Criterion& criterion) {
  return capek<World, Item>(world, items, plan, dissimilarity, criterion, [](const char*) {});
}

/// The same, with its plan: for ranks that have memory for one.
template <GatherWorld World, class Item, class Dissimilarity, ClusteringCriterion Criterion>
Capek<World, Item> capek(World& world, typename World::template PerRank<Item>& items,
                         const TrialOptions& options, const Dissimilarity& dissimilarity,
                         const Criterion& criterion) {
  return capek<World, Item>(world, items, CapekPlan(options, world.size()), dissimilarity,
                            criterion);
}

}  // namespace chameleon::cluster
