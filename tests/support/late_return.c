/* SPDX-License-Identifier: BSD-3-Clause */
/* Generalized requests are made, completed and waited for some time before the tracer sees the call
 * return. Meanwhile MPI gives their handles to other threads. Preloaded after the tracer. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdatomic.h>
#include <unistd.h>

static int late(int code) {
  static atomic_uint calls;
  usleep(100 + 900 * (atomic_fetch_add(&calls, 1) % 5));
  return code;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

int PMPI_Wait(MPI_Request* request, MPI_Status* status) {
  return late(REAL(PMPI_Wait)(request, status));
}

int PMPI_Grequest_start(MPI_Grequest_query_function* query, MPI_Grequest_free_function* freed,
                        MPI_Grequest_cancel_function* cancelled, void* state,
                        MPI_Request* request) {
  return late(REAL(PMPI_Grequest_start)(query, freed, cancelled, state, request));
}

int PMPI_Grequest_complete(MPI_Request request) {
  return late(REAL(PMPI_Grequest_complete)(request));
}
