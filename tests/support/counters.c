// SPDX-License-Identifier: BSD-3-Clause
// A preload that gives the tracer counters where the machine has none: in place of instructions the
// kernel counts the time that the thread runs, and the folder of RAPL's counters is POWERCAP. With
// COUNTERS=none counting is not permitted. For tests only, never installed.

#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static const char folder[] = "/sys/class/powercap";

static int is_none(void) {
  const char* which = getenv("COUNTERS");
  return which != NULL && strcmp(which, "none") == 0;
}

/// The path of a counter in the folder that stands for the kernel's.
static const char* moved(const char* path, char* other, size_t size) {
  const char* given = getenv("POWERCAP");
  const size_t length = sizeof folder - 1;
  if (given == NULL || strncmp(path, folder, length) != 0) return path;
  snprintf(other, size, "%s%s", given, path + length);
  return other;
}

long syscall(long number, ...) {
  static long (*next)(long, ...) = NULL;
  if (next == NULL) *(void**)&next = dlsym(RTLD_NEXT, "syscall");
  va_list list;
  long words[6];
  va_start(list, number);
  for (int i = 0; i < 6; ++i) words[i] = va_arg(list, long);
  va_end(list);
  if (number == SYS_perf_event_open) {
    struct perf_event_attr* attributes = (struct perf_event_attr*)words[0];
    if (is_none()) return errno = EPERM, -1;
    attributes->type = PERF_TYPE_SOFTWARE;
    attributes->config = PERF_COUNT_SW_TASK_CLOCK;
  }
  return next(number, words[0], words[1], words[2], words[3], words[4], words[5]);
}

int open(const char* path, int flags, ...) {
  static int (*next)(const char*, int, ...) = NULL;
  if (next == NULL) *(void**)&next = dlsym(RTLD_NEXT, "open");
  va_list list;
  va_start(list, flags);
  const mode_t mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(list, mode_t) : 0;
  va_end(list);
  char other[4096];
  return next(moved(path, other, sizeof other), flags, mode);
}

DIR* opendir(const char* path) {
  static DIR* (*next)(const char*) = NULL;
  if (next == NULL) *(void**)&next = dlsym(RTLD_NEXT, "opendir");
  char other[4096];
  return next(moved(path, other, sizeof other));
}
