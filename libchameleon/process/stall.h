// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// A job that hangs. Once a second each rank looks at what it does. If for CHAMELEON_STALL seconds
/// no rank of the host began or ended an MPI call, and one of them is inside of one, all leave
/// their words beside the trace, from copies of their processes (process/process_copy.h): who waits
/// for whom can be read while the job still hangs. The same after twice that time, four times, and
/// so on. Rank 0 says one line. With CHAMELEON_STALL_ABORT the job ends then.
///
/// Cost: a system call each second and rank; nothing for a call.

#include "base/rooms.h"

namespace chameleon::process {

class Tracer;

/// How often to look, in ms; 0: never.
int stall_look_ms(const Tracer& tracer);
/// By the thread that watches, which is alone with that.
void look_for_stall();
/// Then the tracer, which is no longer the present one, can be deleted: the watcher does not look
/// at it.
void wait_for_look();
/// Words were left because of a stall.
bool has_stalled();

}  // namespace chameleon::process
