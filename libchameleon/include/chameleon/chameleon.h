/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* Markers: where all ranks of a program are at the same point of its work, for
 * example at the end of a time step. What a rank does between two markers is an
 * interval; at a marker the tracer asks whether any rank's behaviour changed,
 * and while none does, a few ranks trace for all (docs/design/marker.md).
 * A marker is a boundary: it is not an event and is not replayed. Header-only,
 * over MPI_Pcontrol: a program with markers needs no library and behaves the
 * same untraced, where a marker costs one call that does nothing. Traced it
 * costs a reduction and a broadcast of 152 bytes over all ranks, about ten times
 * a second, or at every CHAMELEON_CALL_FREQUENCY-th marker (of 304 at every second
 * of these, where ranks run ahead of each other).
 *
 * Levels 0 and 1 of MPI_Pcontrol stop and resume recording on the calling rank;
 * such a rank calls markers like the others. Other levels are left alone. */

#include <mpi.h>

/* The level of MPI_Pcontrol that is a marker: "CHM". */
#define CHAMELEON_MARKER 0x43484d

/* A marker; to be called by every rank of MPI_COMM_WORLD equally often, in the
 * same order as its other collective calls, between MPI_Init and MPI_Finalize
 * and by one thread. Gives MPI_SUCCESS.
 *
 *     for (int step = 0; step < steps; ++step) {
 *       work(step);
 *       chameleon_marker();
 *     }
 *
 * A program that cannot include this header may instead call MPI_Barrier on a
 * communicator of all ranks that it named "chameleon.marker" with
 * MPI_Comm_set_name: such a barrier is a marker too, and stays an event. */
static inline int chameleon_marker(void) { return MPI_Pcontrol(CHAMELEON_MARKER); }
