// SPDX-License-Identifier: BSD-3-Clause
// A preload that makes ranks look as if on machines whose clocks were never set: the monotonic
// clock of rank r is ahead by r * SKEW_OFFSET_NS and gains r * SKEW_DRIFT_PPM from its first use.
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int64_t variable(const char* name) {
  const char* text = getenv(name);
  return text == NULL ? 0 : strtoll(text, NULL, 10);
}

int clock_gettime(clockid_t clock, struct timespec* time) {
  static int64_t first = 0, offset = 0, ppm = 0;
  const long status = syscall(SYS_clock_gettime, clock, time);
  if (status != 0 || clock != CLOCK_MONOTONIC) return (int)status;
  const int64_t now = (int64_t)time->tv_sec * 1000000000 + time->tv_nsec;
  if (first == 0) {
    // Of MPICH and of Open MPI; the other one is 0.
    const int64_t rank = variable("PMI_RANK") + variable("OMPI_COMM_WORLD_RANK");
    offset = rank * variable("SKEW_OFFSET_NS");
    ppm = rank * variable("SKEW_DRIFT_PPM");
    first = now;
  }
  const int64_t skewed = now + offset + (now - first) * ppm / 1000000;
  time->tv_sec = skewed / 1000000000;
  time->tv_nsec = skewed % 1000000000;
  return 0;
}
