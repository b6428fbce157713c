// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// An effort window (model/effort.h) from the computing of each rank in each of its intervals:
/// CAPEK on wavelet signatures makes strata (Gamblin et al. 2010, sections 4 and 5), one reduction
/// gives exact moments of every step, and a sample of each stratum sends its steps to rank 0.
///
/// Collective; the same, bit for bit, in every kind of world. In addition to CAPEK, 5 (P - 1)
/// messages, 5 log P deep; none has more than 32 bytes for a step of a stratum, or 8 for a step of
/// a sampled rank. A rank without memory goes on to the end, without what it lacks; what is thrown
/// is of rank 0, behind the last message.

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <optional>
#include <utility>
#include <vector>

#include "cluster/capek.h"
#include "cluster/effort_plan.h"
#include "cluster/stratum_members.h"
#include "statistics/wavelet.h"

namespace chameleon::cluster {

/// The items that CAPEK clusters.
struct EffortItem {
  std::vector<double> signature;
  double mean = 0;  ///< ns of a step

  static EffortItem of(const RankEfforts& efforts) {
    EffortItem item;
    std::vector<double> series;
    for (const StepEffort& step : efforts) series.push_back(static_cast<double>(step.ns));
    for (const double ns : series) item.mean += ns / static_cast<double>(series.size());
    item.signature = effort_signature(series);
    return item;
  }
  void encode(ByteWriter& writer) const { encode_values(writer, signature, mean); }
  static bool decode(ByteReader& reader, EffortItem& item) {
    return decode_values(reader, item.signature, item.mean);
  }
};

namespace effort_steps {

/// Euclidean, which the transform keeps.
inline double distance(const EffortItem& a, const EffortItem& b) {
  double sum = 0;
  for (std::size_t i = 0; i < std::min(a.signature.size(), b.signature.size()); ++i)
    sum += (a.signature[i] - b.signature[i]) * (a.signature[i] - b.signature[i]);
  return std::sqrt(sum);
}

/// The value of a rank that is here.
template <class Values>
auto& value_of(Values& values, std::uint32_t rank) {
  if constexpr (requires { values.size(); })
    return values[rank];
  else
    return values.value;
}

inline TrialOptions trials_of(const EffortOptions& options, std::uint64_t first) {
  TrialOptions trials;
  trials.seed = combine(options.seed, first);
  if (options.k.by == EffortK::By::kFixed) trials.first_k = trials.last_k = options.k.k;
  return trials;
}

template <class World>
Capek<World, EffortItem> cluster_by(World& world,
                                    typename World::template PerRank<EffortItem>& items,
                                    const EffortOptions& options, const CapekPlan& plan) {
  const auto by = [&](const auto& criterion) {
    return capek<World, EffortItem>(world, items, plan, distance, criterion);
  };
  if (options.k.by == EffortK::By::kFixed) return by(LeastDissimilarity());
  if (options.k.by == EffortK::By::kSamples) {
    const auto mean = [](const EffortItem& item) { return item.mean; };
    return by(FewestSamples<decltype(mean)>{mean, 1e-6 * options.window.error_ppm,
                                            1e-6 * options.window.confidence_ppm});
  }
  std::size_t dimensions = 1;
  world.map(items, [&](std::uint32_t, EffortItem& item) {
    dimensions = std::max(dimensions, item.signature.size());
  });
  return by(Bayesian{static_cast<double>(dimensions)});
}

/// A sampled rank on its way to rank 0.
struct Sent {
  std::uint32_t stratum = 0;
  SampledRank rank;

  void encode(ByteWriter& writer) const { encode_values(writer, stratum, rank.rank, rank.ns); }
  static bool decode(ByteReader& reader, Sent& sent) {
    return decode_values(reader, sent.stratum, sent.rank.rank, sent.rank.ns);
  }
};

inline Sent sent_by(std::uint32_t rank, std::uint32_t stratum, const RankEfforts& efforts) {
  Sent sent{stratum, {rank, {}}};
  for (const StepEffort& step : efforts) sent.rank.ns.push_back(step.ns);
  return sent;
}

inline void put_sampled(EffortWindow& window, std::vector<Sent>&& all) {
  for (Sent& sent : all)
    if (sent.stratum < window.strata.size() && sent.rank.ns.size() == window.steps.size())
      window.strata[sent.stratum].sampled.push_back(std::move(sent.rank));
  for (EffortStratum& stratum : window.strata)
    std::sort(stratum.sampled.begin(), stratum.sampled.end(),
              [](const SampledRank& a, const SampledRank& b) { return a.rank < b.rank; });
}

/// Why a window is none, by what arrived. A rank may have lost its sums, or its steps, for lack of
/// memory: then a stratum has fewer ranks than sampled ones, or not its medoid.
inline EffortGap gap_of(const EffortWindow& window, const EffortSums& total) {
  if (total.uneven()) return EffortGap::kUneven;
  if (total.extremes().empty() && !window.strata.empty()) return EffortGap::kLeftOut;
  bool whole = !window.strata.empty() && !window.steps.empty();
  for (const EffortStratum& stratum : window.strata)
    whole = whole && stratum.has_medoid() && stratum.sampled.size() <= stratum.size;
  return whole ? EffortGap::kNone : EffortGap::kLost;
}

}  // namespace effort_steps

/// The plan of a window that begins at this marker: all that a rank needs to take part in it.
inline CapekPlan effort_window_plan(std::uint32_t ranks, const EffortOptions& options,
                                    std::uint64_t first) {
  return {effort_steps::trials_of(options, first), ranks};
}

/// The window of the intervals that the acted-on markers from `first` to `last` end. Its only
/// content is why there is none (`gap`), if ranks have other intervals or what they sent did not
/// arrive. At rank 0; elsewhere nothing.
template <GatherWorld World>
std::optional<EffortWindow> effort_window(World& world,
                                          typename World::template PerRank<RankEfforts>& efforts,
                                          const EffortOptions& options, const CapekPlan& plan,
                                          std::uint64_t first, std::uint64_t last) {
  using namespace effort_steps;
  auto items = world.map(
      efforts, [](std::uint32_t, const RankEfforts& mine) { return EffortItem::of(mine); });
  auto found = cluster_by(world, items, options, plan);
  std::vector<std::uint32_t> medoids;
  std::vector<double> means;
  const bool has_medoids = world.attempt([&] {
    for (const auto& [rank, item] : found.all.medoids) {
      medoids.push_back(rank);
      means.push_back(item.mean);
    }
  });
  if (!has_medoids) medoids.clear();

  auto sums = world.map(found.clusters, [&](std::uint32_t rank, std::uint32_t stratum) {
    return EffortSums(value_of(efforts, rank), stratum, medoids.size());
  });
  std::optional<EffortSums> total = world.reduce(
      std::move(sums), [](EffortSums& mine, EffortSums&& theirs) { mine.join(std::move(theirs)); });
  std::optional<std::vector<std::uint64_t>> decided;
  if (total) world.attempt([&] { decided = effort_samples(*total, means, options.window); });
  const std::vector<std::uint64_t> told = world.broadcast(std::move(decided));
  std::array<std::uint64_t, Efforts::kMostStrata> samples;
  samples.fill(1);  // also where it did not come
  std::copy_n(told.begin(), std::min(told.size(), samples.size()), samples.begin());

  auto members =
      stratum_members(world, found.clusters, medoids, samples, trials_of(options, first).seed);
  auto lists = world.map(members.chosen, [&](std::uint32_t rank, std::uint8_t chosen) {
    std::vector<Sent> list;
    if (chosen != 0)
      list.push_back(sent_by(rank, value_of(found.clusters, rank), value_of(efforts, rank)));
    return list;
  });
  auto sent =
      world.reduce(std::move(lists), [](std::vector<Sent>& mine, std::vector<Sent>&& theirs) {
        std::move(theirs.begin(), theirs.end(), std::back_inserter(mine));
      });
  if (!total || !sent) return std::nullopt;
  EffortWindow window = exact_window(*total, medoids, value_of(efforts, 0), options.window);
  put_sampled(window, std::move(*sent));
  const EffortGap gap = gap_of(window, *total);
  if (gap != EffortGap::kNone) window = EffortWindow();
  window.gap = gap;
  window.first = first;
  window.last = last;
  return window;
}

/// The same, with its plan.
template <GatherWorld World>
std::optional<EffortWindow> effort_window(World& world,
                                          typename World::template PerRank<RankEfforts>& efforts,
                                          const EffortOptions& options, std::uint64_t first,
                                          std::uint64_t last) {
  const CapekPlan plan = effort_window_plan(world.size(), options, first);
  return effort_window(world, efforts, options, plan, first, last);
}

}  // namespace chameleon::cluster
