// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// What the sampled ranks of an effort window say of all ranks, the error that goes with it, and
/// what is true: the exact moments are in the window too (Cochran, Sampling Techniques, 1977,
/// section 5.4). O(steps x sampled ranks).

#include <cstdint>
#include <vector>

#include "model/effort.h"

namespace chameleon::analysis {

/// The mean of a rank, in ns.
struct EffortEstimate {
  double exact = 0, estimate = 0;
  double claimed = 0;  ///< most that the estimate is off, at the confidence asked for
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
/// "ranks had different intervals": why there is nothing in the window.
const char* gap_text(EffortGap gap);
/// One word for it, for programs: none, uneven, left_out, stopped, lost.
const char* gap_name(EffortGap gap);

}  // namespace chameleon::analysis
