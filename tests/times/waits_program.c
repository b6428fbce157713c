// SPDX-License-Identifier: BSD-3-Clause
// Arguments STEPS LATE SLOW: two phases of STEPS time steps. In a step every rank exchanges with
// its neighbours, computes, and ends the step by a marker, at which it waits for the slowest: rank
// 1 in the first phase, the last rank in the second, which computes for SLOW us. Rank 1 comes to
// MPI_Finalize LATE ms after the others.
#include <chameleon/chameleon.h>
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

enum { kComputeUs = 3000, kSlowUs = 8000 };

static int rank, ranks, slow_us = kSlowUs;

static void exchange(int direction) {
  int mine = rank, other = 0;
  MPI_Sendrecv(&mine, 1, MPI_INT, (rank + direction) % ranks, 0, &other, 1, MPI_INT,
               (rank + ranks - direction) % ranks, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void phase(int steps, int direction, int slow) {
  for (int step = 0; step < steps; ++step) {
    exchange(direction);
    usleep(rank == slow ? slow_us : kComputeUs);
    chameleon_marker();
  }
}

int main(int argc, char** argv) {
  const int steps = argc > 1 ? atoi(argv[1]) : 40;
  if (argc > 3) slow_us = atoi(argv[3]);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  phase(steps, 1, 1);
  MPI_Barrier(MPI_COMM_WORLD);
  phase(steps, ranks - 1, ranks - 1);
  if (rank == 1 && argc > 2) usleep(1000 * atoi(argv[2]));
  MPI_Finalize();
  return 0;
}
