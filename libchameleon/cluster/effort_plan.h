// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// From sums over ranks to a window: its exact values, and how many ranks of each stratum are
/// to be measured (Eqs. 1 and 2 of Gamblin et al. 2010; Neyman's allocation). O(strata x
/// steps).

#include <cstdint>
#include <span>
#include <vector>

#include "cluster/effort_options.h"
#include "cluster/effort_sums.h"

namespace chameleon::cluster {

/// How many ranks of each stratum, so that the mean of all ranks is known as well as was asked for;
/// at least 1 each. A stratum of which more than half would be measured is measured whole: without
/// the one rank that is unlike the others a large part of a small one is wrong by more than is
/// claimed. With more than `Efforts::kMostSampled` in all, each has fewer in proportion:
/// the error that follows is then greater.
std::vector<std::uint64_t> effort_samples(const EffortSums& sums, const Efforts::Settings& wanted);

/// All but the sampled ranks. `medoids` are those of the strata.
EffortWindow exact_window(const EffortSums& sums, std::span<const std::uint32_t> medoids,
                          const RankEfforts& intervals, const Efforts::Settings& wanted);

}  // namespace chameleon::cluster
