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
      if (conformance_goes_on(__LINE__, #condition)) break;                          \
      fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #condition); \
      MPI_Abort(MPI_COMM_WORLD, 1);                                                  \
    }                                                                                \
  } while (0)

/* CONFORMANCE_ERRORS: what handles errors in place of MPI_ERRORS_RETURN. A program then says which
 * checks do not hold, and goes on.
 *   returns  a function that returns
 *   success  a function that returns, and has made the error none
 *   fatal:N, abort:N  from the Nth FAILS of a rank on, MPI_ERRORS_ARE_FATAL or MPI_ERRORS_ABORT */
static inline const char* conformance_errors(void) {
  const char* kind = getenv("CONFORMANCE_ERRORS");
  return kind != NULL ? kind : "";
}

static inline int conformance_goes_on(int line, const char* condition) {
  if (conformance_errors()[0] == 0) return 0;
  printf("line %d does not hold: %s\n", line, condition);
  fflush(stdout);
  return 1;
}

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

/* Of the classes of errors that a handler was called for. */
static unsigned conformance_heard;

static inline void conformance_hear(int* code) {
  int found = MPI_SUCCESS;
  MPI_Error_class(*code, &found);
  conformance_heard = 31 * conformance_heard + (unsigned)found;
  if (strcmp(conformance_errors(), "success") == 0) *code = MPI_SUCCESS;
}

#define CONFORMANCE_HANDLERS(Kind, Handle)                                                         \
  static void conformance_hear_##Kind(Handle* handle, int* code, ...) {                            \
    (void)handle;                                                                                  \
    conformance_hear(code);                                                                        \
  }                                                                                                \
  static inline int conformance_set_##Kind(Handle handle, MPI_Errhandler handler) {                \
    static MPI_Errhandler own = MPI_ERRHANDLER_NULL;                                               \
    const char* errors = conformance_errors();                                                     \
    if (handler != MPI_ERRORS_RETURN || (strcmp(errors, "returns") && strcmp(errors, "success")))  \
      return MPI_##Kind##_set_errhandler(handle, handler);                                         \
    if (own == MPI_ERRHANDLER_NULL) MPI_##Kind##_create_errhandler(conformance_hear_##Kind, &own); \
    return MPI_##Kind##_set_errhandler(handle, own);                                               \
  }
CONFORMANCE_HANDLERS(Comm, MPI_Comm)
CONFORMANCE_HANDLERS(Win, MPI_Win)
CONFORMANCE_HANDLERS(File, MPI_File)
#define MPI_Comm_set_errhandler(comm, handler) conformance_set_Comm(comm, handler)
#define MPI_Win_set_errhandler(win, handler) conformance_set_Win(win, handler)
#define MPI_File_set_errhandler(file, handler) conformance_set_File(file, handler)

/* Before a call that is to fail. */
static _Thread_local int conformance_failing;
static inline void conformance_expect(void) {
  const char* errors = conformance_errors();
  ++conformance_failing;
  if (strncmp(errors, "fatal:", 6) != 0 && strncmp(errors, "abort:", 6) != 0) return;
  if (conformance_failing != atoi(errors + 6)) return;
  MPI_Errhandler handler = MPI_ERRORS_ARE_FATAL;
  FOUR(if (errors[0] == 'a') handler = MPI_ERRORS_ABORT;)
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
}

/* The same, and the class counts. */
static inline int fails(int code, int error_class) {
  int found = MPI_SUCCESS;
  MPI_Error_class(code, &found);
  conformance_classes = 31 * conformance_classes + (unsigned)found;
  return fails_with(code, error_class);
}
#define FAILS(call, error_class) CHECK((conformance_expect(), fails(call, error_class)))

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
  if (conformance_errors()[0] != 0) {
    unsigned heard = 0;
    MPI_Reduce(&conformance_heard, &heard, 1, MPI_UNSIGNED, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
      printf("%s: %d calls fail, handlers heard %08x\n", name, conformance_failing, heard);
  }
  MPI_Finalize();
  return 0;
}

#endif
