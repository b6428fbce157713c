// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/effort_error.h"

#include <array>
#include <cmath>

#include "statistics/sampling.h"

namespace chameleon::analysis {
namespace {

/// Adds up strata, each with its share of all ranks.
class Strata {
 public:
  explicit Strata(const EffortWindow& window) : ranks_(window.ranks) {}

  /// A stratum whose ranks deviate so much from their mean, with the sum over those sampled.
  void add(const EffortStratum& stratum, double deviation, double sum_of_sampled) {
    const double size = stratum.size, sampled = static_cast<double>(stratum.sampled.size());
    const double share = size / ranks_;
    if (sampled > 0) estimate_ += share * sum_of_sampled / sampled;
    if (sampled > 0 && sampled < size)
      variance_ += share * share * deviation * deviation / sampled * (size - sampled) / (size - 1);
  }
  double estimate() const { return estimate_; }
  double deviation() const { return std::sqrt(variance_); }

 private:
  double ranks_;
  double estimate_ = 0, variance_ = 0;
};

double sum_of(const EffortWindow& window) {
  double sum = 0;
  for (const EffortStep& step : window.steps) sum += static_cast<double>(step.sum_ns);
  return sum;
}

double deviations(const Efforts::Settings& settings) {
  return normal_deviations(1e-6 * settings.confidence_ppm);
}

}  // namespace

EffortEstimate window_estimate(const EffortWindow& window, const Efforts::Settings& settings) {
  EffortEstimate all;
  if (window.steps.empty() || window.ranks == 0) return all;
  const auto steps = static_cast<double>(window.steps.size());
  Strata strata(window);
  for (const EffortStratum& stratum : window.strata) {
    double sum = 0;
    for (const SampledRank& sampled : stratum.sampled)
      for (const std::uint64_t ns : sampled.ns) sum += static_cast<double>(ns) / steps;
    strata.add(stratum, static_cast<double>(stratum.deviation_ns) / steps, sum);
  }
  all.exact = sum_of(window) / steps / window.ranks;
  all.estimate = strata.estimate();
  all.claimed = deviations(settings) * strata.deviation();
  return all;
}

std::vector<EffortEstimate> step_estimates(const EffortWindow& window,
                                           const Efforts::Settings& settings) {
  const double z = deviations(settings);
  std::vector<EffortEstimate> all;
  for (std::size_t i = 0; i < window.steps.size() && window.ranks != 0; ++i) {
    Strata strata(window);
    for (const EffortStratum& stratum : window.strata) {
      double sum = 0;
      for (const SampledRank& sampled : stratum.sampled) sum += static_cast<double>(sampled.ns[i]);
      strata.add(stratum, static_cast<double>(stratum.steps[i].deviation_ns), sum);
    }
    all.push_back({static_cast<double>(window.steps[i].sum_ns) / window.ranks, strata.estimate(),
                   z * strata.deviation()});
  }
  return all;
}

std::uint64_t sampled_ranks(const EffortWindow& window) {
  std::uint64_t all = 0;
  for (const EffortStratum& stratum : window.strata) all += stratum.sampled.size();
  return all;
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
