/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads for families of calls: each thread of a rank works with its fellows on other ranks, on
 * communicators and tags of its own, and uses objects that other threads made. */
#include <pthread.h>

#include "conformance.h"

enum { kThreads = 3, kRounds = 20 };
static int rank, size, left, right;
static MPI_Comm own[kThreads];
static MPI_Group world;
static int held[kThreads];

static int query(void* state, MPI_Status* status) {
  MPI_Status_set_elements(status, MPI_INT, *(int*)state);
  MPI_Status_set_cancelled(status, 0);
  status->MPI_SOURCE = status->MPI_TAG = MPI_UNDEFINED;
  return MPI_SUCCESS;
}
static int freed(void* state) {
  (void)state;
  return MPI_SUCCESS;
}
static int cancelled(void* state, int complete) {
  (void)state;
  (void)complete;
  return MPI_SUCCESS;
}

static void* finish(void* request) {
  MPI_Grequest_complete(*(MPI_Request*)request);
  return NULL;
}

/* Completed by a thread that did not make it. */
static void generalized(void) {
  for (int round = 0; round < kRounds; ++round) {
    int elements = round, count = -1;
    pthread_t other;
    MPI_Request request, copy;
    MPI_Status status;
    MPI_Grequest_start(query, freed, cancelled, &elements, &request);
    copy = request;
    pthread_create(&other, NULL, finish, &copy);
    MPI_Wait(&request, &status);
    pthread_join(other, NULL);
    MPI_Get_count(&status, MPI_INT, &count);
    CHECK(count == round);
  }
}

static void matched(MPI_Comm comm, int thread) {
  for (int round = 0; round < kRounds; ++round) {
    const int out[2] = {rank, round};
    int in[2] = {0, 0}, flag = 0;
    MPI_Message message;
    MPI_Request sent, received;
    MPI_Status status;
    MPI_Isend(out, 2, MPI_INT, right, thread, comm, &sent);
    if (round % 2 == 0)
      MPI_Mprobe(MPI_ANY_SOURCE, thread, comm, &message, &status);
    else
      while (!flag) MPI_Improbe(left, MPI_ANY_TAG, comm, &flag, &message, &status);
    CHECK(status.MPI_SOURCE == left && status.MPI_TAG == thread);
    if (round % 4 < 2) {
      MPI_Mrecv(in, 2, MPI_INT, &message, &status);
    } else {
      MPI_Imrecv(in, 2, MPI_INT, &message, &received);
      MPI_Wait(&received, &status);
    }
    CHECK(in[0] == left && in[1] == round && status.MPI_TAG == thread);
    MPI_Wait(&sent, MPI_STATUS_IGNORE);
    MPI_Mprobe(MPI_PROC_NULL, MPI_ANY_TAG, comm, &message, &status);
    CHECK(message == MPI_MESSAGE_NO_PROC && status.MPI_SOURCE == MPI_PROC_NULL);
    MPI_Mrecv(in, 2, MPI_INT, &message, &status);
    CHECK(status.MPI_SOURCE == MPI_PROC_NULL);
  }
}

/* Every thread makes one of the same group, told apart by the tag. */
static void groups(int thread) {
  for (int round = 0; round < 4; ++round) {
    int sum = 0;
    MPI_Comm made;
    MPI_Comm_create_group(MPI_COMM_WORLD, world, thread, &made);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, made);
    CHECK(sum == size * (size - 1) / 2);
    MPI_Comm_free(&made);
  }
}

static void data(MPI_Comm comm, int thread) {
  int value = -1, all[64];
  MPI_Datatype type;
  MPI_Request request;
  MPI_Type_contiguous(thread + 1, MPI_INT, &type);
  MPI_Type_commit(&type);
  for (int round = 0; round < kRounds; ++round) {
    int out[kThreads] = {0}, in[kThreads] = {0};
    out[thread] = 10 * rank + round;
    MPI_Sendrecv(out, 1, type, right, 1, in, 1, type, left, 1, comm, MPI_STATUS_IGNORE);
    CHECK(in[thread] == 10 * left + round);
    value = rank == round % size ? round : -1;
    MPI_Bcast(&value, 1, MPI_INT, round % size, comm);
    CHECK(value == round);
    MPI_Iallgather(&rank, 1, MPI_INT, all, 1, MPI_INT, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(all[size - 1] == size - 1);
  }
  MPI_Type_free(&type);
}

static void* work(void* state) {
  const int thread = (int)(size_t)state;
  generalized();
  matched(own[thread], thread);
  data(own[thread], thread);
  groups(thread);
  held[thread] = conformance_checks;
  return NULL;
}

int main(int argc, char** argv) {
  int provided = 0;
  pthread_t threads[kThreads];
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  left = (rank + size - 1) % size;
  right = (rank + 1) % size;
  CHECK(provided == MPI_THREAD_MULTIPLE);
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  for (int i = 0; i < kThreads; ++i) MPI_Comm_dup(MPI_COMM_WORLD, &own[i]);
  for (int i = 0; i < kThreads; ++i) pthread_create(&threads[i], NULL, work, (void*)(size_t)i);
  for (int i = 0; i < kThreads; ++i) {
    pthread_join(threads[i], NULL);
    conformance_checks += held[i];
  }
  for (int i = 0; i < kThreads; ++i) MPI_Comm_free(&own[i]);
  MPI_Group_free(&world);
  return conclude("threads");
}
