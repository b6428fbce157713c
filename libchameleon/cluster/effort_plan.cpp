// SPDX-License-Identifier: BSD-3-Clause
#include "cluster/effort_plan.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "statistics/sampling.h"
#include "statistics/sampling_error.h"

namespace chameleon::cluster {
namespace {

double share(std::uint32_t ppm) { return 1e-6 * ppm; }

std::uint64_t rounded_up(double ns) { return static_cast<std::uint64_t>(std::ceil(ns)); }

/// Of what ranks computed in all steps.
Stratum stratum_of(const ExactMoments& whole) {
  return {static_cast<double>(whole.count()), whole.mean(), whole.deviation()};
}

std::vector<Stratum> strata_of(const EffortSums& sums) {
  std::vector<Stratum> strata;
  for (const StratumSums& one : sums.strata()) strata.push_back(stratum_of(one.whole));
  return strata;
}

EffortStratum exact_stratum(const StratumSums& sums, std::uint32_t medoid, std::size_t steps) {
  EffortStratum stratum;
  stratum.medoid = medoid;
  stratum.size = static_cast<std::uint32_t>(sums.whole.count());
  stratum.deviation_ns = rounded_up(sums.whole.deviation());
  stratum.least_ns = sums.range.least;
  stratum.most_ns = sums.range.most;
  stratum.steps.resize(steps);
  for (std::size_t i = 0; i < std::min(steps, sums.steps.size()); ++i)
    stratum.steps[i] = {sums.steps[i].sum(), rounded_up(sums.steps[i].deviation())};
  return stratum;
}

}  // namespace

std::vector<std::uint64_t> effort_samples(const EffortSums& sums, std::span<const double> medoids,
                                          const Efforts::Settings& wanted) {
  const auto steps = static_cast<double>(sums.extremes().size());
  std::vector<SampledStratum> strata;
  for (std::size_t i = 0; i < std::min(medoids.size(), sums.strata().size()); ++i) {
    const auto& [whole, range, by_step] = sums.strata()[i];
    strata.push_back({static_cast<double>(whole.count()), whole.mean(), whole.deviation(),
                      static_cast<double>(range.least), static_cast<double>(range.most),
                      steps * medoids[i]});
  }
  std::vector<std::uint64_t> samples =
      bounded_samples(strata, share(wanted.error_ppm), share(wanted.confidence_ppm));
  const std::uint64_t all = std::accumulate(samples.begin(), samples.end(), std::uint64_t{0});
  const double part = std::min(1.0, static_cast<double>(Efforts::kMostSampled - samples.size()) /
                                        static_cast<double>(std::max<std::uint64_t>(all, 1)));
  for (std::uint64_t& one : samples)
    if (all > Efforts::kMostSampled)
      one = static_cast<std::uint64_t>(part * static_cast<double>(one));
  for (std::uint64_t& one : samples) one = std::max<std::uint64_t>(one, 1);
  return samples;
}

EffortWindow exact_window(const EffortSums& sums, std::span<const std::uint32_t> medoids,
                          const RankEfforts& intervals, const Efforts::Settings& wanted) {
  EffortWindow window;
  const StratumSums all = sums.all();
  window.ranks = static_cast<std::uint32_t>(all.whole.count());
  window.unstratified = stratum_sample(sample_stratum(stratum_of(all.whole)),
                                       share(wanted.error_ppm), share(wanted.confidence_ppm));
  window.strata_pay = stratifying_pays(strata_of(sums));
  const std::size_t steps = std::min({intervals.size(), all.steps.size(), sums.extremes().size()});
  for (std::size_t i = 0; i < steps; ++i)
    window.steps.push_back({intervals[i].marker, all.steps[i].sum(),
                            rounded_up(all.steps[i].deviation()), sums.extremes()[i].least,
                            sums.extremes()[i].most});
  for (std::size_t i = 0; i < std::min(medoids.size(), sums.strata().size()); ++i)
    window.strata.push_back(exact_stratum(sums.strata()[i], medoids[i], steps));
  return window;
}

}  // namespace chameleon::cluster
