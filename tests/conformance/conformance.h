/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CHAMELEON_CONFORMANCE_H
#define CHAMELEON_CONFORMANCE_H

/* What the conformance programs share. Each issues a family of MPI calls, checks every result
 * against what the standard says it must be, and ends with one line that tells how many checks
 * held on all ranks together; a check that does not hold names file and line and ends the job
 * with status 1. The line must be the same in every run: no times, no addresses. */

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Thread_local int conformance_checks;

/* Only where the MPI has what MPI 4 brought. */
#if MPI_VERSION >= 4
#define FOUR(...) __VA_ARGS__
#else
#define FOUR(...)
#endif

#define CHECK(condition)                                                             \
  do {                                                                               \
    ++conformance_checks;                                                            \
    if (!(condition)) {                                                              \
      fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #condition); \
      MPI_Abort(MPI_COMM_WORLD, 1);                                                  \
    }                                                                                \
  } while (0)

/* A call, and what must hold once it is over. The program has `prepare`, and `request` for LATER.
 */
#define NOW(call, ...)            \
  do {                            \
    prepare();                    \
    CHECK((call) == MPI_SUCCESS); \
    CHECK(__VA_ARGS__);           \
  } while (0)
#define LATER(call, ...)                                         \
  do {                                                           \
    prepare();                                                   \
    CHECK((call) == MPI_SUCCESS);                                \
    CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS); \
    CHECK(__VA_ARGS__);                                          \
  } while (0)

/* The call fails, and with an error of this class (MPI_ERR_LASTCODE: any). */
static inline int fails_with(int code, int error_class) {
  int found = MPI_SUCCESS;
  if (code == MPI_SUCCESS) return 0;
  MPI_Error_class(code, &found);
  return error_class == MPI_ERR_LASTCODE || found == error_class;
}

/* Of the classes of errors: in the last line, since the tracer must not change them. */
static _Thread_local unsigned conformance_classes;

/* The same, and the class counts. */
static inline int fails(int code, int error_class) {
  int found = MPI_SUCCESS;
  MPI_Error_class(code, &found);
  conformance_classes = 31 * conformance_classes + (unsigned)found;
  return fails_with(code, error_class);
}
#define FAILS(call, error_class) CHECK(fails(call, error_class))

/* Errors return, also those that belong to no communicator. */
static inline void return_errors(void) {
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
}

/* Rank 0 says the total; then MPI_Finalize. Returns main's status. */
static inline int conclude(const char* name) {
  int rank = 0, total = 0;
  unsigned classes = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Reduce(&conformance_checks, &total, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  MPI_Reduce(&conformance_classes, &classes, 1, MPI_UNSIGNED, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%s: %d checks hold, errors %08x\n", name, total, classes);
  MPI_Finalize();
  return 0;
}

#endif
