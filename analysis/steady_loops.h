// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Loops that all ranks go round together and whose iterations may be alike: few terms tell the
/// values in them, and nothing is made in them that outlives an iteration. What a timeline does in
/// an iteration then depends on these values and on where it stands at its begin, and on nothing
/// else (timeline.h). O(nodes).

#include <unordered_set>

#include "analysis/follow.h"

namespace chameleon::analysis {

/// Loops with fewer iterations are run to their end.
inline constexpr std::uint64_t kFewestRounds = 64;

/// The outermost of them that some visit goes round at least `fewest` times. The nodes are the
/// trace's.
std::unordered_set<const Node*> steady_loops(const FollowPlan& plan, std::uint64_t fewest);

}  // namespace chameleon::analysis
