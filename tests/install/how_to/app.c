/* SPDX-License-Identifier: BSD-3-Clause */
/* The program that the how-to pages call `app`: app [FILE], where FILE has a number of time steps
 * of 10 ms, 10 without it. With EXTRA_CALL it communicates otherwise. */
#include <chameleon/chameleon.h>
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, size = 1, sum = 0, steps = 10;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (argc > 1) {
    FILE* input = fopen(argv[1], "r");
    if (input == NULL || fscanf(input, "%d", &steps) != 1) MPI_Abort(MPI_COMM_WORLD, 2);
    fclose(input);
  }
  if (rank == 0) {
    printf("app: %d steps\n", steps);
    fflush(stdout);
  }
  for (int step = 0; step < steps; ++step) {
    usleep(10000);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
#ifdef EXTRA_CALL
    MPI_Bcast(&sum, 1, MPI_INT, 0, MPI_COMM_WORLD);
#endif
    if (sum != size * (size - 1) / 2) MPI_Abort(MPI_COMM_WORLD, 1);
    if (chameleon_marker() != MPI_SUCCESS) MPI_Abort(MPI_COMM_WORLD, 3);
  }
  if (rank == 0) puts("app: done");
  return MPI_Finalize();
}
