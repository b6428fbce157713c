// SPDX-License-Identifier: BSD-3-Clause
// Jobs that never end: who hangs, in which call and because of whom is known.
//   hanging_program receives|synchronous|tag|wildcard|finalized|outside|pause|runs
#include <mpi.h>
#include <string.h>
#include <unistd.h>

static char g_big[1 << 20];

static void exchange(const char* kind, int peer) {
  int given = 1, got = 0;
  if (strcmp(kind, "receives") == 0) {
    MPI_Recv(&got, 1, MPI_INT, peer, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(&given, 1, MPI_INT, peer, 7, MPI_COMM_WORLD);
  } else if (strcmp(kind, "synchronous") == 0) {
    MPI_Ssend(g_big, sizeof g_big, MPI_CHAR, peer, 7, MPI_COMM_WORLD);
    MPI_Recv(g_big, sizeof g_big, MPI_CHAR, peer, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else if (strcmp(kind, "tag") == 0) {
    MPI_Send(&given, 1, MPI_INT, peer, 8, MPI_COMM_WORLD);
    MPI_Recv(&got, 1, MPI_INT, peer, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else if (strcmp(kind, "wildcard") == 0) {
    MPI_Request request;
    MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, 9, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
}

int main(int argc, char** argv) {
  int rank, size;
  const char* const kind = argc > 1 ? argv[1] : "receives";
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int i = 0; i < 10; ++i) MPI_Barrier(MPI_COMM_WORLD);
  if (rank < 2) exchange(kind, 1 - rank);
  if (strcmp(kind, "finalized") == 0 && rank != 1) {
    int got = 0;
    MPI_Recv(&got, 1, MPI_INT, 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  for (int i = 0; strcmp(kind, "pause") == 0 && rank == 1 && i < 400; ++i) usleep(10000);
  while (strcmp(kind, "outside") == 0 && rank == 1) usleep(1000);
  while (strcmp(kind, "runs") == 0) {
    int given = rank, got = 0;
    MPI_Sendrecv(&given, 1, MPI_INT, (rank + 1) % size, 3, &got, 1, MPI_INT,
                 (rank + size - 1) % size, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    usleep(100);
  }
  if (strcmp(kind, "finalized") != 0) MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
