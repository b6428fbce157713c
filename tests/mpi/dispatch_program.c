/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that makes other calls for each message, in the order in which messages come: what
 * test_dispatch.py reads. A number of steps, and 1 if markers end them. */
#include <mpi.h>
#include <stdlib.h>
#include <time.h>

#include "chameleon/chameleon.h"

#define NOINLINE __attribute__((noinline))

enum { kKinds = 3 };
static volatile int kept; /* behind a call, so that none is a jump */

static NOINLINE void answer(const double* value, int to) {
  MPI_Send(value, 1, MPI_DOUBLE, to, kKinds, MPI_COMM_WORLD);
  kept = 1;
}

static NOINLINE void forward(const double* value, int to) {
  MPI_Request request;
  MPI_Isend(value, 1, MPI_DOUBLE, to, kKinds + 1, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  kept = 2;
}

static NOINLINE void ask(double* value, int whom) {
  MPI_Sendrecv_replace(value, 1, MPI_DOUBLE, whom, kKinds + 2, whom, kKinds + 2, MPI_COMM_WORLD,
                       MPI_STATUS_IGNORE);
  kept = 3;
}

/* Messages of three kinds in another order at each step. */
static NOINLINE void send_all(const double* value, int right, int step, int rank,
                              MPI_Request* requests) {
  unsigned order = (unsigned)(step * 7919 + rank * 104729);
  for (int i = 0, sent = 0; sent != (1 << kKinds) - 1; ++i) {
    order = order * 1103515245u + 12345u;
    const int kind = (int)(order >> 16) % kKinds;
    if (sent & (1 << kind)) continue;
    sent |= 1 << kind;
    MPI_Isend(value, 1, MPI_DOUBLE, right, kind, MPI_COMM_WORLD, &requests[kind]);
    const struct timespec wait = {0, 20000};
    nanosleep(&wait, NULL);
  }
}

int main(int argc, char** argv) {
  int rank = 0, size = 1;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int steps = argc > 1 ? atoi(argv[1]) : 10;
  const int marks = argc > 2 && atoi(argv[2]) != 0;
  const int right = (rank + 1) % size, left = (rank + size - 1) % size;
  for (int step = 0; step < steps; ++step) {
    double in[kKinds], more[2], own = rank, sum = 0;
    MPI_Request receives[kKinds], sends[kKinds], rest[2];
    for (int kind = 0; kind < kKinds; ++kind)
      MPI_Irecv(&in[kind], 1, MPI_DOUBLE, left, kind, MPI_COMM_WORLD, &receives[kind]);
    for (int i = 0; i < 2; ++i)
      MPI_Irecv(&more[i], 1, MPI_DOUBLE, left, kKinds + i, MPI_COMM_WORLD, &rest[i]);
    send_all(&own, right, step, rank, sends);
    for (int i = 0; i < kKinds; ++i) {
      int kind = 0;
      MPI_Waitany(kKinds, receives, &kind, MPI_STATUS_IGNORE);
      if (kind == 0) answer(&own, right);
      if (kind == 1) forward(&own, right);
      if (kind == 2) ask(&own, rank);
    }
    MPI_Status statuses[kKinds];
    MPI_Waitall(kKinds, sends, statuses);
    MPI_Waitall(2, rest, statuses);
    MPI_Allreduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (marks) chameleon_marker();
  }
  MPI_Finalize();
  return 0;
}
