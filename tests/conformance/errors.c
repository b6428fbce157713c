/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs that go on after errors: arguments that are wrong, messages that are too long, requests
 * of which one fails. Each family of calls returns each class of error that its arguments can
 * give, and goes on working. */
#include "conformance.h"

enum { kLong = 10 };
static int rank, size, left, right;
static const int out[kLong] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};

/* A receive that fits and one that does not, of the last of which nothing was said. */
static void post(int tag, int* in, int* cut, int source, MPI_Request* requests) {
  MPI_Irecv(in, kLong, MPI_INT, source, tag, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(cut, 1, MPI_INT, left, tag + 1, MPI_COMM_WORLD, &requests[1]);
  requests[2] = MPI_REQUEST_NULL;
}

static void send(int tag) {
  MPI_Send(out, kLong, MPI_INT, right, tag, MPI_COMM_WORLD);
  MPI_Send(out, kLong, MPI_INT, right, tag + 1, MPI_COMM_WORLD);
}

/* Each of the four ways to complete several requests, with and without statuses, with messages
 * that are there before their receive and after it. */
static void several(void) {
  int in[kLong], cut[kLong], indices[3], count, flag, code;
  MPI_Request requests[3];
  MPI_Status statuses[3];
  for (int round = 0; round < 16; ++round) {
    const int ignored = round / 4 % 2;
    MPI_Status* const given = ignored ? MPI_STATUSES_IGNORE : statuses;
    const int source = round % 2 ? MPI_ANY_SOURCE : left;
    in[kLong - 1] = 0;
    if (round < 8) post(0, in, cut, source, requests);
    MPI_Barrier(MPI_COMM_WORLD);
    send(0);
    MPI_Barrier(MPI_COMM_WORLD);
    if (round >= 8) post(0, in, cut, source, requests);
    code = count = flag = 0;
    switch (round % 4) {
      case 0: code = MPI_Waitall(3, requests, given); break;
      case 1:
        for (int done = 0; done < 2; done += count) {
          const int now = MPI_Waitsome(3, requests, &count, indices, given);
          if (now != MPI_SUCCESS) code = now;
        }
        break;
      case 2:
        while (!flag && code == MPI_SUCCESS) code = MPI_Testall(3, requests, &flag, given);
        break;
      default:
        for (int done = 0; done < 2; done += count) {
          const int now = MPI_Testsome(3, requests, &count, indices, given);
          if (now != MPI_SUCCESS) code = now;
        }
    }
    CHECK(fails_with(code, MPI_ERR_IN_STATUS));
    CHECK(in[kLong - 1] == 10);
    CHECK(requests[0] == MPI_REQUEST_NULL && requests[1] == MPI_REQUEST_NULL);
    if (round % 4 == 0 && !ignored) {
      CHECK(statuses[0].MPI_ERROR == MPI_SUCCESS && statuses[0].MPI_SOURCE == left);
      CHECK(fails_with(statuses[1].MPI_ERROR, MPI_ERR_TRUNCATE));
    }
  }
}

/* The same one by one; the same again from persistent requests. */
static void single(void) {
  int cut[kLong], index = -1, flag = 0, code = MPI_SUCCESS;
  MPI_Request request, sent;
  MPI_Status status;
  for (int round = 0; round < 4; ++round) {
    MPI_Irecv(cut, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &request);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Send(out, kLong, MPI_INT, right, 2, MPI_COMM_WORLD);
    flag = 0;
    code = MPI_SUCCESS;
    if (round == 0) code = MPI_Wait(&request, &status);
    if (round == 1) code = MPI_Waitany(1, &request, &index, &status);
    while (round == 2 && !flag && !code) code = MPI_Test(&request, &flag, &status);
    while (round == 3 && !flag && !code) code = MPI_Testany(1, &request, &index, &flag, &status);
    CHECK(fails_with(code, MPI_ERR_TRUNCATE) && request == MPI_REQUEST_NULL);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Recv_init(cut, 1, MPI_INT, left, 3, MPI_COMM_WORLD, &request);
  for (int round = 0; round < 3; ++round) {
    MPI_Start(&request);
    MPI_Send(out, round == 1 ? kLong : 1, MPI_INT, right, 3, MPI_COMM_WORLD);
    code = MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(round == 1 ? fails_with(code, MPI_ERR_TRUNCATE) : code == MPI_SUCCESS);
  }
  MPI_Request_free(&request);
  MPI_Isend(out, kLong, MPI_INT, right, 4, MPI_COMM_WORLD, &sent);
  code = MPI_Recv(cut, 1, MPI_INT, MPI_ANY_SOURCE, 4, MPI_COMM_WORLD, &status);
  CHECK(fails_with(code, MPI_ERR_TRUNCATE));
  MPI_Wait(&sent, MPI_STATUS_IGNORE);
  code = MPI_Sendrecv(out, kLong, MPI_INT, right, 5, cut, 1, MPI_INT, left, 5, MPI_COMM_WORLD,
                      MPI_STATUS_IGNORE);
  CHECK(fails_with(code, MPI_ERR_TRUNCATE));
}

/* A message that was matched before it is received. */
static void matched(void) {
  int cut[kLong], code = MPI_SUCCESS;
  MPI_Message message;
  MPI_Request request;
  MPI_Status status;
  for (int round = 0; round < 2; ++round) {
    MPI_Isend(out, kLong, MPI_INT, right, 6, MPI_COMM_WORLD, &request);
    MPI_Mprobe(MPI_ANY_SOURCE, 6, MPI_COMM_WORLD, &message, &status);
    if (round == 0) {
      code = MPI_Mrecv(cut, 1, MPI_INT, &message, &status);
    } else {
      MPI_Request received;
      CHECK(MPI_Imrecv(cut, 1, MPI_INT, &message, &received) == MPI_SUCCESS);
      code = MPI_Wait(&received, &status);
    }
    CHECK(fails_with(code, MPI_ERR_TRUNCATE));
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
}

/* The root sends more than the others expect: MPICH tells those who receive. */
static void collectives(void) {
  int in[kLong] = {0}, code = MPI_SUCCESS, failures = 0, all = 0;
  memcpy(in, out, sizeof in);
  code = MPI_Bcast(in, rank == 0 ? kLong : 1, MPI_INT, 0, MPI_COMM_WORLD);
  CHECK(rank == 0 || fails_with(code, MPI_ERR_LASTCODE));
  failures = code != MPI_SUCCESS;
  CHECK(MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD) == MPI_SUCCESS);
  CHECK(all >= size - 1);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  left = (rank + size - 1) % size;
  right = (rank + 1) % size;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  several();
  single();
  matched();
  collectives();
  return conclude("errors");
}
