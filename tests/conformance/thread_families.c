/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads in families that threads.c does not have: thread_families FOLDER. Each thread of a rank
 * works with its fellows on other ranks, on a communicator, a window and a file of its own; at the
 * end requests are completed by other threads than those that posted them. */
#include <pthread.h>

#include "conformance.h"

enum { kThreads = 3, kRounds = 3, kMost = 64, kRoom = 512, kEach = 8 };
static int rank, size, left, right;
static const char* folder = ".";
static MPI_Comm own[kThreads];
static MPI_File file[kThreads];
static int held[kThreads];
static pthread_barrier_t all_posted;

static void add(void* from, void* to, int* count, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < *count; ++i) ((int*)to)[i] += ((int*)from)[i];
}

static void blocking(MPI_Comm comm, int thread) {
  int all[kMost], ones[kMost], places[kMost], out[kMost], sum = 0;
  for (int i = 0; i < kMost; ++i) ones[i] = 1, places[i] = i, out[i] = 100 * rank + i + thread;
  for (int round = 0; round < kRounds; ++round) {
    const int root = (round + thread) % size;
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
    CHECK(sum == size * (size - 1) / 2);
    MPI_Alltoallv(out, ones, places, MPI_INT, all, ones, places, MPI_INT, comm);
    CHECK(all[left] == 100 * left + rank + thread);
    MPI_Gatherv(out, 1, MPI_INT, all, ones, places, MPI_INT, root, comm);
    if (rank == root) CHECK(all[left] == 100 * left + thread);
    MPI_Scan(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
    CHECK(sum == rank * (rank + 1) / 2);
    MPI_Reduce_scatter_block(out, &sum, 1, MPI_INT, MPI_SUM, comm);
    CHECK(sum == 100 * size * (size - 1) / 2 + size * (rank + thread));
  }
}

static void nonblocking(MPI_Comm comm, int thread) {
  for (int round = 0; round < kRounds; ++round) {
    int sum = 0, all[kMost], value = rank == thread % size ? round : -1, flag = 0;
    MPI_Request requests[4];
    MPI_Iallreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm, &requests[0]);
    MPI_Iallgather(&rank, 1, MPI_INT, all, 1, MPI_INT, comm, &requests[1]);
    MPI_Ibcast(&value, 1, MPI_INT, thread % size, comm, &requests[2]);
    MPI_Ibarrier(comm, &requests[3]);
    if (round % 2 == 0) {
      MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    } else {
      while (!flag) MPI_Testall(4, requests, &flag, MPI_STATUSES_IGNORE);
    }
    CHECK(sum == size * (size - 1) / 2 && all[size - 1] == size - 1 && value == round);
  }
}

static void persistent(MPI_Comm comm) {
  int out = 0, in = -1, sum = 0, index = 0;
  MPI_Request requests[2];
  MPI_Send_init(&out, 1, MPI_INT, right, 1, comm, &requests[0]);
  MPI_Recv_init(&in, 1, MPI_INT, left, 1, comm, &requests[1]);
  for (int round = 0; round < kRounds; ++round) {
    out = 10 * rank + round;
    MPI_Startall(2, requests);
    for (int i = 0; i < 2; ++i) MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
    CHECK(in == 10 * left + round);
  }
  MPI_Request_free(&requests[0]);
  MPI_Request_free(&requests[1]);
#if MPI_VERSION >= 4
  double parts[4] = {0}, arrived[4] = {0};
  MPI_Allreduce_init(&rank, &sum, 1, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &requests[0]);
  for (int round = 0; round < kRounds; ++round) {
    sum = 0;
    MPI_Start(&requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    CHECK(sum == size * (size - 1) / 2);
  }
  MPI_Request_free(&requests[0]);
  MPI_Psend_init(parts, 2, 2, MPI_DOUBLE, right, 2, comm, MPI_INFO_NULL, &requests[0]);
  MPI_Precv_init(arrived, 2, 2, MPI_DOUBLE, left, 2, comm, MPI_INFO_NULL, &requests[1]);
  for (int round = 0; round < kRounds; ++round) {
    for (int i = 0; i < 4; ++i) parts[i] = rank + 0.25 * i + round;
    MPI_Startall(2, requests);
    MPI_Pready(1, requests[0]);
    MPI_Pready(0, requests[0]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    CHECK(arrived[3] == left + 0.75 + round);
  }
  MPI_Request_free(&requests[0]);
  MPI_Request_free(&requests[1]);
#else
  CHECK(sum == 0);
#endif
}

static void probes(MPI_Comm comm) {
  for (int round = 0; round < kRounds; ++round) {
    int out[4] = {rank, round, 0, 0}, in[4], flag = 0, count = 0;
    MPI_Request sent;
    MPI_Status status;
    MPI_Isend(out, 1 + round % 4, MPI_INT, right, round, comm, &sent);
    if (round % 2 == 0)
      MPI_Probe(MPI_ANY_SOURCE, round, comm, &status);
    else
      while (!flag) MPI_Iprobe(left, MPI_ANY_TAG, comm, &flag, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    CHECK(count == 1 + round % 4 && status.MPI_TAG == round && status.MPI_SOURCE == left);
    MPI_Recv(in, count, MPI_INT, left, round, comm, MPI_STATUS_IGNORE);
    CHECK(in[0] == left);
    MPI_Wait(&sent, MPI_STATUS_IGNORE);
  }
}

static void windows(MPI_Comm comm) {
  int* memory;
  MPI_Win win;
  MPI_Win_allocate(kRoom * sizeof(int), sizeof(int), MPI_INFO_NULL, comm, &memory, &win);
  for (int round = 0; round < kRounds; ++round) {
    int out = 100 * rank + round, in = -1;
    MPI_Win_fence(0, win);
    MPI_Put(&out, 1, MPI_INT, right, round, 1, MPI_INT, win);
    MPI_Win_fence(0, win);
    CHECK(memory[round] == 100 * left + round);
    MPI_Win_lock(MPI_LOCK_SHARED, right, 0, win);
    MPI_Get(&in, 1, MPI_INT, right, round, 1, MPI_INT, win);
    MPI_Win_unlock(right, win);
    CHECK(in == out);
    MPI_Barrier(comm);
  }
  MPI_Win_free(&win);
}

/* Independent operations only: MPICH 4.0.2 holds a lock of the whole process in collective ones, in
 * which two threads of each rank then wait for each other's. */
static void files(MPI_Comm comm, int thread) {
  int out[kEach], in[kEach];
  const MPI_Offset mine = rank * (MPI_Offset)sizeof out, theirs = right * (MPI_Offset)sizeof out;
  MPI_Request request;
  MPI_Status status;
  for (int i = 0; i < kEach; ++i) out[i] = 100 * rank + 10 * thread + i;
  for (int round = 0; round < kRounds; ++round) {
    out[1] += 5;
    if (round % 2 == 0) {
      MPI_File_write_at(file[thread], mine, out, kEach, MPI_INT, &status);
    } else {
      MPI_File_iwrite_at(file[thread], mine, out, kEach, MPI_INT, &request);
      MPI_Wait(&request, &status);
    }
    MPI_Barrier(comm);
    MPI_File_read_at(file[thread], theirs, in, kEach, MPI_INT, &status);
    CHECK(in[1] == 100 * right + 10 * thread + 1 + 5 * (round + 1));
    MPI_Barrier(comm);
  }
  MPI_File_seek(file[thread], mine, MPI_SEEK_SET);
  MPI_File_read(file[thread], in, kEach, MPI_INT, &status);
  CHECK(in[1] == out[1]);
}

static void name_of(int thread, char* name, size_t room) {
  snprintf(name, room, "%s/thread%d", folder, thread);
}

static void open_files(void) {
  char name[1024];
  for (int i = 0; i < kThreads; ++i) {
    name_of(i, name, sizeof name);
    CHECK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL,
                        &file[i]) == MPI_SUCCESS);
  }
}

static void close_files(void) {
  char name[1024];
  for (int i = 0; i < kThreads; ++i) {
    MPI_File_close(&file[i]);
    name_of(i, name, sizeof name);
    if (rank == 0) CHECK(MPI_File_delete(name, MPI_INFO_NULL) == MPI_SUCCESS);
  }
}

/* What belongs to nobody but the rank, made by all of its threads at once. */
static void objects(MPI_Comm comm, int thread) {
  for (int round = 0; round < kRounds; ++round) {
    int key, value = thread, found = 0, *read = NULL, flag = 0, in[4] = {0}, sum = 0;
    const int out[4] = {rank, thread, round, 7};
    char text[16];
    MPI_Datatype type, twin;
    MPI_Info info;
    MPI_Op op;
    MPI_Group group;
    MPI_Type_vector(2, 1, 2, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Type_dup(type, &twin);
    MPI_Sendrecv(out, 1, type, right, 3, in, 1, twin, left, 3, comm, MPI_STATUS_IGNORE);
    CHECK(in[0] == left && in[2] == round);
    MPI_Type_free(&type);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL);
    MPI_Comm_set_attr(comm, key, &value);
    MPI_Comm_get_attr(comm, key, &read, &found);
    CHECK(found && *read == thread);
    MPI_Comm_delete_attr(comm, key);
    MPI_Comm_free_keyval(&key);
    MPI_Info_create(&info);
    MPI_Info_set(info, "key", thread == 0 ? "zero" : "more");
    MPI_Info_get(info, "key", 15, text, &flag);
    CHECK(flag && strcmp(text, thread == 0 ? "zero" : "more") == 0);
    MPI_Info_free(&info);
    MPI_Op_create(add, 1, &op);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, op, comm);
    CHECK(sum == size * (size - 1) / 2);
    MPI_Op_free(&op);
    MPI_Comm_group(comm, &group);
    MPI_Group_free(&group);
    MPI_Type_free(&twin);
  }
}

static void communicators(MPI_Comm comm) {
  const int cyclic = 1;
  for (int round = 0; round < kRounds; ++round) {
    int sum = 0, in[2] = {-1, -1};
    MPI_Comm made;
    MPI_Request request;
    if (round % 3 == 0) MPI_Comm_dup(comm, &made);
    if (round % 3 == 1) {
      MPI_Comm_idup(comm, &made, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    if (round % 3 == 2) MPI_Comm_split(comm, 0, rank, &made);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, made);
    CHECK(sum == size * (size - 1) / 2);
    MPI_Comm_free(&made);
    MPI_Cart_create(comm, 1, &size, &cyclic, 0, &made);
    MPI_Neighbor_allgather(&rank, 1, MPI_INT, in, 1, MPI_INT, made);
    CHECK(in[0] == left && in[1] == right);
    MPI_Comm_free(&made);
  }
}

static struct {
  int in[kThreads][kEach], out[kThreads][kEach];
  MPI_Request requests[kThreads][2 * kEach];
  MPI_Request sums[kThreads];
  int sum[kThreads];
} handed;

/* Synchronous sends: MPICH gives one handle to all others that are complete, and nobody could tell
 * which of them another thread completes. */
static void post(int thread) {
  for (int i = 0; i < kEach; ++i) {
    handed.out[thread][i] = 100 * rank + 10 * thread + i;
    MPI_Irecv(&handed.in[thread][i], 1, MPI_INT, i % 2 ? MPI_ANY_SOURCE : left, i, own[thread],
              &handed.requests[thread][i]);
    MPI_Issend(&handed.out[thread][i], 1, MPI_INT, right, i, own[thread],
               &handed.requests[thread][kEach + i]);
  }
  MPI_Iallreduce(&rank, &handed.sum[thread], 1, MPI_INT, MPI_SUM, own[thread],
                 &handed.sums[thread]);
}

/* The requests of the next thread. */
static void finish(int thread) {
  const int other = (thread + 1) % kThreads;
  MPI_Status statuses[2 * kEach];
  int flag = 0, index = 0;
  if (thread == 0) MPI_Waitall(2 * kEach, handed.requests[other], statuses);
  if (thread == 1)
    for (int i = 0; i < 2 * kEach; ++i)
      MPI_Waitany(2 * kEach, handed.requests[other], &index, &statuses[0]);
  if (thread == 2)
    for (int i = 0; i < 2 * kEach; ++i, flag = 0)
      while (!flag) MPI_Test(&handed.requests[other][i], &flag, &statuses[0]);
  MPI_Wait(&handed.sums[other], MPI_STATUS_IGNORE);
  CHECK(handed.sum[other] == size * (size - 1) / 2);
  for (int i = 0; i < kEach; ++i) CHECK(handed.in[other][i] == 100 * left + 10 * other + i);
}

static void* work(void* state) {
  const int thread = (int)(size_t)state;
  blocking(own[thread], thread);
  nonblocking(own[thread], thread);
  persistent(own[thread]);
  probes(own[thread]);
  windows(own[thread]);
  files(own[thread], thread);
  objects(own[thread], thread);
  communicators(own[thread]);
  post(thread);
  pthread_barrier_wait(&all_posted);
  finish(thread);
  held[thread] = conformance_checks;
  return NULL;
}

static void in_threads(void) {
  pthread_t threads[kThreads];
  pthread_barrier_init(&all_posted, NULL, kThreads);
  for (int i = 0; i < kThreads; ++i) pthread_create(&threads[i], NULL, work, (void*)(size_t)i);
  for (int i = 0; i < kThreads; ++i) {
    pthread_join(threads[i], NULL);
    conformance_checks += held[i];
  }
  pthread_barrier_destroy(&all_posted);
}

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (argc > 1) folder = argv[1];
  left = (rank + size - 1) % size;
  right = (rank + 1) % size;
  CHECK(provided == MPI_THREAD_MULTIPLE);
  for (int i = 0; i < kThreads; ++i) MPI_Comm_dup(MPI_COMM_WORLD, &own[i]);
  open_files();
  in_threads();
  close_files();
  for (int i = 0; i < kThreads; ++i) MPI_Comm_free(&own[i]);
  return conclude("thread_families");
}
