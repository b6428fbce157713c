/* SPDX-License-Identifier: BSD-3-Clause */
/* One-sided communication: every kind of window, every kind of synchronization, all operations. */
#include "conformance.h"

/* MPICH 4.0.2 confuses the ranks of allocated windows of a few bytes. */
enum { kRoom = 512 };
static int rank, size, left, right;

/* Fence epochs on a window of the program's own memory; put, get, accumulate. */
static void fences(void) {
  int memory[8], got[4], mine[4];
  MPI_Win win;
  MPI_Datatype pair;
  for (int i = 0; i < 8; ++i) memory[i] = 100 * rank + i;
  MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_set_name(win, "fences");
  MPI_Type_vector(2, 1, 2, MPI_INT, &pair);
  MPI_Type_commit(&pair);
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 4; ++i) mine[i] = 1000 * round + 10 * rank + i;
    MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
    MPI_Put(mine, 4, MPI_INT, right, 0, 4, MPI_INT, win);
    MPI_Win_fence(0, win);
    for (int i = 0; i < 4; ++i) CHECK(memory[i] == 1000 * round + 10 * left + i);
    MPI_Get(got, 2, MPI_INT, left, 4, 1, pair, win);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    CHECK(got[0] == 100 * left + 4 && got[1] == 100 * left + 6);
  }
  memory[7] = 0;
  MPI_Win_fence(0, win);
  mine[0] = rank + 1;
  for (int to = 0; to < size; ++to)
    MPI_Accumulate(mine, 1, MPI_INT, to, 7, 1, MPI_INT, MPI_SUM, win);
  MPI_Win_fence(0, win);
  CHECK(memory[7] == size * (size + 1) / 2);
  MPI_Type_free(&pair);
  MPI_Win_free(&win);
  CHECK(win == MPI_WIN_NULL);
}

/* Post, start, complete, wait (or test) between neighbours. */
static void neighbours(void) {
  double* memory;
  MPI_Win win;
  MPI_Group world, to, from;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_incl(world, 1, &right, &to);
  MPI_Group_incl(world, 1, &left, &from);
  MPI_Win_allocate(kRoom * sizeof(double), sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &memory,
                   &win);
  for (int round = 0; round < 4; ++round) {
    double value = round + 0.5 * rank;
    int done = 0;
    MPI_Win_post(from, 0, win);
    MPI_Win_start(to, 0, win);
    MPI_Put(&value, 1, MPI_DOUBLE, right, round, 1, MPI_DOUBLE, win);
    MPI_Win_complete(win);
    if (round % 2 == 0)
      MPI_Win_wait(win);
    else
      while (!done) MPI_Win_test(win, &done);
    CHECK(memory[round] == round + 0.5 * left);
  }
  MPI_Group of_window;
  int same = 0;
  MPI_Win_get_group(win, &of_window);
  MPI_Group_compare(of_window, world, &same);
  CHECK(same == MPI_IDENT);
  MPI_Group_free(&of_window);
  MPI_Group_free(&to);
  MPI_Group_free(&from);
  MPI_Group_free(&world);
  MPI_Win_free(&win);
}

/* Locks; atomics; requests. Rank 0 holds a counter and a word to swap. */
static void locks(void) {
  long* memory;
  MPI_Win win;
  const long one = 1;
  long before = -1;
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "accumulate_ordering", "none");
  MPI_Win_allocate(kRoom * sizeof(long), sizeof(long), info, MPI_COMM_WORLD, &memory, &win);
  MPI_Info_free(&info);
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win);
  memset(memory, 0, (size_t)(4 + size) * sizeof(long));
  MPI_Win_unlock(rank, win);
  MPI_Barrier(MPI_COMM_WORLD);

  for (int i = 0; i < 5; ++i) {
    long last = before;
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    MPI_Fetch_and_op(&one, &before, MPI_LONG, 0, 0, MPI_SUM, win);
    MPI_Win_flush(0, win);
    MPI_Win_unlock(0, win);
    CHECK(before > last && before < 5 * size);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock_all(MPI_MODE_NOCHECK, win);
  long total = 0, nothing = 0;
  MPI_Get_accumulate(&nothing, 0, MPI_LONG, &total, 1, MPI_LONG, 0, 0, 1, MPI_LONG, MPI_NO_OP, win);
  MPI_Win_flush_local(0, win);
  MPI_Win_flush(0, win);
  CHECK(total == 5 * size);

  /* One rank only finds the word at 0. */
  long mine = rank + 1, zero = 0, found = -1;
  MPI_Compare_and_swap(&mine, &zero, &found, MPI_LONG, 0, 1, win);
  MPI_Win_flush_all(win);
  int won = found == 0, winners = 0;
  MPI_Allreduce(&won, &winners, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  CHECK(winners == 1);

  long seen[2] = {-1, -1}, sent[2] = {10 * rank, 10 * rank + 1};
  MPI_Request requests[2];
  MPI_Rput(sent, 2, MPI_LONG, right, 2, 2, MPI_LONG, win, &requests[0]);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  MPI_Win_flush_local_all(win);
  MPI_Win_flush_all(win);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_sync(win);
  MPI_Rget(seen, 2, MPI_LONG, rank, 2, 2, MPI_LONG, win, &requests[0]);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  CHECK(seen[0] == 10 * left && seen[1] == 10 * left + 1);
  MPI_Barrier(MPI_COMM_WORLD);
  long add[1] = {7}, was[1] = {-1};
  MPI_Raccumulate(add, 1, MPI_LONG, 0, 4 + rank, 1, MPI_LONG, MPI_SUM, win, &requests[0]);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  MPI_Win_flush(0, win);
  MPI_Rget_accumulate(add, 1, MPI_LONG, was, 1, MPI_LONG, 0, 4 + rank, 1, MPI_LONG, MPI_REPLACE,
                      win, &requests[1]);
  MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
  CHECK(was[0] == 7);
  MPI_Win_unlock_all(win);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_free(&win);
}

/* Memory that ranks share; each writes its neighbour's. */
static void shared(void) {
  MPI_Comm node;
  MPI_Win win;
  int *own, *theirs, unit, self, peers;
  MPI_Aint bytes;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  MPI_Comm_rank(node, &self);
  MPI_Comm_size(node, &peers);
  MPI_Win_allocate_shared(kRoom * sizeof(int), sizeof(int), MPI_INFO_NULL, node, &own, &win);
  MPI_Win_lock_all(MPI_MODE_NOCHECK, win);
  MPI_Win_shared_query(win, (self + 1) % peers, &bytes, &unit, &theirs);
  CHECK(bytes == kRoom * sizeof(int) && unit == sizeof(int));
  own[1] = 0;
  MPI_Win_sync(win);
  MPI_Barrier(node);
  theirs[1] = 50 + self;
  MPI_Win_sync(win);
  MPI_Barrier(node);
  MPI_Win_sync(win);
  CHECK(own[1] == 50 + (self + peers - 1) % peers);
  MPI_Win_unlock_all(win);
  MPI_Win_free(&win);
  MPI_Comm_free(&node);
}

/* Memory attached as the program goes; displacements are addresses. */
static void dynamic(void) {
  MPI_Win win;
  MPI_Aint here, there;
  int first[16], second[4], value = 3 * rank + 1;
  MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_attach(win, first, sizeof first);
  MPI_Win_attach(win, second, sizeof second);
  memset(first, 0, sizeof first);
  MPI_Get_address(&first[9], &here);
  MPI_Sendrecv(&here, 1, MPI_AINT, left, 0, &there, 1, MPI_AINT, right, 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, right, 0, win);
  MPI_Put(&value, 1, MPI_INT, right, there, 1, MPI_INT, win);
  MPI_Win_unlock(right, win);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
  CHECK(first[9] == 3 * left + 1);
  MPI_Win_unlock(rank, win);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock_all(0, win);
  MPI_Accumulate(&value, 1, MPI_INT, right, there, 1, MPI_INT, MPI_SUM, win);
  MPI_Win_unlock_all(win);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
  CHECK(first[9] == 2 * (3 * left + 1));
  MPI_Win_unlock(rank, win);
  MPI_Win_detach(win, first);
  MPI_Win_detach(win, second);
  MPI_Win_free(&win);
}

/* One access to memory that was attached piece by piece. */
static void pieces(void) {
  enum { kHalf = 300 };
  static int both[2 * kHalf], out[2 * kHalf];
  MPI_Win win;
  MPI_Aint here, there;
  for (int i = 0; i < 2 * kHalf; ++i) out[i] = 1000 * rank + i;
  MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_attach(win, both, kHalf * sizeof both[0]);
  MPI_Win_attach(win, both + kHalf, kHalf * sizeof both[0]);
  MPI_Get_address(both, &here);
  MPI_Sendrecv(&here, 1, MPI_AINT, left, 0, &there, 1, MPI_AINT, right, 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  MPI_Win_lock_all(0, win);
  MPI_Put(out, 2 * kHalf, MPI_INT, right, there, 2 * kHalf, MPI_INT, win);
  MPI_Win_unlock_all(win);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < 2 * kHalf; ++i) CHECK(both[i] == 1000 * left + i);
  MPI_Win_detach(win, both);
  MPI_Win_detach(win, both + kHalf);
  MPI_Win_free(&win);
}

static int complaints;
static void complain(MPI_Win* win, int* code, ...) {
  (void)win, (void)code;
  ++complaints;
}

/* What belongs to a window: attributes, error handler, info; errors that return. */
static void belongings(void) {
  static int memory[2];
  int keyval, found = 0, value = 42, *read = NULL, to = size + 3;
  MPI_Win win;
  MPI_Errhandler handler;
  MPI_Info info;
  MPI_Win_create(memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, &keyval, NULL);
  MPI_Win_set_attr(win, keyval, &value);
  MPI_Win_get_attr(win, keyval, &read, &found);
  CHECK(found && read == &value);
  MPI_Win_delete_attr(win, keyval);
  MPI_Win_free_keyval(&keyval);
  MPI_Win_create_errhandler(complain, &handler);
  MPI_Win_set_errhandler(win, handler);
  MPI_Win_call_errhandler(win, MPI_ERR_OTHER);
  CHECK(complaints == 1);
  MPI_Errhandler_free(&handler);
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  MPI_Win_get_errhandler(win, &handler);
  CHECK(handler == MPI_ERRORS_RETURN);
  MPI_Win_get_info(win, &info);
  MPI_Win_set_info(win, info);
  MPI_Info_free(&info);
  MPI_Win_fence(0, win);
  CHECK(fails_with(MPI_Put(&value, 1, MPI_INT, to, 0, 1, MPI_INT, win), MPI_ERR_RANK));
  CHECK(MPI_Put(&value, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, win) == MPI_SUCCESS);
  CHECK(MPI_Put(NULL, 0, MPI_INT, right, 0, 0, MPI_INT, win) == MPI_SUCCESS);
  MPI_Win_fence(0, win);
  MPI_Win_free(&win);
}

#if MPI_VERSION >= 4
/* The forms with counts of MPI_Count. */
static void large_counts(void) {
  long memory[3] = {0, 0, 0}, value = 5 + rank, got = 0, *own;
  MPI_Request request;
  MPI_Win win;
  MPI_Win_create_c(memory, sizeof memory, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_fence(0, win);
  MPI_Put_c(&value, 1, MPI_LONG, right, 0, 1, MPI_LONG, win);
  MPI_Accumulate_c(&value, 1, MPI_LONG, right, 1, 1, MPI_LONG, MPI_SUM, win);
  MPI_Win_fence(0, win);
  CHECK(memory[0] == 5 + left && memory[1] == 5 + left);
  MPI_Get_c(&got, 1, MPI_LONG, right, 0, 1, MPI_LONG, win);
  MPI_Win_fence(0, win);
  CHECK(got == value);
  MPI_Get_accumulate_c(&value, 1, MPI_LONG, &got, 1, MPI_LONG, right, 1, 1, MPI_LONG, MPI_SUM, win);
  MPI_Win_fence(0, win);
  CHECK(got == value && memory[1] == 2 * (5 + left));
  MPI_Win_free(&win);
  MPI_Win_allocate_c(kRoom * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &own, &win);
  *own = 0;
  MPI_Win_lock_all(0, win);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Rput_c(&value, 1, MPI_LONG, right, 0, 1, MPI_LONG, win, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Win_flush_all(win);
  MPI_Rget_c(&got, 1, MPI_LONG, right, 0, 1, MPI_LONG, win, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK(got == value);
  MPI_Raccumulate_c(&value, 1, MPI_LONG, right, 0, 1, MPI_LONG, MPI_SUM, win, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Win_flush_all(win);
  MPI_Rget_accumulate_c(&value, 1, MPI_LONG, &got, 1, MPI_LONG, right, 0, 1, MPI_LONG, MPI_SUM, win,
                        &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK(got == 2 * value);
  MPI_Win_unlock_all(win);
  MPI_Win_free(&win);
}
#endif

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  left = (rank + size - 1) % size;
  right = (rank + 1) % size;
  fences();
  neighbours();
  locks();
  shared();
  dynamic();
  pieces();
  belongings();
  FOUR(large_counts();)
  return conclude("windows");
}
