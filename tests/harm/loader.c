// SPDX-License-Identifier: BSD-3-Clause
// loader WAY FILE...: a program without MPI that loads it while it runs, in a scope of its own, as
// interpreters do. `plugin`: each FILE is a library that is linked with MPI (plugin.c), and runs
// before the next is loaded; `direct`: FILE is the MPI library itself, and its functions are looked
// up by name. `plugin-deep` and `direct-deep`: FILE is loaded with RTLD_DEEPBIND, so that it finds
// its own libraries' functions before all others.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static void* find(void* library, const char* name) {
  void* found = dlsym(library, name);
  if (found == NULL) fprintf(stderr, "%s\n", dlerror());
  return found;
}

static int run_plugin(const char* path, int deep) {
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL | deep);
  if (library == NULL) return fprintf(stderr, "%s\n", dlerror()), 2;
  int (*run)(void) = (int (*)(void))find(library, "run");
  return run == NULL ? 2 : run();
}

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const int deep = strstr(argv[1], "-deep") != NULL ? RTLD_DEEPBIND : 0;
  if (strncmp(argv[1], "plugin", 6) == 0) {
    int status = 0;
    for (int i = 2; i < argc; ++i) status = run_plugin(argv[i], deep);
    return status;
  }
  void* library = dlopen(argv[2], RTLD_LAZY | RTLD_LOCAL | deep);
  if (library == NULL) return fprintf(stderr, "%s\n", dlerror()), 2;
  int (*init)(int*, char***) = (int (*)(int*, char***))find(library, "MPI_Init");
  int (*is_initialized)(int*) = (int (*)(int*))find(library, "MPI_Initialized");
  int (*finalize)(void) = (int (*)(void))find(library, "MPI_Finalize");
  if (init == NULL || is_initialized == NULL || finalize == NULL) return 2;
  int flag = 0;
  init(NULL, NULL);
  is_initialized(&flag);
  finalize();
  printf("initialized %d\n", flag);
  return 0;
}
