// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The points at which a stream's raw records and its events of the trace must be at the same
/// event, although the trace declares that events before it differ, and may differ in number.
///
/// Exact events after the last declared ones are equally far from the end of both sides. Exact
/// events between declared ones begin and end at a marker of the records; of the stretches between
/// markers that have its calls in its order, it is the one as far from the next anchor as in the
/// trace, or else the last one. Cost: one pass over each side; memory O(markers).

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/follow.h"

namespace chameleon::analysis {

/// Events before the one at which both sides are.
struct Anchor {
  std::uint64_t raw = 0, seen = 0;
};

/// In order, and the end of both sides as the last one. None if the trace declares no differing
/// events of the stream, or is incomplete.
Result<std::vector<Anchor>> find_anchors(const FollowPlan& plan, const std::string& directory,
                                         std::uint32_t rank, std::uint32_t thread);

}  // namespace chameleon::analysis
