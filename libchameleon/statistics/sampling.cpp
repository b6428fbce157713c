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

Stratum sample_stratum(const Stratum& stratum) {
  const double more = stratum.size > 1 ? std::sqrt(stratum.size / (stratum.size - 1)) : 1;
  return {stratum.size, stratum.mean, more * stratum.deviation};
}

std::uint64_t stratum_sample(const Stratum& stratum, double relative_error, double confidence) {
  return sample_size(static_cast<std::uint64_t>(stratum.size), stratum.deviation,
                     relative_error * std::abs(stratum.mean), confidence);
}

std::vector<std::uint64_t> neyman_samples(std::span<const Stratum> strata, double relative_error,
                                          double confidence) {
  double population = 0, total = 0;
  for (const Stratum& stratum : strata) {
    population += stratum.size;
    total += stratum.size * stratum.mean;
  }
  std::vector<std::uint64_t> samples(strata.size());
  if (population <= 0) return samples;
  const double error =
      relative_error * std::abs(total / population) / normal_deviations(confidence);
  std::vector<bool> whole(strata.size());
  for (bool more = true; more;) {
    // Of the mean's variance, what those measured in part may make: spread^2 / n - `finite`.
    double spread = 0, finite = 0;
    for (std::size_t i = 0; i < strata.size(); ++i) {
      if (whole[i]) continue;
      const double weighted = strata[i].size / population * strata[i].deviation;
      spread += weighted;
      finite += weighted * strata[i].deviation / population;
    }
    more = false;
    for (std::size_t i = 0; i < strata.size(); ++i) {
      const Stratum& stratum = strata[i];
      const auto size = static_cast<std::uint64_t>(stratum.size);
      if (whole[i] || spread <= 0) {
        samples[i] = whole[i] ? size : std::min<std::uint64_t>(1, size);
        continue;
      }
      const double share =
          stratum.size / population * stratum.deviation * spread / (error * error + finite);
      samples[i] = std::min(
          size, std::max(std::uint64_t{1},
                         static_cast<std::uint64_t>(std::ceil(std::min(share, stratum.size)))));
      if (share > stratum.size) more = whole[i] = true;
    }
  }
  return samples;
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
