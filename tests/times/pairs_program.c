// SPDX-License-Identifier: BSD-3-Clause
// Receives of every kind in STEPS time steps that end in a marker. All ranks make the same calls;
// rank SLOW sends late to the rank after it, and to no other.
#include <chameleon/chameleon.h>
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

enum { kRoom = 64, kLateUs = 4000 };

static int rank, ranks, slow, next, previous;
static MPI_Status* ignored;  // MPI_STATUSES_IGNORE, of which compilers warn
static double in[4][kRoom], out[kRoom];

static void late(void) {
  if (rank == slow) usleep(kLateUs);
}

// The pair that is slow: one receive of it alone.
static void pass(void) {
  MPI_Request request;
  MPI_Irecv(in[0], 8, MPI_DOUBLE, previous, 1, MPI_COMM_WORLD, &request);
  late();
  MPI_Send(out, 8, MPI_DOUBLE, next, 1, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

// Both neighbours and nobody; from anybody, of whom only the neighbours send.
static void exchange(int step) {
  MPI_Request requests[5];
  MPI_Irecv(in[0], 1 + step % 3, MPI_DOUBLE, previous, 2, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(in[1], kRoom, MPI_DOUBLE, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, &requests[1]);
  MPI_Irecv(in[2], 1, MPI_DOUBLE, MPI_PROC_NULL, 2, MPI_COMM_WORLD, &requests[2]);
  MPI_Isend(out, 1 + step % 3, MPI_DOUBLE, next, 2, MPI_COMM_WORLD, &requests[3]);
  MPI_Isend(out, 1 + step % 20, MPI_DOUBLE, previous, 3, MPI_COMM_WORLD, &requests[4]);
  MPI_Waitall(5, requests, ignored);
}

// Some of them at a time, each once.
static void some(void) {
  MPI_Request requests[3];
  MPI_Status statuses[3];
  int indices[3], done = 0, count = 0;
  MPI_Irecv(in[0], 4, MPI_DOUBLE, next, 4, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(in[1], 4, MPI_DOUBLE, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &requests[1]);
  MPI_Isend(out, 4, MPI_DOUBLE, previous, 4, MPI_COMM_WORLD, &requests[2]);
  MPI_Send(out, 2, MPI_DOUBLE, next, 5, MPI_COMM_WORLD);
  while (done < 2) {
    MPI_Waitsome(3, requests, &count, indices, statuses);
    done += count;
    if (done == 3) return;
  }
  MPI_Waitany(3, requests, indices, statuses);
}

static void polled(void) {
  MPI_Request request;
  int flag = 0;
  MPI_Irecv(in[0], 1, MPI_DOUBLE, previous, 6, MPI_COMM_WORLD, &request);
  MPI_Send(out, 1, MPI_DOUBLE, next, 6, MPI_COMM_WORLD);
  while (!flag) MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
}

// A message that is found before it is received, and one that never comes.
static void matched(void) {
  MPI_Request request;
  MPI_Message message;
  MPI_Isend(out, 3, MPI_DOUBLE, next, 7, MPI_COMM_WORLD, &request);
  MPI_Mprobe(MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
  MPI_Mrecv(in[0], kRoom, MPI_DOUBLE, &message, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Irecv(in[0], 1, MPI_DOUBLE, previous, 8, MPI_COMM_WORLD, &request);
  MPI_Cancel(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

// On a communicator with the ranks in reverse order, or with half of them; both have the same id.
// The types differ from step to step and have the same id, too.
static void elsewhere(int step) {
  MPI_Comm comm;
  MPI_Datatype type;
  int self = 0, size = 0;
  MPI_Comm_split(MPI_COMM_WORLD, step % 2 == 0 ? 0 : rank % 2, -rank, &comm);
  MPI_Comm_rank(comm, &self);
  MPI_Comm_size(comm, &size);
  MPI_Type_contiguous(1 + step % 5, MPI_DOUBLE, &type);
  MPI_Type_commit(&type);
  MPI_Sendrecv(out, 1, type, (self + 1) % size, 9, in[0], 1, type, (self + size - 1) % size, 9,
               comm, MPI_STATUS_IGNORE);
  MPI_Sendrecv(out, 1, type, (self + 1) % size, 9, in[0], 1, type, MPI_ANY_SOURCE, 9, comm,
               MPI_STATUS_IGNORE);
  MPI_Type_free(&type);
  MPI_Comm_free(&comm);
}

int main(int argc, char** argv) {
  const int steps = argc > 1 ? atoi(argv[1]) : 40;
  slow = argc > 2 ? atoi(argv[2]) : 1;
  ignored = MPI_STATUSES_IGNORE;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  next = (rank + 1) % ranks;
  previous = (rank + ranks - 1) % ranks;
  MPI_Request kept[2];
  MPI_Recv_init(in[3], 16, MPI_DOUBLE, next, 10, MPI_COMM_WORLD, &kept[0]);
  MPI_Send_init(out, 16, MPI_DOUBLE, previous, 10, MPI_COMM_WORLD, &kept[1]);
  for (int step = 0; step < steps; ++step) {
    MPI_Barrier(MPI_COMM_WORLD);
    pass();
    MPI_Barrier(MPI_COMM_WORLD);
    exchange(step);
    some();
    polled();
    matched();
    elsewhere(step);
    MPI_Startall(2, kept);
    MPI_Waitall(2, kept, ignored);
    chameleon_marker();
  }
  MPI_Request_free(&kept[0]);
  MPI_Request_free(&kept[1]);
  MPI_Finalize();
  return 0;
}
