/* SPDX-License-Identifier: BSD-3-Clause */
/* A ring, an I/O file, a derived datatype and a communicator; or, with an argument, without end. */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char** argv) {
  int rank = 0, size = 0, sum = 0, number = 0;
  MPI_Comm half;
  MPI_Datatype pair;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  MPI_Type_contiguous(2, MPI_INT, &pair);
  MPI_Type_commit(&pair);
  for (int step = 0; step < 100 || argc > 1; ++step) {
    int mine[2] = {rank, step}, theirs[2] = {0, 0};
    MPI_Request requests[2];
    MPI_Irecv(theirs, 1, pair, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(mine, 1, pair, (rank + 1) % size, step % 100, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Allreduce(&theirs[0], &number, 1, MPI_INT, MPI_SUM, half);
    sum += number;
    if (argc > 1) usleep(10000);
  }
  if (rank == 0) printf("sum %d\n", sum);
  MPI_Type_free(&pair);
  MPI_Comm_free(&half);
  return MPI_Finalize();
}
