// SPDX-License-Identifier: BSD-3-Clause
// Jobs that a rank ends: who did, in which call, and by what is known.
//   ending_program send|truncate|start|segv|inside|fpe|abort|mpi_abort|exit|_exit|thread
#include <fenv.h>
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int g_rank, g_size;

static void* crash(void* unused) {
  (void)unused;
  *(volatile int*)8 = 1;
  return NULL;
}

static void end_here(const char* how) {
  int value = 1;
  if (strcmp(how, "send") == 0) MPI_Send(&value, 1, MPI_INT, 99, 7, MPI_COMM_WORLD);
  if (strcmp(how, "truncate") == 0)
    MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (strcmp(how, "start") == 0) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Start(&request);
  }
  if (strcmp(how, "segv") == 0) *(volatile int*)8 = 1;
  if (strcmp(how, "inside") == 0) {
    char* const nowhere = (char*)4096;
    MPI_Sendrecv(nowhere, 3, MPI_CHAR, g_rank, 7, nowhere + 8, 3, MPI_CHAR, g_rank, 7,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  if (strcmp(how, "fpe") == 0) raise(SIGFPE);
  if (strcmp(how, "abort") == 0) abort();
  if (strcmp(how, "mpi_abort") == 0) MPI_Abort(MPI_COMM_WORLD, 7);
  if (strcmp(how, "exit") == 0) exit(3);
  if (strcmp(how, "_exit") == 0) _exit(4);
  if (strcmp(how, "thread") == 0) {
    pthread_t thread;
    pthread_create(&thread, NULL, crash, NULL);
    pthread_join(thread, NULL);
  }
}

int main(int argc, char** argv) {
  const char* const how = argc > 1 ? argv[1] : "send";
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &g_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &g_size);
  for (int i = 0; i < 10; ++i) MPI_Barrier(MPI_COMM_WORLD);
  if (strcmp(how, "truncate") == 0 && g_rank == 0) {
    static int many[100];
    MPI_Request request;
    MPI_Isend(many, 100, MPI_INT, g_size - 1, 7, MPI_COMM_WORLD, &request);
  }
  if (g_rank == g_size - 1) {
    usleep(200000);  // the others are in the barrier
    printf("rank %d ends\n", g_rank);
    fflush(stdout);
    end_here(how);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
