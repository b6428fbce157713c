// SPDX-License-Identifier: BSD-3-Clause
// A preload for tests with more ranks than cores. MPICH (ch4:ucx) polls without ever giving up the
// processor, so a rank that waits starves the rank it waits for. This library stands in front of
// `ucp_worker_progress` and yields whenever a poll made no progress. Under an MPI without UCX the
// function is never called and the library does nothing. For tests only, never installed.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>
#include <stddef.h>

typedef unsigned progress_function(void* worker);

unsigned ucp_worker_progress(void* worker) {
  // Every thread that races here finds the same address, so a plain atomic store is enough.
  static _Atomic(progress_function*) next = NULL;
  progress_function* progress = next;
  if (progress == NULL) {
    *(void**)&progress = dlsym(RTLD_NEXT, "ucp_worker_progress");
    if (progress == NULL) {  // where MPI was loaded in a scope of its own
      void* library = dlopen("libucp.so.0", RTLD_LAZY | RTLD_NOLOAD);
      if (library != NULL) *(void**)&progress = dlsym(library, "ucp_worker_progress");
    }
    if (progress == NULL) return 0;
    next = progress;
  }
  const unsigned events = progress(worker);
  if (events == 0) sched_yield();
  return events;
}
