// SPDX-License-Identifier: BSD-3-Clause
// short_markers STEPS: time steps of a message and a marker, each of a few microseconds.
#include <chameleon/chameleon.h>
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  int rank, size, received;
  const int steps = argc > 1 ? atoi(argv[1]) : 1000;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int step = 0; step < steps; ++step) {
    MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 0, &received, 1, MPI_INT,
                 (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    chameleon_marker();
  }
  MPI_Finalize();
  return 0;
}
