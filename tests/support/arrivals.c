// SPDX-License-Identifier: BSD-3-Clause
// A preload that writes down when a rank came to each of the calls below and when it left, on the
// one clock of the node: what a trace says of waiting is held against it. It comes before the
// tracer. Each rank writes $ARRIVALS_DIR/rank.N.txt, a line a call: name, begin and end in ns,
// peer, tag; of messages completed by MPI_Waitall it is for the reader to follow the requests,
// which are numbered in the order of posting. Messages are of MPI_COMM_WORLD. For tests only.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { kMost = 1 << 20 };

struct Line {
  const char* name;
  long long begin, end;
  int peer, tag;
};

static struct Line* lines = NULL;
static int count = 0;

static long long now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static void note(const char* name, long long begin, int peer, int tag) {
  if (lines == NULL) lines = calloc(kMost, sizeof *lines);
  if (lines == NULL || count == kMost) return;
  lines[count++] = (struct Line){name, begin, now(), peer, tag};
}

static void write_lines(int rank) {
  const char* directory = getenv("ARRIVALS_DIR");
  if (directory == NULL) return;
  char path[4096];
  snprintf(path, sizeof path, "%s/rank.%d.txt", directory, rank);
  FILE* file = fopen(path, "w");
  if (file == NULL) {
    perror(path);
    return;
  }
  for (int i = 0; i < count; ++i)
    fprintf(file, "%s %lld %lld %d %d\n", lines[i].name, lines[i].begin, lines[i].end,
            lines[i].peer, lines[i].tag);
  fclose(file);
}

// The function of this name that comes next: the tracer's, or MPI's.
#define ARRIVALS_CALL(name, peer, tag, parameters, arguments)          \
  int MPI_##name parameters {                                          \
    static int(*next) parameters = NULL;                               \
    if (next == NULL) *(void**)&next = dlsym(RTLD_NEXT, "MPI_" #name); \
    const long long begin = now();                                     \
    const int code = next arguments;                                   \
    note(#name, begin, peer, tag);                                     \
    return code;                                                       \
  }

ARRIVALS_CALL(Send, dest, tag,
              (const void* data, int n, MPI_Datatype type, int dest, int tag, MPI_Comm comm),
              (data, n, type, dest, tag, comm))
ARRIVALS_CALL(Recv, source, tag,
              (void* data, int n, MPI_Datatype type, int source, int tag, MPI_Comm comm,
               MPI_Status* status),
              (data, n, type, source, tag, comm, status))
ARRIVALS_CALL(Isend, dest, tag,
              (const void* data, int n, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
               MPI_Request* request),
              (data, n, type, dest, tag, comm, request))
ARRIVALS_CALL(Irecv, source, tag,
              (void* data, int n, MPI_Datatype type, int source, int tag, MPI_Comm comm,
               MPI_Request* request),
              (data, n, type, source, tag, comm, request))
ARRIVALS_CALL(Waitall, n, 0, (int n, MPI_Request requests[], MPI_Status statuses[]),
              (n, requests, statuses))
ARRIVALS_CALL(Barrier, -1, 0, (MPI_Comm comm), (comm))
ARRIVALS_CALL(Allreduce, -1, 0,
              (const void* in, void* out, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
              (in, out, n, type, op, comm))
ARRIVALS_CALL(Reduce, root, 0,
              (const void* in, void* out, int n, MPI_Datatype type, MPI_Op op, int root,
               MPI_Comm comm),
              (in, out, n, type, op, root, comm))
ARRIVALS_CALL(Bcast, root, 0, (void* data, int n, MPI_Datatype type, int root, MPI_Comm comm),
              (data, n, type, root, comm))

int MPI_Finalize(void) {
  int rank = 0;
  int (*next)(void) = NULL;
  *(void**)&next = dlsym(RTLD_NEXT, "MPI_Finalize");
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  write_lines(rank);
  return next();
}
