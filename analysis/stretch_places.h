// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Which call sites occur in a stretch of time steps. A trace has the times of a place over the
/// whole run, so one that took longer on a rank need not be where a stretch was slow. The rank's
/// events are laid one after the other with their times (means in a default trace), and the whole
/// is stretched to the length of the run; half an interval and a hundredth of the run more count as
/// the stretch. O(events) of a rank, twice, for at most eight ranks of the stretches; of a rank
/// with more than two million events it is not known.

#include <cstdint>
#include <optional>
#include <unordered_set>
#include <vector>

#include "analysis/slow_steps.h"
#include "base/result.h"
#include "model/trace.h"

namespace chameleon::analysis {

/// For each stretch the symbols of the places that occur in it, on its rank or the first of its
/// ranks; nothing where that is not known. Error: the trace is damaged.
using StretchPlaces = std::vector<std::optional<std::unordered_set<std::uint64_t>>>;
Result<StretchPlaces> places_in(const Trace& trace, const std::vector<SlowSteps>& stretches);

}  // namespace chameleon::analysis
