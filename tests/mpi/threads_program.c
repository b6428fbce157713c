/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads that communicate at once, MPI_THREAD_MULTIPLE: each on a duplicate of the world of its
 * own and on tags of its own in the world; requests that one thread posts and another completes;
 * threads that come and go with every round; the first thread marks, while others are in MPI.
 * What is printed follows from the arguments alone.
 *
 *     threads_program [ROUNDS [THREADS]] */
#include <chameleon/chameleon.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { kMost = 8, kMessages = 5, kPosted = 4 };

static int rank, size, threads = 3;
static MPI_Comm comms[kMost];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t change = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t together; /* none of a round ends before all have called MPI */

/* Requests on their way from the thread that posted them to the one that completes them. */
static MPI_Request handed[kMost][2 * kPosted];
static int received[kMost][kPosted], sent[kMost][kPosted], filled[kMost];

typedef struct {
  int number, round;
  long long sum;
} Worker;

static void check(int code, const char* what) {
  if (code == MPI_SUCCESS) return;
  fprintf(stderr, "threads_program: %s failed on rank %d\n", what, rank);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

/* A ring, and a sum, on the thread's own communicator; requests for the first thread. */
static void* work(void* given) {
  Worker* me = given;
  const int right = (rank + 1) % size, left = (rank + size - 1) % size, t = me->number;
  for (int i = 0; i < kMessages + t; ++i) {
    MPI_Request requests[2];
    MPI_Status statuses[2];
    int out = 1000 * me->round + 100 * t + rank + i, in = -1, all = 0;
    check(MPI_Irecv(&in, 1, MPI_INT, i % 2 == 0 ? left : MPI_ANY_SOURCE, t, comms[t], &requests[0]),
          "MPI_Irecv");
    check(MPI_Isend(&out, 1, MPI_INT, right, t, comms[t], &requests[1]), "MPI_Isend");
    check(MPI_Waitall(2, requests, statuses), "MPI_Waitall");
    check(MPI_Allreduce(&in, &all, 1, MPI_INT, MPI_SUM, comms[t]), "MPI_Allreduce");
    me->sum += all;
    check(MPI_Sendrecv(&out, 1, MPI_INT, left, 50 + t, &in, 1, MPI_INT, right, 50 + t,
                       MPI_COMM_WORLD, MPI_STATUS_IGNORE),
          "MPI_Sendrecv");
    me->sum += in;
  }
  for (int i = 0; i < kPosted; ++i) {
    sent[t][i] = me->round + 10 * t + i + rank;
    check(MPI_Irecv(&received[t][i], 1, MPI_INT, left, 200 + t, MPI_COMM_WORLD, &handed[t][2 * i]),
          "MPI_Irecv");
    check(MPI_Isend(&sent[t][i], 1, MPI_INT, right, 200 + t, MPI_COMM_WORLD, &handed[t][2 * i + 1]),
          "MPI_Isend");
  }
  pthread_mutex_lock(&mutex);
  filled[t] = 1;
  pthread_cond_broadcast(&change);
  pthread_mutex_unlock(&mutex);
  pthread_barrier_wait(&together);
  return NULL;
}

/* The first thread completes what thread t posted. */
static long long finish(int t) {
  long long sum = 0;
  pthread_mutex_lock(&mutex);
  while (!filled[t]) pthread_cond_wait(&change, &mutex);
  filled[t] = 0;
  pthread_mutex_unlock(&mutex);
  MPI_Status statuses[2 * kPosted];
  check(MPI_Wait(&handed[t][0], MPI_STATUS_IGNORE), "MPI_Wait");
  check(MPI_Waitall(2 * kPosted - 1, &handed[t][1], statuses), "MPI_Waitall");
  for (int i = 0; i < kPosted; ++i) sum += received[t][i];
  return sum;
}

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? atoi(argv[1]) : 6;
  int provided = MPI_THREAD_SINGLE;
  long long sum = 0, all = 0;
  if (argc > 2) threads = atoi(argv[2]);
  if (threads < 1 || threads > kMost) return 2;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  if (provided < MPI_THREAD_MULTIPLE) {
    fprintf(stderr, "threads_program: this MPI has no MPI_THREAD_MULTIPLE\n");
    MPI_Abort(MPI_COMM_WORLD, 3);
  }
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int t = 0; t < threads; ++t) check(MPI_Comm_dup(MPI_COMM_WORLD, &comms[t]), "MPI_Comm_dup");
  for (int round = 0; round < rounds; ++round) {
    pthread_t ids[kMost];
    Worker workers[kMost];
    /* In later rounds one thread fewer comes. */
    const int coming = round >= 4 && threads > 1 ? threads - 1 : threads;
    pthread_barrier_init(&together, NULL, (unsigned)coming);
    for (int t = 0; t < coming; ++t) {
      workers[t] = (Worker){t, round, 0};
      if (pthread_create(&ids[t], NULL, work, &workers[t]) != 0) MPI_Abort(MPI_COMM_WORLD, 4);
    }
    if (round % 2 == 0) chameleon_marker(); /* while they are in MPI */
    for (int t = 0; t < coming; ++t) sum += finish(t);
    for (int t = 0; t < coming; ++t) {
      pthread_join(ids[t], NULL);
      sum += workers[t].sum;
    }
    pthread_barrier_destroy(&together);
    if (round % 2 != 0) chameleon_marker();
  }
  check(MPI_Allreduce(&sum, &all, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD), "MPI_Allreduce");
  for (int t = 0; t < threads; ++t) check(MPI_Comm_free(&comms[t]), "MPI_Comm_free");
  if (rank == 0) printf("sum %lld\n", all);
  MPI_Finalize();
  return 0;
}
