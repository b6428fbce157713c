// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Signals that end a process by a fault of its own: SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT.
/// Where the program left one at its default, or MPI's transport has a handler that only says what
/// happened, the rank leaves its last words first. Then the signal has the effect that it would
/// have had, of the same instruction, with the same message, status and core file. Stacks that
/// overflowed leave nothing: the program has no other.

#include "base/rooms.h"

namespace chameleon::process {

void watch_fatal_signals();

}  // namespace chameleon::process
