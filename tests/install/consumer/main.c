/* SPDX-License-Identifier: BSD-3-Clause */
/* A program of a user: a ring with a marker a step. */
#include <chameleon/chameleon.h>
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, size = 1, value = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int step = 0; step < 10; ++step) {
    const int next = (rank + 1) % size, before = (rank + size - 1) % size;
    MPI_Sendrecv(&rank, 1, MPI_INT, next, 7, &value, 1, MPI_INT, before, 7, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    if (value != before) MPI_Abort(MPI_COMM_WORLD, 1);
    if (chameleon_marker() != MPI_SUCCESS) MPI_Abort(MPI_COMM_WORLD, 2);
  }
  if (rank == 0) puts("consumer: done");
  return MPI_Finalize();
}
