/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs a program and appends a line to a file: the largest resident set it had, in KiB, and the
 * processor time it took, in microseconds. `peak FILE PROGRAM ARGS...`; gives its exit status. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const char* library = getenv("PEAK_PRELOAD"); /* for the program alone */
  const pid_t child = fork();
  if (child == 0) {
    if (library != NULL && *library != 0) setenv("LD_PRELOAD", library, 1);
    execv(argv[2], argv + 2);
    _exit(127);
  }
  int status = 0;
  struct rusage usage;
  if (child < 0 || wait4(child, &status, 0, &usage) != child) return 127;
  char line[64];
  const long long cpu = (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000LL +
                        usage.ru_utime.tv_usec + usage.ru_stime.tv_usec;
  const int length = snprintf(line, sizeof line, "%ld %lld\n", usage.ru_maxrss, cpu);
  const int file = open(argv[1], O_WRONLY | O_CREAT | O_APPEND, 0644);
  if (file >= 0 && write(file, line, (size_t)length) == length) close(file);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
