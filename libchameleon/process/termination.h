// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Handling of SIGTERM: a batch system is about to end the job. If the application left the signal
/// at its default, a thread of the tool's own, which sleeps until then, writes this rank's partial
/// trace beside the file and raises the signal again; a second one ends the process at once.
/// Threads that are in tool code finish it first, and stop at the gate afterwards
/// (record/tool_gate.h).

#include <cstdint>

#include "base/rooms.h"

namespace chameleon::process {

/// Watches for SIGTERM, unless the application does. `leave` is called at most
/// once, on another thread; it is to be quick, and says when the process is to
/// end (ns since 1970; what is past: at once).
void watch_termination(std::int64_t (*leave)());

}  // namespace chameleon::process
