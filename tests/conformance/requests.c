/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests of every kind: persistent, partitioned, generalized, cancelled, matched by probe;
 * wildcards in storms; nothing to wait for; messages to oneself. */
#include "conformance.h"

static int rank, size, left, right;

static void persistent(void) {
  int out[3] = {0}, in[3];
  MPI_Request requests[2];
  MPI_Send_init(out, 3, MPI_INT, right, 1, MPI_COMM_WORLD, &requests[0]);
  MPI_Recv_init(in, 3, MPI_INT, left, 1, MPI_COMM_WORLD, &requests[1]);
  for (int round = 0; round < 4; ++round) {
    for (int i = 0; i < 3; ++i) out[i] = 100 * rank + 10 * round + i;
    if (round % 2 == 0) {
      MPI_Startall(2, requests);
    } else {
      MPI_Start(&requests[1]);
      MPI_Start(&requests[0]);
    }
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    CHECK(in[2] == 100 * left + 10 * round + 2);
  }
  MPI_Request_free(&requests[0]);
  MPI_Request_free(&requests[1]);
  MPI_Recv_init(in, 3, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[0]);
  for (int round = 0; round < 2; ++round) {
    MPI_Status status;
    MPI_Start(&requests[0]);
    MPI_Send(out, 3 - round, MPI_INT, right, 20 + round, MPI_COMM_WORLD);
    MPI_Wait(&requests[0], &status);
    CHECK(status.MPI_SOURCE == left && status.MPI_TAG == 20 + round);
  }
  MPI_Request_free(&requests[0]);
}

#if MPI_VERSION >= 4
static void collectives(void) {
  int value = 0, sum = 0, all[64] = {0};
  MPI_Request requests[4];
  MPI_Bcast_init(&value, 1, MPI_INT, size - 1, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
  MPI_Allreduce_init(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]);
  MPI_Allgather_init(&rank, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD, MPI_INFO_NULL,
                     &requests[2]);
  MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &requests[3]);
  for (int round = 1; round < 4; ++round) {
    if (rank == size - 1) value = 7 * round;
    sum = 0;
    MPI_Startall(4, requests);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    CHECK(value == 7 * round);
    CHECK(sum == size * (size - 1) / 2);
    if (rank > 0) CHECK(all[rank - 1] == rank - 1); /* MPICH 4.0.2 may forget the own block */
  }
  for (int i = 0; i < 4; ++i) MPI_Request_free(&requests[i]);
}
#endif

#if MPI_VERSION >= 4
static void partitioned(void) {
  enum { kParts = 4 };
  double out[2 * kParts] = {0}, in[2 * kParts];
  MPI_Request requests[2];
  int rest[2] = {2, 3};
  MPI_Psend_init(out, kParts, 2, MPI_DOUBLE, right, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
  MPI_Precv_init(in, kParts, 2, MPI_DOUBLE, left, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]);
  for (int round = 0; round < 3; ++round) {
    int arrived = 0;
    for (int i = 0; i < 2 * kParts; ++i) out[i] = 10 * rank + round + 0.125 * i;
    MPI_Startall(2, requests);
    if (round == 0) {
      for (int part = kParts; part-- > 0;) MPI_Pready(part, requests[0]);
    } else {
      MPI_Pready_range(0, 1, requests[0]);
      MPI_Pready_list(2, rest, requests[0]);
    }
    while (!arrived) MPI_Parrived(requests[1], 1, &arrived);
    CHECK(in[3] == 10 * left + round + 0.125 * 3);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    CHECK(in[2 * kParts - 1] == 10 * left + round + 0.125 * (2 * kParts - 1));
  }
  MPI_Request_free(&requests[0]);
  MPI_Request_free(&requests[1]);
}
#endif

static int queries, frees;
static int query(void* state, MPI_Status* status) {
  ++queries;
  MPI_Status_set_elements(status, MPI_INT, *(int*)state);
  MPI_Status_set_cancelled(status, 0);
  status->MPI_SOURCE = MPI_UNDEFINED;
  status->MPI_TAG = MPI_UNDEFINED;
  return MPI_SUCCESS;
}
static int freed(void* state) {
  (void)state;
  ++frees;
  return MPI_SUCCESS;
}
static int cancelled(void* state, int complete) {
  (void)state;
  (void)complete;
  return MPI_SUCCESS;
}

static void generalized(void) {
  int elements = 5, count = 0, done = 1;
  MPI_Request request;
  MPI_Status status;
  MPI_Grequest_start(query, freed, cancelled, &elements, &request);
  MPI_Test(&request, &done, MPI_STATUS_IGNORE);
  CHECK(!done);
  MPI_Grequest_complete(request);
  MPI_Wait(&request, &status);
  MPI_Get_count(&status, MPI_INT, &count);
  CHECK(count == 5 && queries >= 1 && frees == 1 && request == MPI_REQUEST_NULL);
}

static void cancelled_receives(void) {
  int in = 0, flag = 0;
  MPI_Request request;
  MPI_Status status;
  for (int i = 0; i < 3; ++i) {
    MPI_Irecv(&in, 1, MPI_INT, i == 1 ? MPI_ANY_SOURCE : left, 4, MPI_COMM_WORLD, &request);
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &flag);
    CHECK(flag);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

static void matched(void) {
  int in[2] = {0, 0}, flag = 0;
  const int out[2] = {rank, 8 * rank};
  MPI_Message message;
  MPI_Status status;
  MPI_Request sent, received;
  MPI_Isend(out, 2, MPI_INT, right, 6, MPI_COMM_WORLD, &sent);
  MPI_Mprobe(MPI_ANY_SOURCE, 6, MPI_COMM_WORLD, &message, &status);
  CHECK(status.MPI_SOURCE == left);
  MPI_Mrecv(in, 2, MPI_INT, &message, &status);
  CHECK(in[1] == 8 * left && message == MPI_MESSAGE_NULL);
  MPI_Wait(&sent, MPI_STATUS_IGNORE);
  MPI_Isend(out, 2, MPI_INT, right, 7, MPI_COMM_WORLD, &sent);
  while (!flag) MPI_Improbe(left, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &message, &status);
  CHECK(status.MPI_TAG == 7);
#if MPI_VERSION >= 4
  MPI_Imrecv_c(in, 2, MPI_INT, &message, &received);
#else
  MPI_Imrecv(in, 2, MPI_INT, &message, &received);
#endif
  MPI_Wait(&received, &status);
  CHECK(in[0] == left);
  MPI_Wait(&sent, MPI_STATUS_IGNORE);
  MPI_Mprobe(MPI_PROC_NULL, 0, MPI_COMM_WORLD, &message, &status);
  CHECK(message == MPI_MESSAGE_NO_PROC);
  MPI_Mrecv(in, 2, MPI_INT, &message, &status);
  CHECK(status.MPI_SOURCE == MPI_PROC_NULL);
}

/* Everybody sends to everybody; who takes what is left to chance. */
static void storm(void) {
  enum { kEach = 6 };
  MPI_Request requests[16 * kEach];
  int values[16 * kEach], out[16 * kEach], n = 0, total = 0, left_over = 0;
  MPI_Status status, statuses[16 * kEach];
  if (size > 16) return;
  for (int i = 0; i < kEach; ++i)
    for (int to = 0; to < size; ++to, ++n) {
      out[n] = 100 * rank + i;
      MPI_Isend(&out[n], 1, MPI_INT, to, 30 + i, MPI_COMM_WORLD, &requests[n]);
    }
  for (int i = 0; i < n / 2; ++i) {
    int value = -1;
    MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    CHECK(value == 100 * status.MPI_SOURCE + status.MPI_TAG - 30);
    total += value;
  }
  MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
  for (int i = n / 2; i < n; ++i)
    MPI_Irecv(&values[i - n / 2], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
              &requests[i - n / 2]);
  left_over = n - n / 2;
  for (int done = 0; done < left_over;) {
    int indices[16 * kEach], count = 0;
    if (done == 0) {
      MPI_Waitany(left_over, requests, &indices[0], &statuses[0]);
      count = 1;
    } else {
      MPI_Waitsome(left_over, requests, &count, indices, statuses);
    }
    for (int i = 0; i < count; ++i) {
      const int value = values[indices[i]];
      CHECK(value == 100 * statuses[i].MPI_SOURCE + statuses[i].MPI_TAG - 30);
      total += value;
    }
    done += count;
  }
  CHECK(total == kEach * 100 * size * (size - 1) / 2 + size * kEach * (kEach - 1) / 2);
}

/* Nothing: no element, no partner, no request, no message. */
static void nothing(void) {
  int flag = 0, index = 0, count = -1, none = 7;
  MPI_Request request = MPI_REQUEST_NULL, two[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  MPI_Status status;
  CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS);
  MPI_Test(&request, &flag, &status);
  CHECK(flag && status.MPI_SOURCE == MPI_ANY_SOURCE);
  MPI_Waitall(0, NULL, MPI_STATUSES_IGNORE);
  MPI_Waitany(2, two, &index, &status);
  CHECK(index == MPI_UNDEFINED);
  MPI_Waitsome(2, two, &count, &index, MPI_STATUSES_IGNORE);
  CHECK(count == MPI_UNDEFINED);
  MPI_Testany(2, two, &index, &flag, &status);
  CHECK(flag && index == MPI_UNDEFINED);
  MPI_Testall(2, two, &flag, MPI_STATUSES_IGNORE);
  CHECK(flag);
  MPI_Testsome(0, NULL, &count, &index, MPI_STATUSES_IGNORE);
  CHECK(count == MPI_UNDEFINED);
  MPI_Startall(0, NULL);
  MPI_Sendrecv(NULL, 0, MPI_INT, right, 8, NULL, 0, MPI_INT, left, 8, MPI_COMM_WORLD, &status);
  MPI_Get_count(&status, MPI_INT, &count);
  CHECK(count == 0 && status.MPI_SOURCE == left);
  MPI_Send(&none, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
  MPI_Recv(&none, 1, MPI_INT, MPI_PROC_NULL, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
  CHECK(none == 7 && status.MPI_SOURCE == MPI_PROC_NULL);
  MPI_Irecv(&none, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, &status);
  MPI_Iprobe(MPI_PROC_NULL, 0, MPI_COMM_WORLD, &flag, &status);
  CHECK(flag);
  MPI_Bcast(NULL, 0, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Gather(NULL, 0, MPI_INT, NULL, 0, MPI_INT, 0, MPI_COMM_WORLD);
}

static void oneself(void) {
  int in = 0, self = -1;
  char room[256 + MPI_BSEND_OVERHEAD];
  void* detached;
  MPI_Request request;
  MPI_Irecv(&in, 1, MPI_INT, rank, 9, MPI_COMM_WORLD, &request);
  MPI_Send(&rank, 1, MPI_INT, rank, 9, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK(in == rank);
  MPI_Sendrecv(&size, 1, MPI_INT, 0, 0, &self, 1, MPI_INT, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
  CHECK(self == size);
  MPI_Irecv(&in, 1, MPI_INT, left, 10, MPI_COMM_WORLD, &request);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Rsend(&size, 1, MPI_INT, right, 10, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK(in == size);
  MPI_Buffer_attach(room, sizeof room);
  MPI_Bsend(&rank, 1, MPI_INT, right, 11, MPI_COMM_WORLD);
  MPI_Recv(&in, 1, MPI_INT, left, 11, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Buffer_detach(&detached, &self);
  CHECK(in == left && detached == room && self == (int)sizeof room);
  MPI_Irecv(&in, 1, MPI_INT, left, 12, MPI_COMM_WORLD, &request);
  MPI_Ssend(&rank, 1, MPI_INT, right, 12, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  self = rank;
#if MPI_VERSION >= 4
  MPI_Isendrecv_replace(&self, 1, MPI_INT, right, 13, left, 13, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK(self == left);
  MPI_Isendrecv(&rank, 1, MPI_INT, left, 14, &self, 1, MPI_INT, right, 14, MPI_COMM_WORLD,
                &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK(self == right);
#else
  self = right;
#endif
  MPI_Sendrecv_replace(&self, 1, MPI_INT, right, 15, left, 15, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  CHECK(self == rank);
}

#if MPI_VERSION >= 4
/* The forms with counts of MPI_Count. */
static void large_counts(void) {
  int out = 3 * rank, in = 0;
  MPI_Request requests[2];
  MPI_Isend_c(&out, 1, MPI_INT, right, 16, MPI_COMM_WORLD, &requests[0]);
  MPI_Recv_c(&in, 1, MPI_INT, left, 16, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  CHECK(in == 3 * left);
  MPI_Irecv_c(&in, 1, MPI_INT, right, 17, MPI_COMM_WORLD, &requests[0]);
  MPI_Send_c(&rank, 1, MPI_INT, left, 17, MPI_COMM_WORLD);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  CHECK(in == right);
  MPI_Send_init_c(&out, 1, MPI_INT, right, 18, MPI_COMM_WORLD, &requests[0]);
  MPI_Recv_init_c(&in, 1, MPI_INT, MPI_ANY_SOURCE, 18, MPI_COMM_WORLD, &requests[1]);
  for (int i = 0; i < 2; ++i) {
    MPI_Startall(2, requests);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    CHECK(in == 3 * left);
  }
  MPI_Request_free(&requests[0]);
  MPI_Request_free(&requests[1]);
}
#endif

/* A send of some mode, nonblocking or persistent, and the receive of it, posted first. */
#define SENT(call, tag)                                              \
  do {                                                               \
    MPI_Request both[2];                                             \
    int in = -1;                                                     \
    MPI_Irecv(&in, 1, MPI_INT, left, tag, MPI_COMM_WORLD, &both[0]); \
    MPI_Barrier(MPI_COMM_WORLD);                                     \
    CHECK((call) == MPI_SUCCESS);                                    \
    MPI_Waitall(2, both, MPI_STATUSES_IGNORE);                       \
    CHECK(in == 5 * left);                                           \
  } while (0)
#define STARTED(call, tag)                                                                       \
  do {                                                                                           \
    MPI_Request sends;                                                                           \
    CHECK((call) == MPI_SUCCESS);                                                                \
    for (int round = 0; round < 2; ++round) SENT(MPI_Start(&sends) + (both[1] = sends, 0), tag); \
    MPI_Request_free(&sends);                                                                    \
  } while (0)

static void modes(void) {
  const int out = 5 * rank;
  char room[16 * (sizeof out + MPI_BSEND_OVERHEAD)];
  void* detached;
  int in = -1;
  MPI_Status status;
  MPI_Message message;
  MPI_Request request;
#if MPI_VERSION >= 4
  MPI_Count bytes = 0;
  MPI_Buffer_attach_c(room, sizeof room);
#else
  int bytes = 0;
  MPI_Buffer_attach(room, sizeof room);
#endif
  SENT(MPI_Ibsend(&out, 1, MPI_INT, right, 40, MPI_COMM_WORLD, &both[1]), 40);
  SENT(MPI_Issend(&out, 1, MPI_INT, right, 41, MPI_COMM_WORLD, &both[1]), 41);
  SENT(MPI_Irsend(&out, 1, MPI_INT, right, 42, MPI_COMM_WORLD, &both[1]), 42);
#if MPI_VERSION >= 4
  SENT(MPI_Ibsend_c(&out, 1, MPI_INT, right, 43, MPI_COMM_WORLD, &both[1]), 43);
  SENT(MPI_Issend_c(&out, 1, MPI_INT, right, 44, MPI_COMM_WORLD, &both[1]), 44);
  SENT(MPI_Irsend_c(&out, 1, MPI_INT, right, 45, MPI_COMM_WORLD, &both[1]), 45);
  SENT((both[1] = MPI_REQUEST_NULL, MPI_Bsend_c(&out, 1, MPI_INT, right, 46, MPI_COMM_WORLD)), 46);
  SENT((both[1] = MPI_REQUEST_NULL, MPI_Ssend_c(&out, 1, MPI_INT, right, 47, MPI_COMM_WORLD)), 47);
  SENT((both[1] = MPI_REQUEST_NULL, MPI_Rsend_c(&out, 1, MPI_INT, right, 48, MPI_COMM_WORLD)), 48);
#endif
  STARTED(MPI_Bsend_init(&out, 1, MPI_INT, right, 49, MPI_COMM_WORLD, &sends), 49);
  STARTED(MPI_Ssend_init(&out, 1, MPI_INT, right, 50, MPI_COMM_WORLD, &sends), 50);
  STARTED(MPI_Rsend_init(&out, 1, MPI_INT, right, 51, MPI_COMM_WORLD, &sends), 51);
#if MPI_VERSION >= 4
  STARTED(MPI_Bsend_init_c(&out, 1, MPI_INT, right, 52, MPI_COMM_WORLD, &sends), 52);
  STARTED(MPI_Ssend_init_c(&out, 1, MPI_INT, right, 53, MPI_COMM_WORLD, &sends), 53);
  STARTED(MPI_Rsend_init_c(&out, 1, MPI_INT, right, 54, MPI_COMM_WORLD, &sends), 54);
#endif
#if MPI_VERSION >= 4
  MPI_Buffer_detach_c(&detached, &bytes);
#else
  MPI_Buffer_detach(&detached, &bytes);
#endif
  CHECK(detached == room && (size_t)bytes == sizeof room);
#if MPI_VERSION >= 4
  MPI_Sendrecv_c(&out, 1, MPI_INT, right, 55, &in, 1, MPI_INT, left, 55, MPI_COMM_WORLD, &status);
  CHECK(in == 5 * left);
  MPI_Sendrecv_replace_c(&in, 1, MPI_INT, left, 56, right, 56, MPI_COMM_WORLD, &status);
  CHECK(in == out);
  MPI_Isendrecv_c(&out, 1, MPI_INT, right, 57, &in, 1, MPI_INT, left, 57, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK(in == 5 * left);
  MPI_Isendrecv_replace_c(&in, 1, MPI_INT, left, 58, right, 58, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK(in == out);
#endif
  MPI_Isend(&out, 1, MPI_INT, right, 59, MPI_COMM_WORLD, &request);
  MPI_Probe(MPI_ANY_SOURCE, 59, MPI_COMM_WORLD, &status);
  MPI_Mprobe(status.MPI_SOURCE, 59, MPI_COMM_WORLD, &message, &status);
#if MPI_VERSION >= 4
  MPI_Mrecv_c(&in, 1, MPI_INT, &message, &status);
#else
  MPI_Mrecv(&in, 1, MPI_INT, &message, &status);
#endif
  CHECK(in == 5 * left);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Isend(&out, 1, MPI_INT, right, 60, MPI_COMM_WORLD, &request);
  MPI_Request received;
  MPI_Mprobe(left, 60, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
  MPI_Imrecv(&in, 1, MPI_INT, &message, &received);
  MPI_Wait(&received, &status);
  CHECK(in == 5 * left && status.MPI_SOURCE == left);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  left = (rank + size - 1) % size;
  right = (rank + 1) % size;
  persistent();
  FOUR(collectives();)
  FOUR(partitioned();)
  generalized();
  cancelled_receives();
  matched();
  storm();
  MPI_Barrier(MPI_COMM_WORLD);
  nothing();
  oneself();
  FOUR(large_counts();)
  modes();
  return conclude("requests");
}
