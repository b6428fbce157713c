/* SPDX-License-Identifier: BSD-3-Clause */
/* Handles that are none, or of another kind, with an error handler of the program: it is called
 * once for each call that fails, and never for what else looks at the handle. */
#include "conformance.h"

static int rank, size, left, right, handled;
static MPI_Request request;
static MPI_Status status;

static void count(MPI_Comm* comm, int* code, ...) {
  (void)comm, (void)code;
  ++handled;
}

#define ONCE(call, error_class) \
  do {                          \
    handled = 0;                \
    FAILS(call, error_class);   \
    CHECK(handled == 1);        \
  } while (0)

/* Handles of other kinds. */
#define NO_COMM ((MPI_Comm)MPI_INT)
#define NO_TYPE ((MPI_Datatype)MPI_COMM_WORLD)
#define NO_OP ((MPI_Op)MPI_COMM_WORLD)
#define NO_GROUP ((MPI_Group)MPI_COMM_WORLD)
#define NO_REQUEST ((MPI_Request)MPI_COMM_WORLD)

static void communicators(void) {
  int out = 0, in[64], ones[64], flag = 0;
  MPI_Comm made, none = NO_COMM;
  for (int i = 0; i < 64; ++i) ones[i] = 1;
  ONCE(MPI_Send(&out, 1, MPI_INT, right, 1, NO_COMM), MPI_ERR_COMM);
  ONCE(MPI_Recv(in, 1, MPI_INT, left, 1, NO_COMM, MPI_STATUS_IGNORE), MPI_ERR_COMM);
  ONCE(MPI_Isend(&out, 1, MPI_INT, right, 1, NO_COMM, &request), MPI_ERR_COMM);
  ONCE(MPI_Send_init(&out, 1, MPI_INT, right, 1, NO_COMM, &request), MPI_ERR_COMM);
  ONCE(MPI_Sendrecv(&out, 1, MPI_INT, right, 1, in, 1, MPI_INT, left, 1, NO_COMM, &status),
       MPI_ERR_COMM);
  ONCE(MPI_Iprobe(left, 1, NO_COMM, &flag, &status), MPI_ERR_COMM);
  ONCE(MPI_Barrier(NO_COMM), MPI_ERR_COMM);
  ONCE(MPI_Ibarrier(NO_COMM, &request), MPI_ERR_COMM);
  ONCE(MPI_Allreduce(&out, in, 1, MPI_INT, MPI_SUM, NO_COMM), MPI_ERR_COMM);
  ONCE(MPI_Allgatherv(&out, 1, MPI_INT, in, ones, ones, MPI_INT, NO_COMM), MPI_ERR_COMM);
  ONCE(MPI_Neighbor_alltoallv(in, ones, ones, MPI_INT, in, ones, ones, MPI_INT, NO_COMM),
       MPI_ERR_COMM);
  ONCE(MPI_Comm_dup(NO_COMM, &made), MPI_ERR_COMM);
  ONCE(MPI_Comm_split(NO_COMM, 0, 0, &made), MPI_ERR_COMM);
  ONCE(MPI_Comm_set_name(NO_COMM, "none"), MPI_ERR_COMM);
  ONCE(MPI_Comm_free(&none), MPI_ERR_COMM);
  ONCE(MPI_Barrier(MPI_COMM_NULL), MPI_ERR_COMM);
  ONCE(MPI_Neighbor_alltoallv(in, ones, ones, MPI_INT, in, ones, ones, MPI_INT, MPI_COMM_NULL),
       MPI_ERR_COMM);
  ONCE(MPI_Send(&out, 1, MPI_INT, right, 1, MPI_COMM_NULL), MPI_ERR_COMM);
  ONCE(MPI_Comm_dup(MPI_COMM_NULL, &made), MPI_ERR_COMM);
}

static void others(void) {
  int out = 0, in[64];
  MPI_Datatype made, none = NO_TYPE;
  MPI_Group group, no_group = NO_GROUP;
  MPI_Request nothing = NO_REQUEST;
  MPI_Op no_op = NO_OP;
  ONCE(MPI_Send(&out, 1, NO_TYPE, right, 1, MPI_COMM_WORLD), MPI_ERR_TYPE);
  ONCE(MPI_Recv(in, 1, NO_TYPE, left, 1, MPI_COMM_WORLD, &status), MPI_ERR_TYPE);
  ONCE(MPI_Irecv(in, 1, NO_TYPE, left, 1, MPI_COMM_WORLD, &request), MPI_ERR_TYPE);
  ONCE(MPI_Recv_init(in, 1, NO_TYPE, left, 1, MPI_COMM_WORLD, &request), MPI_ERR_TYPE);
  ONCE(MPI_Sendrecv(&out, 1, MPI_INT, right, 1, in, 1, NO_TYPE, left, 1, MPI_COMM_WORLD, &status),
       MPI_ERR_TYPE);
  ONCE(MPI_Bcast(&out, 1, NO_TYPE, 0, MPI_COMM_WORLD), MPI_ERR_TYPE);
  ONCE(MPI_Recv(in, 1, MPI_DATATYPE_NULL, left, 1, MPI_COMM_WORLD, &status), MPI_ERR_TYPE);
  ONCE(MPI_Allreduce(&out, in, 1, MPI_INT, NO_OP, MPI_COMM_WORLD), MPI_ERR_OP);
  ONCE(MPI_Type_contiguous(2, NO_TYPE, &made), MPI_ERR_TYPE);
  ONCE(MPI_Type_commit(&none), MPI_ERR_TYPE);
  ONCE(MPI_Type_free(&none), MPI_ERR_TYPE);
  ONCE(MPI_Op_free(&no_op), MPI_ERR_OP);
  ONCE(MPI_Group_union(NO_GROUP, NO_GROUP, &group), MPI_ERR_GROUP);
  ONCE(MPI_Group_free(&no_group), MPI_ERR_GROUP);
  ONCE(MPI_Wait(&nothing, &status), MPI_ERR_REQUEST);
  ONCE(MPI_Waitall(1, &nothing, MPI_STATUSES_IGNORE), MPI_ERR_REQUEST);
  ONCE(MPI_Start(&nothing), MPI_ERR_REQUEST);
  ONCE(MPI_Cancel(&nothing), MPI_ERR_REQUEST);
  ONCE(MPI_Recv(in, 1, MPI_INT, left, 1, MPI_COMM_WORLD, NULL), MPI_ERR_ARG);
  ONCE(MPI_Probe(left, 1, MPI_COMM_WORLD, NULL), MPI_ERR_ARG);
}

/* A communicator that was freed: its number stands for nothing, or for the one made next. */
static void gone(void) {
  int out = 0;
  MPI_Comm made, before;
  MPI_Comm_dup(MPI_COMM_WORLD, &made);
  MPI_Barrier(made);
  before = made;
  MPI_Comm_free(&made);
  ONCE(MPI_Send(&out, 1, MPI_INT, right, 1, before), MPI_ERR_COMM);
  ONCE(MPI_Barrier(before), MPI_ERR_COMM);
  MPI_Comm_split(MPI_COMM_WORLD, rank, 0, &made);
  CHECK(MPI_Barrier(made) == MPI_SUCCESS);
  MPI_Comm_free(&made);
}

int main(int argc, char** argv) {
  MPI_Errhandler handler;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  left = (rank + size - 1) % size;
  right = (rank + 1) % size;
  MPI_Comm_create_errhandler(count, &handler);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
  communicators();
  others();
  gone();
  return_errors();
  MPI_Errhandler_free(&handler);
  return conclude("wrong_handles");
}
