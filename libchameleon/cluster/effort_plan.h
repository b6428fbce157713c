// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// From sums over ranks to a window: its exact values, and how many ranks of each
/// stratum are to be measured (statistics/sampling_error.h; beside it Eqs. 1 and 2 of Gamblin et
/// al. 2010). O(strata x steps).

#include <cstdint>
#include <span>
#include <vector>

#include "cluster/effort_options.h"
#include "cluster/effort_sums.h"

namespace chameleon::cluster {

/// How many ranks of each stratum, so that the mean of all ranks is known as well as was asked for;
/// at least 1 each. `medoids`: what theirs took in a step, on average, in ns. With more than
/// `Efforts::kMostSampled` in all, each has fewer in proportion: the error that follows is then
/// greater.
std::vector<std::uint64_t> effort_samples(const EffortSums& sums, std::span<const double> medoids,
                                          const Efforts::Settings& wanted);

/// All but the sampled ranks. `medoids` are those of the strata.
EffortWindow exact_window(const EffortSums& sums, std::span<const std::uint32_t> medoids,
                          const RankEfforts& intervals, const Efforts::Settings& wanted);

}  // namespace chameleon::cluster
