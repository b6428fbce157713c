// SPDX-License-Identifier: BSD-3-Clause
// Another tool in the process: counts sends and barriers and says how many at the end. It calls
// PMPI_* as profiling libraries do, or (-DNEXT) the next library's MPI_*.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

#ifdef NEXT
#define PASS(name) ((__typeof__(&MPI_##name))dlsym(RTLD_NEXT, "MPI_" #name))
#else
#define PASS(name) PMPI_##name
#endif

static int count;

int MPI_Barrier(MPI_Comm comm) {
  ++count;
  return PASS(Barrier)(comm);
}

int MPI_Bcast(void* buffer, int elements, MPI_Datatype type, int root, MPI_Comm comm) {
  ++count;
  return PASS(Bcast)(buffer, elements, type, root, comm);
}

__attribute__((destructor)) static void say(void) {
  if (count > 0) printf("the tool saw %d calls\n", count);
}
