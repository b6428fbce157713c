// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// What the sampled ranks of an effort window say of all ranks, how far that can be off
/// (statistics/sampling_error.h), and what is true: the exact moments are in the window too.
/// O(steps x sampled ranks).

#include <cstdint>
#include <vector>

#include "model/effort.h"

namespace chameleon::analysis {

/// The mean of a rank, in ns.
struct EffortEstimate {
  double exact = 0, estimate = 0;
  double claimed = 0;  ///< most that the estimate is off, with at least the confidence asked for
  double actual() const { return estimate < exact ? exact - estimate : estimate - exact; }
  /// Within the nanosecond to which deviations are known.
  bool holds() const { return actual() <= claimed + 1; }
};

/// Of an average step of the window.
EffortEstimate window_estimate(const EffortWindow& window, const Efforts::Settings& settings);
/// Of each step.
std::vector<EffortEstimate> step_estimates(const EffortWindow& window,
                                           const Efforts::Settings& settings);

/// Ranks that were measured.
std::uint64_t sampled_ranks(const EffortWindow& window);
/// Those that would have been if the mean of a sample were normal: Eq. 1 of Gamblin et al. 2010 for
/// the mean of all ranks, by Neyman's allocation.
std::uint64_t ranks_by_equation_1(const EffortWindow& window, const Efforts::Settings& settings);
/// "ranks had different intervals": why there is nothing in the window.
const char* gap_text(EffortGap gap);
/// One word for it, for programs: none, uneven, left_out, stopped, lost.
const char* gap_name(EffortGap gap);

}  // namespace chameleon::analysis
