/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages and requests with wrong arguments: every call of the family with each class of error
 * that it can return. Nothing is sent or received by a call that fails, and the program goes on. */
#include "conformance.h"

enum { kRoom = 64 };
static int rank, size, left, right, most;
static int out[8], in[8];
static MPI_Datatype raw; /* not committed */
static MPI_Request request;
static MPI_Status status;

/* What all sends, or with a tag of less than zero allowed, all receives have to say no to. */
#define WRONG_ENVELOPES(call, ...)                                                              \
  do {                                                                                          \
    FAILS(call(out, -1, MPI_INT, right, 1, MPI_COMM_WORLD __VA_ARGS__), MPI_ERR_COUNT);         \
    FAILS(call(out, 1, MPI_DATATYPE_NULL, right, 1, MPI_COMM_WORLD __VA_ARGS__), MPI_ERR_TYPE); \
    FAILS(call(out, 1, raw, right, 1, MPI_COMM_WORLD __VA_ARGS__), MPI_ERR_TYPE);               \
    FAILS(call(out, 1, MPI_INT, size, 1, MPI_COMM_WORLD __VA_ARGS__), MPI_ERR_RANK);            \
    FAILS(call(out, 1, MPI_INT, -7, 1, MPI_COMM_WORLD __VA_ARGS__), MPI_ERR_RANK);              \
    FAILS(call(out, 1, MPI_INT, right, -5, MPI_COMM_WORLD __VA_ARGS__), MPI_ERR_TAG);           \
    if (most < 0x7fffffff)                                                                      \
      FAILS(call(out, 1, MPI_INT, right, most + 1, MPI_COMM_WORLD __VA_ARGS__), MPI_ERR_TAG);   \
    FAILS(call(out, 1, MPI_INT, right, 1, MPI_COMM_NULL __VA_ARGS__), MPI_ERR_COMM);            \
    FAILS(call(NULL, 1, MPI_INT, right, 1, MPI_COMM_WORLD __VA_ARGS__), MPI_ERR_BUFFER);        \
  } while (0)
#define COMMA_REQUEST , &request
#define COMMA_STATUS , &status

static void sends(void) {
  WRONG_ENVELOPES(MPI_Send);
  WRONG_ENVELOPES(MPI_Bsend);
  WRONG_ENVELOPES(MPI_Ssend);
  WRONG_ENVELOPES(MPI_Rsend);
  WRONG_ENVELOPES(MPI_Isend, COMMA_REQUEST);
  WRONG_ENVELOPES(MPI_Ibsend, COMMA_REQUEST);
  WRONG_ENVELOPES(MPI_Issend, COMMA_REQUEST);
  WRONG_ENVELOPES(MPI_Irsend, COMMA_REQUEST);
  WRONG_ENVELOPES(MPI_Send_init, COMMA_REQUEST);
  WRONG_ENVELOPES(MPI_Bsend_init, COMMA_REQUEST);
  WRONG_ENVELOPES(MPI_Ssend_init, COMMA_REQUEST);
  WRONG_ENVELOPES(MPI_Rsend_init, COMMA_REQUEST);
  FOUR(WRONG_ENVELOPES(MPI_Send_c);)
  FOUR(WRONG_ENVELOPES(MPI_Isend_c, COMMA_REQUEST);)
  FOUR(WRONG_ENVELOPES(MPI_Send_init_c, COMMA_REQUEST);)
}

static void receives(void) {
  WRONG_ENVELOPES(MPI_Recv, COMMA_STATUS);
  WRONG_ENVELOPES(MPI_Irecv, COMMA_REQUEST);
  WRONG_ENVELOPES(MPI_Recv_init, COMMA_REQUEST);
  FOUR(WRONG_ENVELOPES(MPI_Recv_c, COMMA_STATUS);)
  FOUR(WRONG_ENVELOPES(MPI_Irecv_c, COMMA_REQUEST);)
  FAILS(MPI_Recv(in, 1, MPI_INT, size, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE),
        MPI_ERR_RANK);
}

/* Two halves, each of which may be wrong. */
static void both(void) {
#define SENDRECV(count, type, to, tag, room, room_type, from, other, comm) \
  MPI_Sendrecv(out, count, type, to, tag, in, room, room_type, from, other, comm, &status)
  FAILS(SENDRECV(-1, MPI_INT, right, 1, 1, MPI_INT, left, 1, MPI_COMM_WORLD), MPI_ERR_COUNT);
  FAILS(SENDRECV(1, MPI_INT, right, 1, -1, MPI_INT, left, 1, MPI_COMM_WORLD), MPI_ERR_COUNT);
  FAILS(SENDRECV(1, raw, right, 1, 1, MPI_INT, left, 1, MPI_COMM_WORLD), MPI_ERR_TYPE);
  FAILS(SENDRECV(1, MPI_INT, right, 1, 1, MPI_DATATYPE_NULL, left, 1, MPI_COMM_WORLD),
        MPI_ERR_TYPE);
  FAILS(SENDRECV(1, MPI_INT, size, 1, 1, MPI_INT, left, 1, MPI_COMM_WORLD), MPI_ERR_RANK);
  FAILS(SENDRECV(1, MPI_INT, right, 1, 1, MPI_INT, size, 1, MPI_COMM_WORLD), MPI_ERR_RANK);
  FAILS(SENDRECV(1, MPI_INT, right, -3, 1, MPI_INT, left, 1, MPI_COMM_WORLD), MPI_ERR_TAG);
  FAILS(SENDRECV(1, MPI_INT, right, 1, 1, MPI_INT, left, -3, MPI_COMM_WORLD), MPI_ERR_TAG);
  FAILS(SENDRECV(1, MPI_INT, right, 1, 1, MPI_INT, left, 1, MPI_COMM_NULL), MPI_ERR_COMM);
#undef SENDRECV
#define REPLACE(count, type, to, tag, from, other, comm) \
  MPI_Sendrecv_replace(out, count, type, to, tag, from, other, comm, &status)
  FAILS(REPLACE(-1, MPI_INT, right, 1, left, 1, MPI_COMM_WORLD), MPI_ERR_COUNT);
  FAILS(REPLACE(1, MPI_DATATYPE_NULL, right, 1, left, 1, MPI_COMM_WORLD), MPI_ERR_TYPE);
  FAILS(REPLACE(1, MPI_INT, size, 1, left, 1, MPI_COMM_WORLD), MPI_ERR_RANK);
  FAILS(REPLACE(1, MPI_INT, right, 1, size, 1, MPI_COMM_WORLD), MPI_ERR_RANK);
  FAILS(REPLACE(1, MPI_INT, right, -3, left, 1, MPI_COMM_WORLD), MPI_ERR_TAG);
  FAILS(REPLACE(1, MPI_INT, right, 1, left, -3, MPI_COMM_WORLD), MPI_ERR_TAG);
  FAILS(REPLACE(1, MPI_INT, right, 1, left, 1, MPI_COMM_NULL), MPI_ERR_COMM);
#undef REPLACE
#if MPI_VERSION >= 4
  FAILS(
      MPI_Isendrecv(out, -1, MPI_INT, right, 1, in, 1, MPI_INT, left, 1, MPI_COMM_WORLD, &request),
      MPI_ERR_COUNT);
  FAILS(MPI_Isendrecv(out, 1, MPI_INT, size, 1, in, 1, MPI_INT, left, 1, MPI_COMM_WORLD, &request),
        MPI_ERR_RANK);
  FAILS(MPI_Isendrecv(out, 1, MPI_INT, right, 1, in, 1, raw, left, 1, MPI_COMM_WORLD, &request),
        MPI_ERR_TYPE);
  FAILS(MPI_Isendrecv_replace(out, 1, MPI_INT, right, -3, left, 1, MPI_COMM_WORLD, &request),
        MPI_ERR_TAG);
  FAILS(MPI_Isendrecv_replace(out, 1, MPI_INT, right, 1, left, 1, MPI_COMM_NULL, &request),
        MPI_ERR_COMM);
#endif
}

static void probes(void) {
  int flag = 7;
  MPI_Message message = MPI_MESSAGE_NULL;
  FAILS(MPI_Probe(size, 1, MPI_COMM_WORLD, &status), MPI_ERR_RANK);
  FAILS(MPI_Probe(left, -5, MPI_COMM_WORLD, &status), MPI_ERR_TAG);
  FAILS(MPI_Probe(left, 1, MPI_COMM_NULL, MPI_STATUS_IGNORE), MPI_ERR_COMM);
  FAILS(MPI_Iprobe(size, 1, MPI_COMM_WORLD, &flag, &status), MPI_ERR_RANK);
  FAILS(MPI_Iprobe(left, -5, MPI_COMM_WORLD, &flag, &status), MPI_ERR_TAG);
  FAILS(MPI_Iprobe(left, 1, MPI_COMM_NULL, &flag, MPI_STATUS_IGNORE), MPI_ERR_COMM);
  FAILS(MPI_Mprobe(size, 1, MPI_COMM_WORLD, &message, &status), MPI_ERR_RANK);
  FAILS(MPI_Mprobe(left, -5, MPI_COMM_WORLD, &message, &status), MPI_ERR_TAG);
  FAILS(MPI_Mprobe(left, 1, MPI_COMM_NULL, &message, &status), MPI_ERR_COMM);
  FAILS(MPI_Improbe(size, 1, MPI_COMM_WORLD, &flag, &message, &status), MPI_ERR_RANK);
  FAILS(MPI_Improbe(left, -5, MPI_COMM_WORLD, &flag, &message, &status), MPI_ERR_TAG);
  FAILS(MPI_Improbe(left, 1, MPI_COMM_NULL, &flag, &message, &status), MPI_ERR_COMM);
  CHECK(flag == 7);
  FAILS(MPI_Mrecv(in, 1, MPI_INT, &message, &status), MPI_ERR_REQUEST);
  FAILS(MPI_Imrecv(in, 1, MPI_INT, &message, &request), MPI_ERR_REQUEST);
  /* A message that is there is left to those who ask rightly. */
  MPI_Isend(out, 1, MPI_INT, right, 8, MPI_COMM_WORLD, &request);
  MPI_Mprobe(left, 8, MPI_COMM_WORLD, &message, &status);
  FAILS(MPI_Mrecv(in, -1, MPI_INT, &message, &status), MPI_ERR_COUNT);
  FAILS(MPI_Mrecv(in, 1, MPI_DATATYPE_NULL, &message, &status), MPI_ERR_TYPE);
  FAILS(MPI_Mrecv(in, 1, raw, &message, &status), MPI_ERR_TYPE);
  CHECK(message != MPI_MESSAGE_NULL);
  CHECK(MPI_Mrecv(in, 1, MPI_INT, &message, &status) == MPI_SUCCESS);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void completions(void) {
  int flag = 7, index = 7, count = 7, indices[2];
  MPI_Request all[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  MPI_Status statuses[2];
  MPI_Request strange = (MPI_Request)MPI_COMM_WORLD; /* a handle of another kind */
  FAILS(MPI_Wait(&strange, &status), MPI_ERR_REQUEST);
  FAILS(MPI_Test(&strange, &flag, &status), MPI_ERR_REQUEST);
  FAILS(MPI_Request_free(&strange), MPI_ERR_REQUEST);
  FAILS(MPI_Cancel(&strange), MPI_ERR_REQUEST);
  FAILS(MPI_Request_get_status(strange, &flag, &status), MPI_ERR_REQUEST);
  FAILS(MPI_Start(&strange), MPI_ERR_REQUEST);
  all[1] = strange;
  FAILS(MPI_Waitall(2, all, statuses), MPI_ERR_REQUEST);
  FAILS(MPI_Waitany(2, all, &index, &status), MPI_ERR_REQUEST);
  FAILS(MPI_Waitsome(2, all, &count, indices, statuses), MPI_ERR_REQUEST);
  FAILS(MPI_Testall(2, all, &flag, statuses), MPI_ERR_REQUEST);
  FAILS(MPI_Testany(2, all, &index, &flag, &status), MPI_ERR_REQUEST);
  FAILS(MPI_Testsome(2, all, &count, indices, statuses), MPI_ERR_REQUEST);
  FAILS(MPI_Startall(2, all), MPI_ERR_REQUEST);
  all[1] = MPI_REQUEST_NULL;
  FAILS(MPI_Waitall(-1, all, statuses), MPI_ERR_COUNT);
  FAILS(MPI_Waitany(-1, all, &index, &status), MPI_ERR_COUNT);
  FAILS(MPI_Waitsome(-1, all, &count, indices, statuses), MPI_ERR_COUNT);
  FAILS(MPI_Testall(-1, all, &flag, statuses), MPI_ERR_COUNT);
  FAILS(MPI_Testany(-1, all, &index, &flag, &status), MPI_ERR_COUNT);
  FAILS(MPI_Testsome(-1, all, &count, indices, statuses), MPI_ERR_COUNT);
  FAILS(MPI_Startall(-1, all), MPI_ERR_COUNT);
  FAILS(MPI_Waitall(2, NULL, statuses), MPI_ERR_ARG);
  FAILS(MPI_Waitany(2, NULL, &index, &status), MPI_ERR_ARG);
  FAILS(MPI_Waitany(2, all, NULL, &status), MPI_ERR_ARG);
  FAILS(MPI_Waitsome(2, all, NULL, indices, statuses), MPI_ERR_ARG);
  FAILS(MPI_Waitsome(2, all, &count, NULL, statuses), MPI_ERR_ARG);
  FAILS(MPI_Testall(2, NULL, &flag, statuses), MPI_ERR_ARG);
  FAILS(MPI_Testall(2, all, NULL, statuses), MPI_ERR_ARG);
  FAILS(MPI_Testany(2, all, NULL, &flag, &status), MPI_ERR_ARG);
  FAILS(MPI_Testsome(2, all, NULL, indices, statuses), MPI_ERR_ARG);
  FAILS(MPI_Wait(NULL, &status), MPI_ERR_ARG);
  FAILS(MPI_Test(&all[0], NULL, &status), MPI_ERR_ARG);
  FAILS(MPI_Start(NULL), MPI_ERR_ARG);
  FAILS(MPI_Startall(2, NULL), MPI_ERR_ARG);
  FAILS(MPI_Cancel(NULL), MPI_ERR_ARG);
  FAILS(MPI_Isend(out, 1, MPI_INT, right, 1, MPI_COMM_WORLD, NULL), MPI_ERR_ARG);
  FAILS(MPI_Irecv(in, 1, MPI_INT, left, 1, MPI_COMM_WORLD, NULL), MPI_ERR_ARG);
  FAILS(MPI_Recv_init(in, 1, MPI_INT, left, 1, MPI_COMM_WORLD, NULL), MPI_ERR_ARG);
  FAILS(MPI_Iprobe(left, 1, MPI_COMM_WORLD, NULL, &status), MPI_ERR_ARG);
  request = MPI_REQUEST_NULL;
  FAILS(MPI_Request_free(&request), MPI_ERR_REQUEST);
  FAILS(MPI_Cancel(&request), MPI_ERR_REQUEST);
  FAILS(MPI_Start(&request), MPI_ERR_REQUEST);
}

/* Started twice, or never made to be started; partitions that are not there. */
static void starts(void) {
  MPI_Request all[2];
  MPI_Irecv(in, 1, MPI_INT, left, 9, MPI_COMM_WORLD, &request);
  FAILS(MPI_Start(&request), MPI_ERR_REQUEST);
  FAILS(MPI_Grequest_complete(request), MPI_ERR_REQUEST);
  MPI_Send(out, 1, MPI_INT, right, 9, MPI_COMM_WORLD);
  CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS);
  MPI_Recv_init(in, 1, MPI_INT, left, 10, MPI_COMM_WORLD, &all[0]);
  MPI_Send_init(out, 1, MPI_INT, right, 10, MPI_COMM_WORLD, &all[1]);
  MPI_Start(&all[0]);
  FAILS(MPI_Start(&all[0]), MPI_ERR_REQUEST);
  MPI_Start(&all[1]);
  CHECK(MPI_Waitall(2, all, MPI_STATUSES_IGNORE) == MPI_SUCCESS);
  CHECK(MPI_Request_free(&all[0]) == MPI_SUCCESS && MPI_Request_free(&all[1]) == MPI_SUCCESS);
}

#if MPI_VERSION >= 4
static void partitions(void) {
  int arrived = 7;
  int beyond[2] = {0, 2};
  MPI_Request all[2];
#define PSEND(parts, count, type, to, tag, comm, info) \
  MPI_Psend_init(out, parts, count, type, to, tag, comm, info, &request)
  FAILS(PSEND(-1, 1, MPI_INT, right, 1, MPI_COMM_WORLD, MPI_INFO_NULL), MPI_ERR_LASTCODE);
  FAILS(PSEND(2, -1, MPI_INT, right, 1, MPI_COMM_WORLD, MPI_INFO_NULL), MPI_ERR_COUNT);
  FAILS(PSEND(2, 1, MPI_DATATYPE_NULL, right, 1, MPI_COMM_WORLD, MPI_INFO_NULL), MPI_ERR_TYPE);
  FAILS(PSEND(2, 1, MPI_INT, size, 1, MPI_COMM_WORLD, MPI_INFO_NULL), MPI_ERR_RANK);
  FAILS(PSEND(2, 1, MPI_INT, right, -5, MPI_COMM_WORLD, MPI_INFO_NULL), MPI_ERR_TAG);
  FAILS(PSEND(2, 1, MPI_INT, right, 1, MPI_COMM_NULL, MPI_INFO_NULL), MPI_ERR_COMM);
  FAILS(MPI_Precv_init(in, 2, -1, MPI_INT, left, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &request),
        MPI_ERR_COUNT);
  FAILS(MPI_Precv_init(in, 2, 1, MPI_INT, size, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &request),
        MPI_ERR_RANK);
  FAILS(MPI_Precv_init(in, 2, 1, MPI_INT, left, 1, MPI_COMM_NULL, MPI_INFO_NULL, &request),
        MPI_ERR_COMM);
  MPI_Psend_init(out, 2, 1, MPI_INT, right, 11, MPI_COMM_WORLD, MPI_INFO_NULL, &all[0]);
  MPI_Precv_init(in, 2, 1, MPI_INT, left, 11, MPI_COMM_WORLD, MPI_INFO_NULL, &all[1]);
  FAILS(MPI_Pready(0, all[0]), MPI_ERR_LASTCODE); /* not started */
  MPI_Startall(2, all);
  FAILS(MPI_Pready(2, all[0]), MPI_ERR_LASTCODE);
  FAILS(MPI_Pready(-1, all[0]), MPI_ERR_LASTCODE);
  FAILS(MPI_Pready(0, all[1]), MPI_ERR_LASTCODE); /* a receive */
  FAILS(MPI_Pready(0, MPI_REQUEST_NULL), MPI_ERR_REQUEST);
  FAILS(MPI_Pready_range(0, 2, all[0]), MPI_ERR_LASTCODE);
  FAILS(MPI_Pready_list(2, beyond, all[0]), MPI_ERR_LASTCODE);
  FAILS(MPI_Parrived(all[1], 2, &arrived), MPI_ERR_LASTCODE);
  FAILS(MPI_Parrived(all[0], 0, &arrived), MPI_ERR_LASTCODE);
  CHECK(MPI_Pready_range(0, 1, all[0]) == MPI_SUCCESS);
  CHECK(MPI_Waitall(2, all, MPI_STATUSES_IGNORE) == MPI_SUCCESS);
  MPI_Request_free(&all[0]);
  MPI_Request_free(&all[1]);
}
#endif

/* The buffer of buffered sends: none, two, one that is too small. */
static void buffers(void) {
  char room[kRoom + MPI_BSEND_OVERHEAD];
  static const char large[kRoom + 1];
  void* detached = NULL;
  int bytes = 0, count = 0;
  FAILS(MPI_Bsend(out, 1, MPI_INT, right, 12, MPI_COMM_WORLD), MPI_ERR_BUFFER);
  FAILS(MPI_Buffer_attach(room, -1), MPI_ERR_LASTCODE);
  CHECK(MPI_Buffer_attach(room, sizeof room) == MPI_SUCCESS);
  FAILS(MPI_Buffer_attach(room, sizeof room), MPI_ERR_BUFFER);
  FAILS(MPI_Bsend(large, sizeof large + MPI_BSEND_OVERHEAD, MPI_CHAR, right, 12, MPI_COMM_WORLD),
        MPI_ERR_BUFFER);
  CHECK(MPI_Buffer_detach(&detached, &bytes) == MPI_SUCCESS && bytes == (int)sizeof room);
  FAILS(MPI_Get_count(&status, MPI_DATATYPE_NULL, &count), MPI_ERR_TYPE);
  FAILS(MPI_Get_elements(&status, MPI_DATATYPE_NULL, &count), MPI_ERR_TYPE);
}

int main(int argc, char** argv) {
  int found = 0, *bound = NULL;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  left = (rank + size - 1) % size;
  right = (rank + 1) % size;
  return_errors();
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &bound, &found);
  most = *bound;
  MPI_Type_contiguous(2, MPI_INT, &raw);
  sends();
  receives();
  both();
  probes();
  completions();
  starts();
  FOUR(partitions();)
  buffers();
  MPI_Type_free(&raw);
  return conclude("wrong_messages");
}
