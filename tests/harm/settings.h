// SPDX-License-Identifier: BSD-3-Clause
// In what circumstances a program of this folder does its work: HARM_SETTING in the environment,
// one of `usual`, `traps`, `fiber`, `thread`, `descriptors`, `locale`, `handler`.
#pragma once

#include <mpi.h>
#include <pthread.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "state.h"

#ifndef HARM_STACK
#define HARM_STACK (24 << 10)  // what MPI itself and the programs here take is less than half of it
#endif

static int is_setting(const char* name) {
  const char* setting = getenv("HARM_SETTING");
  return setting != NULL && strcmp(setting, name) == 0;
}

/// A file of the program's own, which takes the lowest number that is free.
static char own_path[256];

static int open_own_file(void) {
  const char* rank = getenv("PMI_RANK");
  snprintf(own_path, sizeof own_path, "own.%s", rank == NULL ? "0" : rank);
  const int file = open(own_path, O_CREAT | O_TRUNC | O_RDWR, 0644);
  if (write(file, "own\n", 4) != 4) abort();
  return file;
}

static void before_init(void) {
  if (is_setting("locale") && setlocale(LC_ALL, "harm") == NULL) puts("no locale");
  if (!is_setting("descriptors")) return;
  close(0);
  close(2);
  const int own_file = open_own_file();  // gets 0
  if (dup2(own_file, 2) != 2) abort();
  close(own_file);
}

static int errors_handled;
static void handle_error(MPI_Comm* comm, int* code, ...) {
  (void)comm;
  ++errors_handled;
  *code = MPI_SUCCESS;
}

/// Errors that an error handler takes for successes. It is called as often as without the tracer.
static void fail_quietly(void) {
  MPI_Errhandler handler, was;
  int size = 0, value = 0, flag = 0, same = 0;
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Status status;
  MPI_Comm_create_errhandler(handle_error, &handler);
  MPI_Comm_get_errhandler(MPI_COMM_WORLD, &was);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Send(&value, 1, MPI_INT, size + 5, 0, MPI_COMM_WORLD);
  MPI_Send(&value, 1, MPI_DATATYPE_NULL, 0, 0, MPI_COMM_WORLD);
  MPI_Recv(&value, -1, MPI_INT, 0, 0, MPI_COMM_WORLD, &status);
  MPI_Isend(&value, 1, MPI_INT, size + 7, 0, MPI_COMM_WORLD, &request);
  MPI_Iprobe(size + 3, 0, MPI_COMM_WORLD, &flag, &status);
  MPI_Comm_rank(MPI_COMM_NULL, &same);
  MPI_Barrier(MPI_COMM_NULL);
  MPI_Bcast(&value, 1, MPI_INT, size + 1, MPI_COMM_WORLD);
  MPI_Comm_dup(MPI_COMM_NULL, &comm);
  MPI_Comm_split(MPI_COMM_NULL, 0, 0, &comm);
  MPI_Type_size(MPI_DATATYPE_NULL, &same);
  MPI_Wait(&request, &status);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, was);
  MPI_Errhandler_free(&handler);
  printf("errors handled: %d\n", errors_handled);
}

static void after_init(void) {
  if (is_setting("handler")) fail_quietly();
  if (is_setting("descriptors")) {
    // What a program closes that never opened it; its next file gets the number.
    for (int number = 3; number < 1024; ++number) {
      char link[64], target[4096] = "";
      snprintf(link, sizeof link, "/proc/self/fd/%d", number);
      if (readlink(link, target, sizeof target - 1) < 0) continue;
      if (strstr(target, ".cham") == NULL && strstr(target, ".raw") == NULL) continue;
      close(number);
      if (dup2(2, number) < 0) abort();
    }
  }
  note_state("initialized");
#if defined(__x86_64__)
  if (is_setting("traps")) {
    feclearexcept(FE_ALL_EXCEPT);
    feenableexcept(FE_ALL_EXCEPT);
  }
#endif
}

static void before_finalize(void) {
  note_state("worked");
#if defined(__x86_64__)
  if (is_setting("traps")) fedisableexcept(FE_INEXACT);  // MPI_Finalize raises it
#endif
}

static void after_end(void) {
  note_state("finalized");
  if (!is_setting("descriptors")) return;
  char text[64] = "";
  const int file = open(own_path, O_RDONLY);
  const ssize_t size = read(file, text, sizeof text - 1);
  close(file);
  printf("own file: %d bytes, %s", (int)size, text);
}

static void (*harm_work)(void);
static ucontext_t harm_back, harm_own;

static void on_fiber(void) {
  harm_work();
  swapcontext(&harm_own, &harm_back);
}

static void* on_thread(void* unused) {
  harm_work();
  return unused;
}

/// Runs work() on a stack as the setting says. On a fiber nothing below its stack is touched.
static void do_work(void (*work)(void)) {
  enum { kFence = 1 << 20, kMark = 0xC3 };
  harm_work = work;
  if (is_setting("thread")) {
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, HARM_STACK);
    if (pthread_create(&thread, &attributes, on_thread, NULL) != 0) abort();
    pthread_join(thread, NULL);
    pthread_attr_destroy(&attributes);
  } else if (is_setting("fiber")) {
    unsigned char* fence = malloc(kFence + HARM_STACK);
    memset(fence, kMark, kFence + HARM_STACK);
    getcontext(&harm_own);
    harm_own.uc_stack.ss_sp = fence + kFence;
    harm_own.uc_stack.ss_size = HARM_STACK;
    harm_own.uc_link = &harm_back;
    makecontext(&harm_own, on_fiber, 0);
    swapcontext(&harm_back, &harm_own);
    size_t at = 0;
    while (at < kFence + HARM_STACK && fence[at] == kMark) ++at;
    if (at < kFence) printf("%d bytes below the stack\n", (int)(kFence - at));
    const char* shown = getenv("HARM_USED");
    if (shown != NULL) fprintf(stderr, "used: %d\n", (int)(kFence + HARM_STACK - at));
    free(fence);
  } else {
    work();
  }
}
