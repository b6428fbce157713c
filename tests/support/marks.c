// SPDX-License-Identifier: BSD-3-Clause
// A preload that puts markers into programs that have none: after every MARKS_EVERY-th (5) of the
// blocking collectives below on a communicator of all ranks, which every rank calls in the same
// order, it calls MPI_Pcontrol as chameleon_marker() does. So the state graph can be tried on
// programs that nobody here wrote. It comes before the tracer, which hears of it and says so. For
// tests only, never installed.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdlib.h>

#include "chameleon/chameleon.h"

static int has_all_ranks(MPI_Comm comm) {
  int same = MPI_UNEQUAL, inter = 1;
  if (PMPI_Comm_test_inter(comm, &inter) != MPI_SUCCESS || inter) return 0;
  return PMPI_Comm_compare(comm, MPI_COMM_WORLD, &same) == MPI_SUCCESS && same != MPI_UNEQUAL;
}

static int marked(int code, MPI_Comm comm) {
  static int every = 0, calls = 0;
  if (every == 0) {
    const char* asked = getenv("MARKS_EVERY");
    every = asked != NULL && atoi(asked) > 0 ? atoi(asked) : 5;
  }
  if (code == MPI_SUCCESS && has_all_ranks(comm) && ++calls % every == 0) chameleon_marker();
  return code;
}

// The function of this name that comes next: the tracer's, or MPI's.
#define MARKS_CALL(name, comm, parameters, arguments)           \
  int name parameters {                                         \
    static int(*next) parameters = NULL;                        \
    if (next == NULL) *(void**)&next = dlsym(RTLD_NEXT, #name); \
    return marked(next arguments, comm);                        \
  }

MARKS_CALL(MPI_Barrier, comm, (MPI_Comm comm), (comm))
MARKS_CALL(MPI_Bcast, comm, (void* data, int count, MPI_Datatype type, int root, MPI_Comm comm),
           (data, count, type, root, comm))
MARKS_CALL(MPI_Reduce, comm,
           (const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, int root,
            MPI_Comm comm),
           (in, out, count, type, op, root, comm))
MARKS_CALL(MPI_Allreduce, comm,
           (const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
           (in, out, count, type, op, comm))
MARKS_CALL(MPI_Allgather, comm,
           (const void* in, int sent, MPI_Datatype of, void* out, int got, MPI_Datatype type,
            MPI_Comm comm),
           (in, sent, of, out, got, type, comm))
MARKS_CALL(MPI_Alltoall, comm,
           (const void* in, int sent, MPI_Datatype of, void* out, int got, MPI_Datatype type,
            MPI_Comm comm),
           (in, sent, of, out, got, type, comm))
