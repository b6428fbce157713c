// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Handling of SIGTERM and SIGINT: a batch system or a user is about to end the job. If the
/// application left the signal at its default, a thread of the tool's own, which sleeps until then,
/// leaves the rank's last words and raises the signal again; a second one ends the process at once.
/// Threads that are in tool code finish it first, and stop at the gate afterwards
/// (record/tool_gate.h). The same thread answers when another rank of the host ends.

#include <cstdint>

#include "base/rooms.h"

namespace chameleon::process {

/// Starts the thread. `leave` is called at most once, with the name of the signal; it is to be
/// quick, and says when the process is to end (ns since 1970; what is past: at once). `answer` is
/// called at most once, and before it; the process continues. So it does after `look`, which is
/// called every `look_ms`; 0: never.
struct Watch {
  std::int64_t (*leave)(const char* name);
  void (*answer)();
  void (*look)();
  int look_ms;
};
void watch_termination(const Watch& watch);

}  // namespace chameleon::process
