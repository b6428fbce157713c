// SPDX-License-Identifier: BSD-3-Clause
// A preload that keeps rank STALL_RANK for STALL_SECONDS before its STALL_AT-th message of the
// tool's, which sends by PMPI_Isend, and for STALL_START milliseconds after its first
// PMPI_Allreduce, which the tool calls in MPI_Init. With STALL_AT=0 it says at the end how many
// messages there were. For tests only, never installed.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static int sent = 0;

static long number(const char* name) {
  const char* value = getenv(name);
  return value != NULL ? atol(value) : -1;
}

int PMPI_Allreduce(const void* data, void* all, int count, MPI_Datatype type, MPI_Op op,
                   MPI_Comm comm) {
  static int (*next)(const void*, void*, int, MPI_Datatype, MPI_Op, MPI_Comm) = NULL;
  const int first = next == NULL;
  if (first) *(void**)&next = dlsym(RTLD_NEXT, "PMPI_Allreduce");
  const int code = next(data, all, count, type, op, comm);
  int rank = -1;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const long late = number("STALL_START");
  if (first && rank == number("STALL_RANK") && late > 0) {
    const struct timespec time = {late / 1000, late % 1000 * 1000000};
    nanosleep(&time, NULL);
  }
  return code;
}

static void report(void) { fprintf(stderr, "%d messages\n", sent); }

int PMPI_Isend(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
               MPI_Request* request) {
  static int (*next)(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*) = NULL;
  if (next == NULL) *(void**)&next = dlsym(RTLD_NEXT, "PMPI_Isend");
  int rank = -1;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == number("STALL_RANK")) {
    if (++sent == 1 && number("STALL_AT") == 0) atexit(report);
    if (sent == number("STALL_AT")) {
      const struct timespec time = {number("STALL_SECONDS"), 0};
      nanosleep(&time, NULL);
    }
  }
  return next(data, count, type, to, tag, comm, request);
}
