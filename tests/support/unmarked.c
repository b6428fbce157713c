// SPDX-License-Identifier: BSD-3-Clause
// A preload that takes a program's own markers out: its MPI_Pcontrol does nothing. It comes before
// the tracer. For tests only, never installed.

#include <mpi.h>

int MPI_Pcontrol(const int level, ...) {
  (void)level;
  return MPI_SUCCESS;
}
