// SPDX-License-Identifier: BSD-3-Clause
// A small MPI program, as a library with one function (-DPLUGIN) or as a program: what is built in
// several ways, linked in several orders, and loaded while another program runs.
#include <mpi.h>
#include <stdio.h>

#define STEPS 20

#ifdef __GNUC__
__attribute__((noinline))
#endif
static int
exchange(int rank, int ranks, int depth) {
  if (depth > 0) return exchange(rank, ranks, depth - 1) + 1;
  int received = -1;
  MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % ranks, 1, &received, 1, MPI_INT,
               (rank + ranks - 1) % ranks, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return received;
}

int run(void) {
  int rank, ranks, sum = 0, all = 0;
  MPI_Init(NULL, NULL);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  double value = rank;
  for (int i = 0; i < STEPS; ++i) {
    sum += exchange(rank, ranks, i % 3);
    MPI_Allreduce(&sum, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Bcast(&value, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  if (rank == 0) printf("sum %d, value %g\n", all, value);
  return 5;
}

#ifndef PLUGIN
int main(void) { return run(); }
#endif
