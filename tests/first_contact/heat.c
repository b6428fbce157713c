/* SPDX-License-Identifier: BSD-3-Clause
 * Heat in a rod, as somebody new to the tool would write it, with three planted faults:
 *   1. rank 2 takes 15 ms longer in smooth() in the steps 30 to 49;
 *   2. every tenth step rank 0 writes for 20 ms in write_output() while all others wait;
 *   3. rank 1 sends its left border 4 ms late, in every step, in exchange().
 * Usage: heat [none|slow|output|late|all] */
#include <chameleon/chameleon.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { kSteps = 80, kCells = 2000 };
static int rank, size;
static int slow, output, late;

static void work(double seconds) {
  const double end = MPI_Wtime() + seconds;
  while (MPI_Wtime() < end) {
  }
}

static void smooth(double* cells, int step) {
  for (int i = 1; i <= kCells; ++i) cells[i] = (cells[i - 1] + cells[i] + cells[i + 1]) / 3;
  work(1e-3);
  if (slow && rank == 2 && step >= 30 && step < 50) work(15e-3);
}

static void exchange(double* cells) {
  const int left = rank > 0 ? rank - 1 : MPI_PROC_NULL;
  const int right = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
  MPI_Request requests[2];
  MPI_Status statuses[2];
  MPI_Irecv(&cells[0], 1, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(&cells[kCells + 1], 1, MPI_DOUBLE, right, 2, MPI_COMM_WORLD, &requests[1]);
  MPI_Send(&cells[kCells], 1, MPI_DOUBLE, right, 1, MPI_COMM_WORLD);
  if (late && rank == 1) work(4e-3);
  MPI_Send(&cells[1], 1, MPI_DOUBLE, left, 2, MPI_COMM_WORLD);
  MPI_Waitall(2, requests, statuses);
}

static void write_output(int step) {
  if (output && step % 10 == 9 && rank == 0) work(20e-3);
  MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  const char* faults = argc > 1 ? argv[1] : "none";
  const int all = strcmp(faults, "all") == 0;
  slow = all || strcmp(faults, "slow") == 0;
  output = all || strcmp(faults, "output") == 0;
  late = all || strcmp(faults, "late") == 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  static double cells[kCells + 2];
  cells[kCells / 2] = rank + 1;
  for (int step = 0; step < kSteps; ++step) {
    smooth(cells, step);
    exchange(cells);
    write_output(step);
    chameleon_marker();
  }
  double sum = 0, mine = 0;
  for (int i = 1; i <= kCells; ++i) mine += cells[i];
  MPI_Reduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("sum %.6f\n", sum);
  MPI_Finalize();
  return 0;
}
