// SPDX-License-Identifier: BSD-3-Clause
// A preload that keeps rank SLOW_RANK for SLOW_MS before each of the tool's messages that clusters
// or merges: those sent by PMPI_Isend that are longer than a reading of the clock, and no ballots.
// The rank says at the end for how many ns it was kept. For tests only, never installed.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { kClockReading = 16, kBallot = 152 };  // two of them, where a vote is about two intervals

static long long kept = 0;

static long number(const char* name) {
  const char* value = getenv(name);
  return value != NULL ? atol(value) : -1;
}

static void report(void) { fprintf(stderr, "kept %lld ns\n", kept); }

static long long now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000LL + time.tv_nsec;
}

int PMPI_Isend(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
               MPI_Request* request) {
  static int (*next)(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*) = NULL;
  if (next == NULL) *(void**)&next = dlsym(RTLD_NEXT, "PMPI_Isend");
  int rank = -1;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == number("SLOW_RANK") && count > kClockReading && count != kBallot &&
      count != 2 * kBallot) {
    const long long begin = now();
    const struct timespec time = {0, number("SLOW_MS") * 1000000};
    nanosleep(&time, NULL);
    if (kept == 0) atexit(report);
    kept += now() - begin;
  }
  return next(data, count, type, to, tag, comm, request);
}
