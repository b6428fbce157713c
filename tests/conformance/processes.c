/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes that are not of the world: spawned, met at a port, behind a socket, found by name. Few
 * MPICH builds can do all of it, and Debian's with UCX only names: what each call returns is in
 * the last line, which must be the same with the tracer. A replay has no such processes: it leaves
 * the calls out, and `chameleon check` says so. */

#include "conformance.h"

static int rank;
static char told[512];

/* Notes how a call ended; all ranks take part. */
static int ends(const char* call, int code) {
  int class = MPI_SUCCESS, worst = MPI_SUCCESS;
  if (code != MPI_SUCCESS) MPI_Error_class(code, &class);
  MPI_Allreduce(&class, &worst, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  snprintf(told + strlen(told), sizeof told - strlen(told), " %s %d", call, worst);
  return worst == MPI_SUCCESS;
}

/* Exchanges a value with whoever is there, and parts. */
static void meet(MPI_Comm other) {
  int sent = 1, got = 0;
  MPI_Sendrecv(&sent, 1, MPI_INT, 0, 4, &got, 1, MPI_INT, 0, 4, other, MPI_STATUS_IGNORE);
  CHECK(got == 1);
  MPI_Comm_disconnect(&other);
}

static void spawning(void) {
  MPI_Comm children = MPI_COMM_NULL;
  int codes[2];
  char* arguments[] = {"one", "two", NULL};
  char* programs[] = {"no-such-program", "no-such-program"};
  char** all_arguments[] = {arguments, arguments};
  int most[] = {1, 1};
  MPI_Info infos[] = {MPI_INFO_NULL, MPI_INFO_NULL};
  /* What counts at the root only may be anything elsewhere; not even an end is there. */
  static char unused[8] = "unused!!";
  const char* program = rank == 0 ? "no-such-program" : unused;
  CHECK(!ends("spawn", MPI_Comm_spawn(program, rank == 0 ? arguments : MPI_ARGV_NULL, 2,
                                      MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children, codes)));
  CHECK(!ends("spawn_multiple",
              MPI_Comm_spawn_multiple(2, programs, rank == 0 ? all_arguments : MPI_ARGVS_NULL, most,
                                      infos, 0, MPI_COMM_WORLD, &children, MPI_ERRCODES_IGNORE)));
  MPI_Comm_get_parent(&children);
  CHECK(children == MPI_COMM_NULL);
}

/* The first two ranks meet at a port of the first. */
static void ports(void) {
  char port[MPI_MAX_PORT_NAME] = "a port that nobody opened";
  MPI_Comm other = MPI_COMM_NULL;
  int code = rank == 0 ? MPI_Open_port(MPI_INFO_NULL, port) : MPI_SUCCESS;
  const int opened = ends("open_port", code);
  MPI_Bcast(port, sizeof port, MPI_CHAR, 0, MPI_COMM_WORLD);
  code = MPI_SUCCESS;
  if (rank == 0) code = MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &other);
  if (rank == 1) code = MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &other);
  if (ends("accept_connect", code) && rank < 2) meet(other);
  code = rank == 0 ? MPI_Close_port(port) : MPI_SUCCESS;
  CHECK(ends("close_port", code) == opened);
}

/* Neither end of a socket that has another here; and none at all. */
static void sockets(void) {
  MPI_Comm other = MPI_COMM_NULL;
  CHECK(!ends("join", MPI_Comm_join(-1, &other)));
}

static void names(void) {
  char port[MPI_MAX_PORT_NAME] = "", text[] = "somewhere";
  const char service[] = "chameleon-conformance";
  int found = MPI_SUCCESS, gone = MPI_SUCCESS, code = MPI_SUCCESS;
  if (rank == 0) code = MPI_Publish_name(service, MPI_INFO_NULL, text);
  if (ends("publish", code) && rank == 0) {
    found = MPI_Lookup_name(service, MPI_INFO_NULL, port);
    CHECK(found != MPI_SUCCESS || strcmp(port, text) == 0);
    code = MPI_Unpublish_name(service, MPI_INFO_NULL, text);
    gone = MPI_Lookup_name(service, MPI_INFO_NULL, port);
  }
  ends("lookup", found);
  ends("unpublish", code);
  CHECK(!ends("lookup_again", gone));
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  spawning();
  ports();
  sockets();
  names();
  if (rank == 0) printf("classes:%s\n", told);
  return conclude("processes");
}
