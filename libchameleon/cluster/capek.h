// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// CAPEK (Gamblin, de Supinski, Schulz, Fowler, Reed, "Clustering Performance Data Efficiently at
/// Massive Scales", ICS 2010, section 3.2): CLARA where every rank has one item, on the ranks
/// themselves. Sampled ranks send their items to workers, which cluster the samples by PAM; all
/// ranks get all medoids and find the nearest; sums over all ranks say which sample was the best.
/// Nothing depends on anything but the arguments, so every kind of world gives the same, bit for
/// bit, as sums are made in the order of the tree.
///
/// Cost, of T trials with samples of s: at a worker O(s^2 k); at a rank O(T k) dissimilarities;
/// at most T s + 4 P messages, 1 + 4 log P deep. The largest message has all medoids, or
/// 4 bytes for each and 16 for each trial: neither grows with P.

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

/// What all ranks know afterwards. No medoids: the world has failed.
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

namespace capek_steps {

template <class Item>
using TrialMedoids = std::vector<std::pair<std::uint32_t, Medoids<Item>>>;

/// What a worker finds in its samples. What did not arrive is left out.
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

/// By trial; empty where a worker gave nothing.
template <class Item>
std::vector<Medoids<Item>> by_trial(std::size_t trials, std::vector<TrialMedoids<Item>>&& workers) {
  std::vector<Medoids<Item>> all(trials);
  for (TrialMedoids<Item>& found : workers)
    for (auto& [trial, medoids] : found) all[trial] = std::move(medoids);
  return all;
}

struct Choice {
  std::uint32_t trial = 0;
  double score = 0;
  std::vector<std::uint32_t> sizes;
  void encode(ByteWriter& writer) const {
    encode_value(writer, trial);
    encode_value(writer, score);
    encode_value(writer, sizes);
  }
  static bool decode(ByteReader& reader, Choice& choice) {
    return decode_value(reader, choice.trial) && decode_value(reader, choice.score) &&
           decode_value(reader, choice.sizes);
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

}  // namespace capek_steps

/// Collective. `dissimilarity(a, b)` is a number from 0; `after(step)` is called on every rank
/// after each step: gather, pam, medoids, assign, sums.
template <GatherWorld World, class Item, class Dissimilarity, ClusteringCriterion Criterion,
          class After>
Capek<World, Item> capek(World& world, typename World::template PerRank<Item>& items,
                         const TrialOptions& options, const Dissimilarity& dissimilarity,
                         const Criterion& criterion, After after) {
  using namespace capek_steps;
  const std::vector<Trial> plan = plan_trials(world.size(), options);
  auto gathered = world.gather(transfers(plan), items);
  after("gather");

  using Gathered = std::vector<std::pair<std::uint32_t, Item>>;
  auto found = world.map(gathered, [&](std::uint32_t rank, const Gathered& mine) {
    return find(rank, plan, mine, dissimilarity);
  });
  after("pam");

  std::vector<std::uint32_t> workers;
  for (const Trial& trial : plan) workers.push_back(trial.worker);
  const std::vector<Medoids<Item>> trials = by_trial(
      plan.size(), broadcast_from<TrialMedoids<Item>>(world, std::move(workers), std::move(found)));
  after("medoids");

  constexpr bool kValues = LooksAtValues<Criterion, Item>;
  auto sums = world.map(items, [&](std::uint32_t rank, const Item& item) {
    TrialSums mine = TrialSums::none(trials, kValues);
    mine.add(rank, item, trials, dissimilarity, criterion);
    return mine;
  });
  after("assign");

  std::optional<TrialSums> total = world.reduce(
      std::move(sums), [](TrialSums& mine, TrialSums&& theirs) { mine.join(std::move(theirs)); });
  std::optional<Choice> chosen;
  if (total) chosen = choose(*total, trials, criterion);
  Choice best = world.broadcast(std::move(chosen));
  after("sums");

  Capek<World, Item> result;
  if (!best.sizes.empty() && best.trial < trials.size())
    result.all = {trials[best.trial], std::move(best.sizes), best.score};
  result.clusters = world.map(items, [&](std::uint32_t rank, const Item& item) {
    return nearest_medoid(rank, item, result.all.medoids, dissimilarity).cluster;
  });
  return result;
}

template <GatherWorld World, class Item, class Dissimilarity, ClusteringCriterion Criterion>
Capek<World, Item> capek(World& world, typename World::template PerRank<Item>& items,
                         const TrialOptions& options, const Dissimilarity& dissimilarity,
                         const Criterion& criterion) {
  return capek<World, Item>(world, items, options, dissimilarity, criterion, [](const char*) {});
}

}  // namespace chameleon::cluster
