// SPDX-License-Identifier: BSD-3-Clause
#include "statistics/sampling.h"

#include <algorithm>
#include <boost/math/special_functions/erf.hpp>
#include <cmath>
#include <numbers>

namespace chameleon::statistics {

double normal_deviations(double confidence) {
  return std::numbers::sqrt2 * boost::math::erf_inv(confidence);
}

double exact_sample_size(double population, double deviation, double error, double confidence) {
  const double ratio = error / (normal_deviations(confidence) * deviation);
  return population / (1 + population * ratio * ratio);
}

std::uint64_t sample_size(std::uint64_t population, double deviation, double error,
                          double confidence) {
  if (population == 0) return 0;
  if (deviation <= 0) return 1;
  const double exact =
      exact_sample_size(static_cast<double>(population), deviation, error, confidence);
  return std::clamp(static_cast<std::uint64_t>(std::ceil(exact)), std::uint64_t{1}, population);
}

bool stratifying_pays(std::span<const Stratum> strata) {
  double population = 0, sum = 0;
  for (const Stratum& stratum : strata) {
    population += stratum.size;
    sum += stratum.size * stratum.mean;
  }
  if (population <= 0) return false;
  const double mean = sum / population;
  double between = 0, within = 0;
  for (const Stratum& stratum : strata) {
    between += stratum.size * (stratum.mean - mean) * (stratum.mean - mean);
    within += (population - stratum.size) * stratum.deviation * stratum.deviation;
  }
  return between > within / population;
}

}  // namespace chameleon::statistics
