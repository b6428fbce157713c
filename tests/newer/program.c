/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls two of them, and what is known. */
#include <mpi.h>
#include <stdio.h>

#include "newer.h"

int main(int argc, char** argv) {
  int rank = 0, sum = 0, status = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  status = MPI_Newer_3(MPI_COMM_WORLD);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (status == MPI_SUCCESS) status = MPI_Newer_17(MPI_COMM_WORLD);
  if (rank == 0) printf("sum %d\n", sum);
  MPI_Finalize();
  return status;
}
