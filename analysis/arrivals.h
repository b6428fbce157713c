// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// How often each stream comes to each event of a trace, and after which event: exactly, from the
/// iteration counts of the loops, without expanding the trace. A stream that goes through a loop no
/// times at some of its visits is read event by event, since what comes next then depends on which
/// visits these were. O(nodes x streams), and O(events) of such streams.

#include <cstdint>
#include <functional>
#include <span>

#include "base/result.h"
#include "model/trace.h"

namespace chameleon::analysis {

struct Arrival {
  std::uint64_t predecessor = 0;  ///< symbol of the event before; 0: none
  std::uint64_t count = 0;
};

using ArrivalsDo = std::function<void(const Node&, std::uint32_t stream, std::span<const Arrival>)>;

/// Calls f(node, stream, arrivals) for each event node and each stream of `streams` that executes
/// it. Error: the trace is damaged.
Status each_arrival(const Trace& trace, const RankList& streams, const ArrivalsDo& f);

}  // namespace chameleon::analysis
