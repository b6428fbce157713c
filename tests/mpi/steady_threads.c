/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads that live as long as the run, MPI_THREAD_MULTIPLE, each on a communicator and tags of its
 * own, which the first thread makes and frees, as it does a datatype; requests that one thread
 * posts and the first completes. What is printed follows from the arguments alone. Sends that are
 * handed over are synchronous. MODE "eager": they are not; MPICH gives all sends that complete at
 * once one handle, and which of them a thread waits for is not told; "share": all threads use one
 * tag of the world, too; "leave": a message is never received; "apart": nothing is handed over;
 * "turns": and threads take turns, which are further apart than their clocks drift.
 *
 *     steady_threads ROUNDS THREADS [MODE] */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kMost = 8, kLength = 3, kTagHanded = 100, kTagShared = 7, kTagLeft = 300 };

static int rank, size, rounds, threads;
static int eager, shares, leaves, apart, turns, turn;
static MPI_Comm comms[kMost];
static MPI_Datatype triple;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t change = PTHREAD_COND_INITIALIZER;
static MPI_Request handed[kMost][2];
static int in_hand[kMost], out_hand[kMost], filled[kMost];
static long long sums[kMost];

static void* work(void* given) {
  const int t = (int)(long)given, right = (rank + 1) % size, left = (rank + size - 1) % size;
  for (int i = 0; i < rounds; ++i) {
    MPI_Request requests[2];
    MPI_Status statuses[2];
    int out[kLength] = {rank, t, i}, in[kLength] = {0}, all = 0;
    pthread_mutex_lock(&mutex);
    while (turns && turn != i * threads + t) pthread_cond_wait(&change, &mutex);
    pthread_mutex_unlock(&mutex);
    MPI_Irecv(in, 1, triple, i % 3 == 0 ? MPI_ANY_SOURCE : left, t, comms[t], &requests[0]);
    MPI_Isend(out, 1, triple, right, t, comms[t], &requests[1]);
    MPI_Waitall(2, requests, statuses);
    MPI_Allreduce(&in[0], &all, 1, MPI_INT, MPI_SUM, comms[t]);
    sums[t] += all + in[2];
    if (shares) {
      MPI_Sendrecv(&i, 1, MPI_INT, right, kTagShared, &in[0], 1, MPI_INT, left, kTagShared,
                   MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    if (turns) usleep(3000);
    pthread_mutex_lock(&mutex);
    ++turn;
    if (turns) pthread_cond_broadcast(&change);
    pthread_mutex_unlock(&mutex);
    if (apart) continue;
    pthread_mutex_lock(&mutex);
    while (filled[t]) pthread_cond_wait(&change, &mutex);
    out_hand[t] = rank + t + i;
    MPI_Irecv(&in_hand[t], 1, MPI_INT, left, kTagHanded + t, MPI_COMM_WORLD, &handed[t][0]);
    (eager ? MPI_Isend : MPI_Issend)(&out_hand[t], 1, MPI_INT, right, kTagHanded + t,
                                     MPI_COMM_WORLD, &handed[t][1]);
    filled[t] = 1;
    pthread_cond_broadcast(&change);
    pthread_mutex_unlock(&mutex);
  }
  if (leaves && rank == 0 && t == 0) MPI_Send(&rank, 1, MPI_INT, right, kTagLeft, comms[t]);
  return NULL;
}

int main(int argc, char** argv) {
  int provided = MPI_THREAD_SINGLE;
  long long sum = 0, all = 0;
  pthread_t ids[kMost];
  rounds = argc > 1 ? atoi(argv[1]) : 5;
  threads = argc > 2 ? atoi(argv[2]) : 3;
  eager = argc > 3 && strcmp(argv[3], "eager") == 0;
  shares = argc > 3 && strcmp(argv[3], "share") == 0;
  leaves = argc > 3 && strcmp(argv[3], "leave") == 0;
  turns = argc > 3 && strcmp(argv[3], "turns") == 0;
  apart = turns || (argc > 3 && strcmp(argv[3], "apart") == 0);
  if (threads < 1 || threads > kMost) return 2;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  if (provided < MPI_THREAD_MULTIPLE) MPI_Abort(MPI_COMM_WORLD, 3);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Type_contiguous(kLength, MPI_INT, &triple);
  MPI_Type_commit(&triple);
  for (int t = 0; t < threads; ++t) MPI_Comm_dup(MPI_COMM_WORLD, &comms[t]);
  for (int t = 0; t < threads; ++t)
    if (pthread_create(&ids[t], NULL, work, (void*)(long)t) != 0) MPI_Abort(MPI_COMM_WORLD, 4);
  for (int i = 0; i < rounds && !apart; ++i)
    for (int t = 0; t < threads; ++t) {
      MPI_Status statuses[2];
      pthread_mutex_lock(&mutex);
      while (!filled[t]) pthread_cond_wait(&change, &mutex);
      pthread_mutex_unlock(&mutex);
      MPI_Waitall(2, handed[t], statuses);
      sum += in_hand[t];
      pthread_mutex_lock(&mutex);
      filled[t] = 0;
      pthread_cond_broadcast(&change);
      pthread_mutex_unlock(&mutex);
    }
  for (int t = 0; t < threads; ++t) pthread_join(ids[t], NULL);
  for (int t = 0; t < threads; ++t) sum += sums[t];
  MPI_Allreduce(&sum, &all, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
  for (int t = 0; t < threads; ++t) MPI_Comm_free(&comms[t]);
  MPI_Type_free(&triple);
  if (rank == 0) printf("sum %lld\n", all);
  MPI_Finalize();
  return 0;
}
