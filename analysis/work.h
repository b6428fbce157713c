// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// How much there is to do before it is begun: a few kilobytes can say that a call was made 2^60
/// times. From the loops themselves, and not from what the file says that they add up to. O(nodes).

#include "model/trace.h"

namespace chameleon::analysis {

/// Calls of these streams, one by one. A number that may be beyond what can be counted.
double visited_events(const Trace& trace, const RankList& streams);

}  // namespace chameleon::analysis
