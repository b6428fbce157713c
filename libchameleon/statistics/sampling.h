// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// How many of a population must be measured (stratified sampling of Gamblin et al. 2010, section
/// 5, Eqs. 1 and 2). O(1), and O(strata); Neyman's allocation O(strata^2) at worst.

#include <cstdint>
#include <span>
#include <vector>

#include "base/rooms.h"

namespace chameleon::statistics {

/// Standard deviations on either side of the mean that hold this share of a normal distribution:
/// 1.96 for 0.95.
double normal_deviations(double confidence);

/// The least sample whose mean is within `error` of that of `population` values with this standard
/// deviation, at this confidence (Eq. 1), before rounding.
double exact_sample_size(double population, double deviation, double error, double confidence);
/// Rounded up: at least 1, at most the population.
std::uint64_t sample_size(std::uint64_t population, double deviation, double error,
                          double confidence);

struct Stratum {
  double size = 0, mean = 0, deviation = 0;
};
/// The same with the deviation that the variance of a sample estimates, S^2 = N/(N - 1) of that of
/// all, for which Eq. 1 is exact.
Stratum sample_stratum(const Stratum& stratum);
/// The least sample of a stratum whose mean is within this share of the stratum's own.
std::uint64_t stratum_sample(const Stratum& stratum, double relative_error, double confidence);

/// How many of each stratum so that the mean of *all* is within this share of the true one, with
/// the fewest in all: in proportion to size times deviation (Neyman, JRSS 97, 1934; Cochran,
/// Sampling Techniques, 1977, sections 5.5 and 5.8). A stratum that would need more than it has is
/// measured whole, and the others share what error is left. Rounded up, at least 1.
std::vector<std::uint64_t> neyman_samples(std::span<const Stratum> strata, double relative_error,
                                          double confidence);

/// Whether sampling each stratum by itself needs fewer samples than sampling all together (Eq. 2).
bool stratifying_pays(std::span<const Stratum> strata);

}  // namespace chameleon::statistics
