// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// How much there is to do before it is begun: a few kilobytes can say that a call was made 2^60
/// times. From the loops themselves, and not from what the file says that they add up to. O(nodes).

#include <functional>

#include "model/trace.h"

namespace chameleon::analysis {

/// Of a call: how many streams execute it, and how often in all.
using VisitedDo = std::function<void(const Node&, double streams, double events)>;

/// Calls `f` for each call of the folded trace that some of these streams execute. Numbers that may
/// be beyond what can be counted, and too high where very many groups of ranks iterate differently.
void each_visited(const Trace& trace, const RankList& streams, const VisitedDo& f);

/// All of these calls.
double visited_events(const Trace& trace, const RankList& streams);

}  // namespace chameleon::analysis
