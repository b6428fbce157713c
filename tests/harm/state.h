// SPDX-License-Identifier: BSD-3-Clause
// What a process is for itself: note_state(POINT) adds it to the file HARM_STATE.RANK, if the
// environment names HARM_STATE. The same program writes the same traced and untraced, but for what
// is the tracer's, which test_state.py knows: the lines are sorted and of one kind each.
#pragma once

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fenv.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

extern char** environ;

/// The calling thread's rounding, traps and raised exceptions, of both units.
struct harm_floats {
  unsigned sse;
  unsigned short control, status;
};

static struct harm_floats harm_floats_now(void) {
  struct harm_floats now = {0, 0, 0};
#if defined(__x86_64__)
  now.sse = __builtin_ia32_stmxcsr();
  __asm__ volatile("fnstcw %0" : "=m"(now.control));
  __asm__ volatile("fnstsw %0" : "=m"(now.status));
  now.status &= 0x3f;
#else
  now.sse = (unsigned)fegetround();
  now.status = (unsigned short)fetestexcept(FE_ALL_EXCEPT);
#endif
  return now;
}

static void harm_descriptors(FILE* out) {
  DIR* list = opendir("/proc/self/fd");
  if (list == NULL) return;
  for (struct dirent* entry; (entry = readdir(list)) != NULL;) {
    char path[64], target[4096] = "";
    const int number = atoi(entry->d_name);
    if (entry->d_name[0] == '.' || number == dirfd(list) || number == fileno(out)) continue;
    snprintf(path, sizeof path, "/proc/self/fd/%d", number);
    if (readlink(path, target, sizeof target - 1) < 0) continue;
    const int flags = fcntl(number, F_GETFD);
    fprintf(out, "descriptor %d %s%s\n", number, target, flags & FD_CLOEXEC ? " cloexec" : "");
  }
  closedir(list);
}

static void harm_signals(FILE* out) {
  sigset_t mask;
  sigprocmask(SIG_BLOCK, NULL, &mask);
  for (int number = 1; number < 65; ++number) {
    struct sigaction action;
    if (sigaction(number, NULL, &action) != 0) continue;
    const char* what = action.sa_handler == SIG_DFL   ? "default"
                       : action.sa_handler == SIG_IGN ? "ignored"
                                                      : "handled";
    fprintf(out, "signal %d %s %x%s\n", number, what, (unsigned)action.sa_flags & 0xffffffU,
            sigismember(&mask, number) ? " blocked" : "");
  }
}

static void note_state(const char* point) {
  const int error = errno;
  const struct harm_floats floats = harm_floats_now();
  fenv_t environment;
  feholdexcept(&environment);
  const char* stem = getenv("HARM_STATE");
  const char* rank = getenv("PMI_RANK");
  if (rank == NULL) rank = getenv("OMPI_COMM_WORLD_RANK");
  char path[4096];
  snprintf(path, sizeof path, "%s.%s", stem == NULL ? "" : stem, rank == NULL ? "0" : rank);
  FILE* out = stem == NULL ? NULL : fopen(path, "ae");
  if (out != NULL) {
    fprintf(out, "point %s\n", point);
    fprintf(out, "errno %d\n", error);
    fprintf(out, "floats %x %x %x\n", floats.sse, floats.control, floats.status);
    harm_descriptors(out);
    harm_signals(out);
    DIR* tasks = opendir("/proc/self/task");
    int threads = 0;
    for (struct dirent* entry; tasks != NULL && (entry = readdir(tasks)) != NULL;)
      threads += entry->d_name[0] != '.';
    if (tasks != NULL) closedir(tasks);
    fprintf(out, "threads %d\n", threads);
    for (char** entry = environ; *entry != NULL; ++entry) fprintf(out, "variable %s\n", *entry);
    char folder[4096] = "";
    fprintf(out, "folder %s\n", getcwd(folder, sizeof folder) == NULL ? "none" : folder);
    const mode_t mask = umask(0);
    umask(mask);
    struct itimerval timer;
    struct rlimit files, stack;
    getitimer(ITIMER_REAL, &timer);
    getrlimit(RLIMIT_NOFILE, &files);
    getrlimit(RLIMIT_STACK, &stack);
    fprintf(out, "others %o %ld %ld %ld %s\n", (unsigned)mask,
            (long)(timer.it_value.tv_sec + timer.it_value.tv_usec), (long)files.rlim_cur,
            (long)stack.rlim_cur, setlocale(LC_ALL, NULL));
    fclose(out);
  }
  fesetenv(&environment);
  errno = error;
}
