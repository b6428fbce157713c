/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that wraps MPI, and calls one routine from two places: what test_places.py reads. */
#include <mpi.h>

#define NOINLINE __attribute__((noinline))

static volatile int kept;                   /* behind a call, so that none is a jump */
static volatile int lowest = 3, upmost = 5; /* loops that no compiler unrolls */

static NOINLINE void wait_all(int count, MPI_Request* requests) {
  MPI_Status statuses[2];
  MPI_Waitall(count, requests, statuses);
  kept = count;
}

static NOINLINE void exchange(int right, int left) {
  double in = 0, out = 1;
  MPI_Request requests[2];
  MPI_Irecv(&in, 1, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(&out, 1, MPI_DOUBLE, right, 1, MPI_COMM_WORLD, &requests[1]);
  wait_all(2, requests);
  kept = 2;
}

static NOINLINE void sum(void) {
  double in = 1, out = 0;
  MPI_Request request;
  MPI_Iallreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
  wait_all(1, &request);
  kept = 3;
}

static NOINLINE void lower(int right, int left) {
  for (int i = 0; i < lowest; ++i) exchange(right, left);
  kept = 4;
}

static NOINLINE void upper(int right, int left) {
  for (int i = 0; i < upmost; ++i) exchange(right, left);
  kept = 5;
}

int main(int argc, char** argv) {
  int rank = 0, size = 1;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int right = (rank + 1) % size, left = (rank + size - 1) % size;
  for (int step = 0; step < 7; ++step) {
    lower(right, left);
    upper(right, left);
    sum();
  }
  MPI_Finalize();
  return 0;
}
