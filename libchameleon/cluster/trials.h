// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The trials of CLARA and CAPEK: samples of the population, each to be clustered by itself. Every
/// rank makes the same plan without a message. O(trials x sample).

#include <cstdint>
#include <vector>

#include "model/rank_list.h"
#include "world/world.h"

namespace chameleon::cluster {

struct TrialOptions {
  std::uint32_t first_k = 1, last_k = 10;  ///< numbers of clusters to try, at least 1
  std::uint32_t samples = 5;               ///< for each of them (S)
  std::uint32_t sample_size = 40;          ///< and two more for each cluster (s = 40 + 2k)
  std::uint64_t seed = 1;
};

struct Trial {
  std::uint32_t group = 0;  ///< of ranks that are clustered by themselves
  std::uint32_t k = 0;
  std::uint32_t worker = 0;           ///< the rank that clusters the sample
  std::vector<std::uint32_t> sample;  ///< ascending
};

/// Trials in order of k. If a sample has everyone there is one for that k. Where there is a choice
/// of k, not as many as there are ranks: nothing would be left to judge. Workers are spread over
/// all ranks: Gamblin et al. 2010 (section 7.1) found the lowest ranks, which they took, busy with
/// other things.
std::vector<Trial> plan_trials(std::uint32_t population, const TrialOptions& options);

/// The trials of several groups of ranks: samples and workers are of the group. None of a group
/// with only one rank.
std::vector<Trial> plan_trials(const std::vector<RankList>& groups, const TrialOptions& options);

/// From sampled ranks to the workers of their trials: ascending, each pair once.
std::vector<Transfer> transfers(const std::vector<Trial>& trials);

}  // namespace chameleon::cluster
