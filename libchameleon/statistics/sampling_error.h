// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// How far the mean of a stratified sample can be from that of all, where the moments and the range
/// of each stratum are known exactly. Nothing is assumed of how values are distributed, so the
/// bounds hold for small strata and far outliers, where that of the normal distribution (Eq. 1 of
/// Gamblin et al. 2010) does not. O(strata).
///
/// Of each stratum one member is chosen beforehand, and the others at random, without replacement.

#include <cstdint>
#include <span>
#include <vector>

#include "base/rooms.h"

namespace chameleon::statistics {

struct SampledStratum {
  double size = 0;                 ///< members
  double mean = 0, deviation = 0;  ///< of all of them
  double least = 0, most = 0;      ///< likewise
  double chosen = 0;               ///< value of the chosen member
  double sampled = 1;              ///< members that are measured, the chosen one among them
};

/// The mean of a stratum from its sample, with the sum over the others that were measured: the
/// chosen member stands for itself, they for all others. With none it stands for all.
double stratum_estimate(const SampledStratum& stratum, double sum_of_others);

/// The mean of all members, estimated so, is within this of the true one, with at least this
/// probability over the choice of the others. The least of three bounds on what chance adds, which
/// hold for any distribution: the ranges; Chebyshev's inequality; Bernstein's, for samples without
/// replacement (Hoeffding, JASA 58, 1963, theorem 4; Boucheron, Lugosi & Massart, Concentration
/// Inequalities, 2013, corollary 2.11). To it comes what is known to be wrong where only the chosen
/// member is measured. 0 where all are.
double error_bound(std::span<const SampledStratum> strata, double confidence);

/// How many of each stratum so that `error_bound` is at most this share of the mean of all: those
/// of Neyman's allocation for the largest error up to it whose sizes are enough, less what is not
/// needed after all; never fewer than his for the error itself. `sampled` is not looked at.
/// O(strata^2 log size).
std::vector<std::uint64_t> bounded_samples(std::span<const SampledStratum> strata,
                                           double relative_error, double confidence);

}  // namespace chameleon::statistics
