// SPDX-License-Identifier: BSD-3-Clause
#include "statistics/sampling.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace chameleon::statistics {

namespace {

/// The inverse of the error function, for 0 <= p < 1: Winitzki's approximation, to three digits,
/// and three steps of Halley's method. (Boost's has objects with constructors, and so have the
/// headers that it includes: what is linked into a traced process must do without.)
double inverse_erf(double p) {
  constexpr double kA = 0.147;
  const double logarithm = std::log1p(-p * p);
  const double half = 2 / (std::numbers::pi * kA) + logarithm / 2;
  double x = std::sqrt(std::max(std::sqrt(half * half - logarithm / kA) - half, 0.0));
  for (int i = 0; i < 3; ++i) {
    const double error = p < 0.5 ? std::erf(x) - p : (1 - p) - std::erfc(x);
    const double step = error * std::exp(x * x) / (2 * std::numbers::inv_sqrtpi);
    x -= step / (1 + x * step);
  }
  return x;
}

}  // namespace

double normal_deviations(double confidence) {
  return std::numbers::sqrt2 * inverse_erf(confidence);
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
