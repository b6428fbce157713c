// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The end of a simulated run, after its events are merged: times of all ranks by classes, the
/// facts of ranks, and rank 0's last commit. Computing and calls take what the behaviour says, give
/// or take half a percent that differ from rank to rank; facts are made up in the same way, with 64
/// ranks a node.

#include <cstdint>
#include <functional>

#include "model/trace.h"
#include "recorded_events.h"
#include "world/virtual_world.h"

namespace chameleon::tools {

struct SimulatedEnd {
  world::Traffic times, facts;
  double times_seconds = 0, facts_seconds = 0;  ///< of work on the critical path
  /// Most that rank 0 has allocated of what comes at the end.
  std::uint64_t rank_0_bytes = 0;
  std::uint64_t file_bytes = 0;  ///< of the trace with all of it, compressed
};

/// `online` is the trace before; `events(rank, visit)` gives a rank's events in parts.
/// `allocations` counts now.
SimulatedEnd simulate_end(
    world::VirtualWorld& world, world::Allocations& allocations, Trace online,
    const std::function<void(std::uint32_t, const std::function<void(const RecordedEvents&)>&)>&
        events);

}  // namespace chameleon::tools
