// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// How a rank ends, or the job around it, before MPI_Finalize is over: by a signal, exit(),
/// _exit(), MPI_Abort, an error that MPI does not forgive, or because another rank did. The rank's
/// *last words*, what it did since the last flush with the call in which each thread is, are left
/// beside the trace file, and the process ends as it would have ended. All ranks of the host leave
/// theirs (process/host_ranks.h).
///
/// A rank that does not end itself, or whose memory may be damaged, leaves its words from a copy of
/// the process, as fork() makes it: nothing of the process changes but that its threads are held at
/// the gate while the copy is made.

#include <cstdint>

#include "base/rooms.h"

namespace chameleon::process {

class Tracer;

/// The ranks of a host get to know each other, and signals are watched for. `job`: a number of its
/// own. Before a barrier of all ranks, and after it.
void share_end(const Tracer& tracer, std::uint64_t job);
void end_sharing();

/// MPI_Finalize has merged the traces, or this rank's part was left instead if not `whole`.
void note_finished(const Tracer& tracer, bool whole);

/// The thread is about to call MPI_Abort. Leaves the rank's words, and waits shortly for those of
/// the others.
void abandon_tracer();
/// The same inside of a call that failed with this code, or 0: MPI ends the job now.
void leave_in_mpi(int code);
/// The same where the process ends by _exit().
void leave_at_exit(int status);

}  // namespace chameleon::process
