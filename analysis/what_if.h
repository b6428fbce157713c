// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// How long a run would have taken with something otherwise: a faster network, computing that is
/// balanced, a faster function. The timeline is run with a lane for each scenario, and one more
/// without any change, which says how far the model is from the run: gains are relative to it.
/// Costs one run of the timeline for each seven scenarios, and one where the balance of a stretch
/// is asked for.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "analysis/timeline.h"

namespace chameleon::analysis {

struct Assumption {
  enum class Kind : std::uint8_t {
    kNetwork,  ///< what calls take themselves, divided by `factor`; waiting follows from it
    /// Before a call after another, all ranks compute equally long: the mean. What ranks compute
    /// in all is made equal too.
    kBalance,
    /// Ranks are on nodes in the order of their numbers, so many on each (placement.h).
    kRanksPerNode,
    kSpeed,  ///< computing that ends at a call of a path in `is_in`, divided by `factor`
  };
  Kind kind = Kind::kNetwork;
  double factor = 1;  ///< of the network, infinity: ideal; or how many ranks
  /// Of the balance: what begins in it. None: the whole run.
  std::optional<std::pair<std::uint64_t, std::uint64_t>> within_ns;
  std::function<bool(std::uint64_t path)> is_in;
};

/// Changes made at once.
using Scenario = std::vector<Assumption>;

struct WhatIf {
  double run_ns = 0;    ///< end of the timeline
  double model_ns = 0;  ///< of the lane without changes
  /// Of each scenario: what the run is predicted to take.
  std::vector<double> predicted_ns;
  std::uint64_t unmatched = 0;            ///< receives and collectives without their others
  std::uint64_t events = 0, at_once = 0;  ///< as TimelineFacts

  double gain(std::size_t scenario) const {
    return run_ns > 0 ? 1 - predicted_ns[scenario] / run_ns : 0;
  }
};

/// Error: the trace is damaged.
Result<WhatIf> what_if(const Trace& trace, const std::vector<Scenario>& scenarios);

}  // namespace chameleon::analysis
