/* SPDX-License-Identifier: BSD-3-Clause */
/* Linked into the library with ld's --wrap, these stand for what the tool takes memory with, its
 * static C++ library and zstd included. On the ranks in FAIL_RANKS (by commas; else on all)
 *   FAIL_AT=N    the N-th allocation since the library was loaded fails, once;
 *   FAIL_FROM=N  the N-th fails, and all later ones while MPI is initialized: before that a process
 *                has as much memory as its loader took. */
#define _GNU_SOURCE
#include <errno.h>
#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* FAIL_COUNT=PREFIX: how many there were is in PREFIX.RANK at the end. */

void* __real_malloc(size_t size);
void* __real_calloc(size_t count, size_t size);
void* __real_realloc(void* block, size_t size);
FILE* __real_fopencookie(void* cookie, const char* mode, cookie_io_functions_t functions);
int __real_pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*),
                          void* given);

static atomic_ulong count;
static atomic_ulong fail_at, fail_from;

static const char* rank_text(void) {
  const char* rank = getenv("PMI_RANK");
  if (rank == NULL) rank = getenv("OMPI_COMM_WORLD_RANK");
  return rank != NULL ? rank : "0";
}

static int is_chosen(void) {
  const char* at = getenv("FAIL_RANKS");
  const size_t size = strlen(rank_text());
  if (at == NULL) return 1;
  for (; at != NULL; at = strchr(at, ',') != NULL ? strchr(at, ',') + 1 : NULL)
    if (strncmp(at, rank_text(), size) == 0 && (at[size] == ',' || at[size] == 0)) return 1;
  return 0;
}

static unsigned long number(const char* name) {
  const char* text = getenv(name);
  return text != NULL ? strtoul(text, NULL, 10) : 0;
}

__attribute__((constructor(101))) static void begin(void) {
  if (!is_chosen()) return;
  fail_at = number("FAIL_AT");
  fail_from = number("FAIL_FROM");
}

__attribute__((destructor)) static void end(void) {
  char path[4096];
  const char* prefix = getenv("FAIL_COUNT");
  if (prefix == NULL) return;
  snprintf(path, sizeof path, "%s.%s", prefix, rank_text());
  FILE* file = fopen(path, "w");
  if (file == NULL) return;
  fprintf(file, "%lu\n", (unsigned long)count);
  fclose(file);
}

static int fails(void) {
  const unsigned long present = atomic_fetch_add(&count, 1) + 1;
  if (present == fail_at) return 1;
  if (fail_from == 0 || present < fail_from) return 0;
  int initialized = 0;
  PMPI_Initialized(&initialized);
  return initialized;
}

static void* none(void) {
  errno = ENOMEM;
  return NULL;
}

void* __wrap_malloc(size_t size) { return fails() ? none() : __real_malloc(size); }
void* __wrap_calloc(size_t count, size_t size) {
  return fails() ? none() : __real_calloc(count, size);
}
void* __wrap_realloc(void* block, size_t size) {
  return fails() ? none() : __real_realloc(block, size);
}
FILE* __wrap_fopencookie(void* cookie, const char* mode, cookie_io_functions_t functions) {
  return fails() ? none() : __real_fopencookie(cookie, mode, functions);
}
int __wrap_pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*),
                          void* given) {
  return fails() ? EAGAIN : __real_pthread_create(thread, attributes, run, given);
}
