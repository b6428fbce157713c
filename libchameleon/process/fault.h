// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The fault boundary between the application and the tool. Every entry from the application
/// (wrappers, markers, MPI_Init, MPI_Finalize, MPI_Abort, the thread that waits for SIGTERM) runs
/// the tool's code inside `guarded`, or in a `try` whose handler calls `fault_caught`. The first
/// fault of a process stops its recording for good: its tracer is no longer `g_tracer`, so that
/// wrappers pass straight through, and becomes `g_stopped`, which still takes part in what all
/// ranks do together. The next vote carries the fault, the trace declares it for the rank, and
/// rank 0 says one line. Nothing here
/// allocates.

#include <atomic>

#include "base/attempt.h"

namespace chameleon::process {

class Tracer;

/// The tracer of a process that no longer records, or null.
extern std::atomic<Tracer*> g_stopped;

/// The tracer, recording or stopped, or null.
Tracer* present_tracer();

/// Sets address space aside, unless something failed or it is set aside already. The first fault
/// gives it back: to a program and an MPI that have as little as the tracer, and to what the tracer
/// still has to do. No memory is used for it.
void reserve_space();
/// Gives it back before a flush and before the last merge, where MPI itself needs more than usual.
void give_back_space();

/// The first failure in this process.
Failure first_fault();
inline bool has_fault() { return first_fault() != Failure::kNone; }

/// Stops recording, unless nothing failed.
void note_fault(Failure failure);

/// For a `catch (...)` around the tool's code.
[[gnu::cold, gnu::noinline]] void fault_caught();

/// Runs the tool's code; false if that failed, which is noted.
template <class F>
bool guarded(F f) {
  try {
    f();
    return true;
  } catch (...) {
    fault_caught();
    return false;
  }
}

/// The declaration of a trace for a rank with this fault.
const char* fault_declaration(Failure failure);

}  // namespace chameleon::process
