// SPDX-License-Identifier: BSD-3-Clause
// A preload that counts the MPI calls an application makes, as an independent witness for the
// tracer's own counts: its list of functions comes from the MPI headers (make_counter.py), not
// from the project's table. Each rank writes $COUNT_CALLS_DIR/rank.N.txt after MPI_Finalize, one
// line `MPI_Send 123` per function called, in the order of the headers; without the variable
// nothing is written.
//
// A call counts when it does not return into the MPI library itself. Unlike a nesting depth, that
// leaves out what ROMIO and the collectives call inside, and keeps what application callbacks
// (attribute functions, user operations) call while an MPI function runs; only a callback that
// ends in a tail call is missed. Calls that the mpi_f08 module makes directly to PMPI_* are not
// seen. Uses PMPI_*, so it is not meant to be stacked on another tool.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "count_calls_list.inc"

static _Atomic unsigned long calls[kFunctions];
static uintptr_t library_begin = 0;
static uintptr_t library_end = 0;

static int find_library(struct dl_phdr_info* info, size_t size, void* inside) {
  (void)size;
  uintptr_t begin = UINTPTR_MAX;
  uintptr_t end = 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)* header = &info->dlpi_phdr[i];
    if (header->p_type != PT_LOAD) continue;
    const uintptr_t first = info->dlpi_addr + header->p_vaddr;
    if (first < begin) begin = first;
    if (first + header->p_memsz > end) end = first + header->p_memsz;
  }
  if ((uintptr_t)inside < begin || (uintptr_t)inside >= end) return 0;
  library_begin = begin;
  library_end = end;
  return 1;
}

__attribute__((constructor)) static void locate_mpi_library(void) {
  // By name: &PMPI_Barrier could be the address of a stub in the executable.
  dl_iterate_phdr(find_library, dlsym(RTLD_DEFAULT, "PMPI_Barrier"));
}

static void count_call(int function, const void* return_address) {
  const uintptr_t caller = (uintptr_t)return_address;
  if (caller >= library_begin && caller < library_end) return;
  __atomic_fetch_add((unsigned long*)&calls[function], 1, __ATOMIC_RELAXED);
}

static void write_counts(int rank) {
  const char* directory = getenv("COUNT_CALLS_DIR");
  if (directory == NULL) return;
  char path[4096];
  snprintf(path, sizeof path, "%s/rank.%d.txt", directory, rank);
  FILE* file = fopen(path, "w");
  if (file == NULL) {
    perror(path);
    return;
  }
  for (int i = 0; i < kFunctions; ++i)
    if (calls[i] != 0) fprintf(file, "%s %lu\n", kNames[i], calls[i]);
  fclose(file);
}

int MPI_Finalize(void) {
  count_call(k_MPI_Finalize, __builtin_return_address(0));
  // The rank first, the file last: deleting attributes of MPI_COMM_SELF may call MPI.
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int code = PMPI_Finalize();
  write_counts(rank);
  return code;
}

int MPI_Pcontrol(const int level, ...) {
  count_call(k_MPI_Pcontrol, __builtin_return_address(0));
  return PMPI_Pcontrol(level);
}

#include "count_calls_wrappers.inc"
