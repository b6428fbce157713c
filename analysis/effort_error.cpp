// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/effort_error.h"

#include <array>
#include <numeric>

#include "statistics/sampling.h"
#include "statistics/sampling_error.h"

namespace chameleon::analysis {
namespace {

/// The estimate of the mean of all ranks, and how far it can be off.
class Strata {
 public:
  explicit Strata(const EffortWindow& window) : ranks_(window.ranks) {}

  /// `exact`: all of the stratum but what its medoid and its sample say. `value` gives what a
  /// sampled rank took, in the same unit.
  template <class Value>
  void add(const EffortStratum& stratum, SampledStratum exact, Value value) {
    double others = 0;
    for (const SampledRank& sampled : stratum.sampled)
      (sampled.rank == stratum.medoid ? exact.chosen : others) += value(sampled);
    exact.size = stratum.size;
    exact.sampled = static_cast<double>(stratum.sampled.size());
    estimate_ += exact.size / ranks_ * stratum_estimate(exact, others);
    strata_.push_back(exact);
  }
  EffortEstimate estimate(double exact, const Efforts::Settings& settings) const {
    return {exact, estimate_, error_bound(strata_, 1e-6 * settings.confidence_ppm)};
  }

 private:
  double ranks_;
  double estimate_ = 0;
  std::vector<SampledStratum> strata_;
};

template <class Cells>
double sum_of(const Cells& cells) {
  double sum = 0;
  for (const auto& cell : cells) sum += static_cast<double>(cell.sum_ns);
  return sum;
}

double number(std::uint64_t ns) { return static_cast<double>(ns); }

}  // namespace

EffortEstimate window_estimate(const EffortWindow& window, const Efforts::Settings& settings) {
  if (window.steps.empty() || window.ranks == 0) return {};
  const auto steps = static_cast<double>(window.steps.size());
  Strata strata(window);
  for (const EffortStratum& stratum : window.strata) {
    SampledStratum exact;
    exact.mean = sum_of(stratum.steps) / steps / stratum.size;
    exact.deviation = number(stratum.deviation_ns) / steps;
    exact.least = number(stratum.least_ns) / steps;
    exact.most = number(stratum.most_ns) / steps;
    strata.add(stratum, exact, [&](const SampledRank& sampled) {
      return std::accumulate(sampled.ns.begin(), sampled.ns.end(), 0.0) / steps;
    });
  }
  return strata.estimate(sum_of(window.steps) / steps / window.ranks, settings);
}

std::vector<EffortEstimate> step_estimates(const EffortWindow& window,
                                           const Efforts::Settings& settings) {
  std::vector<EffortEstimate> all;
  for (std::size_t i = 0; i < window.steps.size() && window.ranks != 0; ++i) {
    const EffortStep& step = window.steps[i];
    Strata strata(window);
    for (const EffortStratum& stratum : window.strata) {
      const EffortCell& cell = stratum.steps[i];
      SampledStratum exact;
      exact.mean = number(cell.sum_ns) / stratum.size;
      exact.deviation = number(cell.deviation_ns);
      exact.least = number(step.least_ns);  // of all strata
      exact.most = number(step.most_ns);
      strata.add(stratum, exact, [&](const SampledRank& sampled) { return number(sampled.ns[i]); });
    }
    all.push_back(strata.estimate(number(step.sum_ns) / window.ranks, settings));
  }
  return all;
}

std::uint64_t sampled_ranks(const EffortWindow& window) {
  std::uint64_t all = 0;
  for (const EffortStratum& stratum : window.strata) all += stratum.sampled.size();
  return all;
}

std::uint64_t ranks_by_equation_1(const EffortWindow& window, const Efforts::Settings& settings) {
  std::vector<Stratum> strata;
  for (const EffortStratum& stratum : window.strata)
    strata.push_back(sample_stratum({number(stratum.size), sum_of(stratum.steps) / stratum.size,
                                     number(stratum.deviation_ns)}));
  const std::vector<std::uint64_t> samples =
      neyman_samples(strata, 1e-6 * settings.error_ppm, 1e-6 * settings.confidence_ppm);
  return std::accumulate(samples.begin(), samples.end(), std::uint64_t{0});
}

const char* gap_text(EffortGap gap) {
  constexpr std::array kTexts = {
      "", "ranks had different intervals", "its intervals were left out for CHAMELEON_BUDGET",
      "markers stopped within it", "what ranks sent did not arrive, or one had no memory for it"};
  return kTexts[static_cast<std::size_t>(gap)];
}

const char* gap_name(EffortGap gap) {
  constexpr std::array kNames = {"none", "uneven", "left_out", "stopped", "lost"};
  return kNames[static_cast<std::size_t>(gap)];
}

}  // namespace chameleon::analysis
