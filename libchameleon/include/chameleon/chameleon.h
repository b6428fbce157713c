/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* Markers: where all ranks of a program are at the same point of its work, for
 * example at the end of a time step. Header-only, over MPI_Pcontrol: a program
 * with markers needs no library and behaves the same untraced. Cost untraced:
 * one call of MPI_Pcontrol, which does nothing.
 *
 * This version of the tracer takes no notice of markers: it ignores every
 * level of MPI_Pcontrol but 0 (stop recording on this rank) and 1 (go on). */

#include <mpi.h>

/* The level of MPI_Pcontrol that is a marker: "CHM". */
#define CHAMELEON_MARKER 0x43484d

/* A marker; to be called by every rank of MPI_COMM_WORLD, between MPI_Init and
 * MPI_Finalize. Gives MPI_SUCCESS.
 *
 *     for (int step = 0; step < steps; ++step) {
 *       work(step);
 *       chameleon_marker();
 *     }
 */
static inline int chameleon_marker(void) { return MPI_Pcontrol(CHAMELEON_MARKER); }
