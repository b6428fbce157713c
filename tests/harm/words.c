/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints its arguments and its name as the kernel knows it, or with `--preload` its LD_PRELOAD.
   Linked with MPI, which it does not start. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char** argv) {
  if (argc == 2 && strcmp(argv[1], "--preload") == 0) {
    const char* preload = getenv("LD_PRELOAD");
    return puts(preload == NULL ? "" : preload) < 0;
  }
  FILE* file = fopen("/proc/self/comm", "r");
  char name[32] = "?";
  int flag = 0;
  if (file == NULL || fscanf(file, "%31s", name) != 1) return 1;
  fclose(file);
  MPI_Initialized(&flag);
  printf("%s", name);
  for (int i = 1; i < argc; ++i) printf("|%s", argv[i]);
  puts("|");
  return flag;
}
