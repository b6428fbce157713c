/* SPDX-License-Identifier: BSD-3-Clause */
/* Two functions that are always inlined lie between MPI and the function that has a frame. The test
 * looks for the lines with these marks. */
#include <mpi.h>

static inline __attribute__((always_inline)) void add_up(int* value) {
  MPI_Allreduce(MPI_IN_PLACE, value, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); /* innermost */
  __asm__ volatile("" ::: "memory");
}

static inline __attribute__((always_inline)) void exchange(int* value) { /* begin of exchange */
  add_up(value);                                                         /* in exchange */
  __asm__ volatile("" ::: "memory");
}

static __attribute__((noinline)) void step(int* value) { /* begin of step */
  exchange(value);                                       /* in step */
  __asm__ volatile("" ::: "memory");
}

int main(int argc, char** argv) {
  int value = 1;
  MPI_Init(&argc, &argv);
  for (int i = 0; i < 10; ++i) {
    step(&value);
    value = 1;
  }
  return MPI_Finalize();
}
