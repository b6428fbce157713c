/* SPDX-License-Identifier: BSD-3-Clause */
/* Thousands of objects of each kind alive at once: live FOLDER. They are freed in another order
 * than they were made, half of them made again while the others live, and each is used: what a
 * number or a handle stood for before must not be taken for what it stands for now. */
#include <sys/resource.h>

#include "conformance.h"

enum { kMany = 2201, kStride = 727, kWindows = 100, kFiles = 200, kRoom = 512 };
static int rank, size, left, right;

/* All of 0 to n - 1, in no order that anything is made in; n is no multiple of kStride, a prime. */
static int scattered(int i, int n) { return (int)((long)i * kStride % n); }

static void persistent(void) {
  static MPI_Request all[2 * kMany];
  static int in[kMany], out[kMany];
  for (int i = 0; i < kMany; ++i) {
    MPI_Recv_init(&in[i], 1, MPI_INT, left, i, MPI_COMM_WORLD, &all[i]);
    MPI_Send_init(&out[i], 1, MPI_INT, right, i, MPI_COMM_WORLD, &all[kMany + i]);
  }
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < kMany; ++i) out[i] = kMany * rank + i + round;
    if (round == 0) {
      MPI_Startall(2 * kMany, all);
      MPI_Waitall(2 * kMany, all, MPI_STATUSES_IGNORE);
      for (int i = 0; i < kMany; ++i) CHECK(in[i] == kMany * left + i);
    }
    for (int i = round; i < kMany && round > 0; i += 20) {
      const int at = scattered(i, kMany);
      MPI_Start(&all[at]);
      MPI_Start(&all[kMany + at]);
      MPI_Wait(&all[at], MPI_STATUS_IGNORE);
      MPI_Wait(&all[kMany + at], MPI_STATUS_IGNORE);
      CHECK(in[at] == kMany * left + at + round);
    }
    /* Every other one is gone, and made again for another tag. */
    for (int i = 0; i < kMany; ++i) {
      const int at = scattered(i, kMany);
      if (at % 2 == 0) continue;
      MPI_Request_free(&all[at]);
      MPI_Request_free(&all[kMany + at]);
    }
    for (int at = 1; at < kMany; at += 2) {
      MPI_Send_init(&out[at], 1, MPI_INT, right, kMany + at, MPI_COMM_WORLD, &all[kMany + at]);
      MPI_Recv_init(&in[at], 1, MPI_INT, left, kMany + at, MPI_COMM_WORLD, &all[at]);
    }
  }
  for (int i = 0; i < 2 * kMany; ++i) MPI_Request_free(&all[scattered(i, 2 * kMany)]);
}

/* Synchronous sends: MPICH gives one handle to all others that are complete, and nobody could tell
 * which of them a call waits for. */
static void active(void) {
  static MPI_Request all[2 * kMany];
  static int in[kMany], out[kMany];
  for (int i = 0; i < kMany; ++i)
    MPI_Irecv(&in[i], 1, MPI_INT, i % 3 ? left : MPI_ANY_SOURCE, i, MPI_COMM_WORLD, &all[i]);
  for (int i = 0; i < kMany; ++i) {
    const int at = scattered(i, kMany);
    out[at] = kMany * rank + at;
    MPI_Issend(&out[at], 1, MPI_INT, right, at, MPI_COMM_WORLD, &all[kMany + at]);
  }
  for (int i = 0; i < 2 * kMany; ++i) MPI_Wait(&all[scattered(i, 2 * kMany)], MPI_STATUS_IGNORE);
  for (int i = 0; i < kMany; ++i) CHECK(in[i] == kMany * left + i);
}

/* Messages that are matched and not yet received. */
static void messages(void) {
  static MPI_Message all[kMany];
  static MPI_Request sends[kMany];
  static int out[kMany];
  for (int i = 0; i < kMany; ++i) {
    out[i] = kMany * rank + i;
    MPI_Isend(&out[i], 1, MPI_INT, right, i, MPI_COMM_WORLD, &sends[i]);
  }
  for (int i = 0; i < kMany; ++i) {
    const int at = scattered(i, kMany);
    MPI_Mprobe(at % 2 ? left : MPI_ANY_SOURCE, at, MPI_COMM_WORLD, &all[at], MPI_STATUS_IGNORE);
  }
  for (int i = kMany; i-- > 0;) {
    int in = -1;
    MPI_Mrecv(&in, 1, MPI_INT, &all[i], MPI_STATUS_IGNORE);
    CHECK(in == kMany * left + i);
  }
  MPI_Waitall(kMany, sends, MPI_STATUSES_IGNORE);
}

static void collectives(void) {
  enum { kOutstanding = 500 };
  static MPI_Request all[kOutstanding];
  static int sums[kOutstanding];
  for (int i = 0; i < kOutstanding; ++i)
    MPI_Iallreduce(&rank, &sums[i], 1, MPI_INT, i % 2 ? MPI_SUM : MPI_MAX, MPI_COMM_WORLD, &all[i]);
  for (int i = 0; i < kOutstanding; ++i) {
    const int at = scattered(i, kOutstanding);
    MPI_Wait(&all[at], MPI_STATUS_IGNORE);
    CHECK(sums[at] == (at % 2 ? size * (size - 1) / 2 : size - 1));
  }
}

static void add(void* from, void* to, int* count, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < *count; ++i) ((int*)to)[i] += ((int*)from)[i];
}
static void handle(MPI_Comm* comm, int* code, ...) { (void)comm, (void)code; }

static MPI_Datatype types[kMany];
static MPI_Group groups[kMany], world;
static MPI_Info infos[kMany];
static MPI_Op ops[kMany];
static MPI_Errhandler handlers[kMany];
static int keys[kMany];

static void make(int i) {
  MPI_Type_contiguous(1 + i % 7, MPI_INT, &types[i]);
  MPI_Type_commit(&types[i]);
  MPI_Group_incl(world, 1, &rank, &groups[i]);
  MPI_Info_create(&infos[i]);
  MPI_Op_create(add, i % 2, &ops[i]);
  MPI_Comm_create_errhandler(handle, &handlers[i]);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &keys[i], NULL);
}

static void use(int i) {
  int out[8] = {0}, in[8] = {0}, sum = 0, members = 0;
  MPI_Comm made;
  out[i % 7] = kMany * rank + i;
  MPI_Sendrecv(out, 1, types[i], right, i, in, 1, types[i], left, i, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  CHECK(in[i % 7] == kMany * left + i);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, ops[i], MPI_COMM_WORLD);
  CHECK(sum == size * (size - 1) / 2);
  MPI_Comm_create(MPI_COMM_WORLD, groups[i], &made);
  MPI_Comm_size(made, &members);
  CHECK(members == 1);
  MPI_Comm_set_errhandler(made, handlers[i]);
  MPI_Comm_set_attr(made, keys[i], &sum);
  MPI_Comm_set_info(made, infos[i]);
  MPI_Comm_delete_attr(made, keys[i]);
  MPI_Comm_free(&made);
}

static void free_all_of(int i) {
  MPI_Type_free(&types[i]);
  MPI_Group_free(&groups[i]);
  MPI_Info_free(&infos[i]);
  MPI_Op_free(&ops[i]);
  MPI_Errhandler_free(&handlers[i]);
  MPI_Comm_free_keyval(&keys[i]);
}

static void others(void) {
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  for (int i = 0; i < kMany; ++i) make(i);
  for (int i = 0; i < kMany; i += 97) use(scattered(i, kMany));
  for (int i = 0; i < kMany; ++i)
    if (scattered(i, kMany) % 2 == 1) free_all_of(scattered(i, kMany));
  for (int i = kMany - 2; i > 0; i -= 2) make(i);
  for (int i = 0; i < kMany; i += 61) use(i);
  for (int i = 0; i < kMany; ++i) free_all_of(scattered(i, kMany));
  MPI_Group_free(&world);
}

static void windows(void) {
  static MPI_Win all[kWindows];
  static int memory[kWindows][kRoom];
  for (int i = 0; i < kWindows; ++i)
    MPI_Win_create(memory[i], sizeof memory[i], sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD,
                   &all[i]);
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < kWindows; i += 11) {
      const int at = scattered(i, kWindows), out = kWindows * rank + at + round;
      MPI_Win_fence(0, all[at]);
      MPI_Put(&out, 1, MPI_INT, right, 0, 1, MPI_INT, all[at]);
      MPI_Win_fence(0, all[at]);
      CHECK(memory[at][0] == kWindows * left + at + round);
    }
    for (int i = 0; i < kWindows; ++i)
      if (scattered(i, kWindows) % 4 == 1) MPI_Win_free(&all[scattered(i, kWindows)]);
    for (int i = 1; i < kWindows; i += 4)
      MPI_Win_create(memory[i], sizeof memory[i], sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD,
                     &all[i]);
  }
  for (int i = 0; i < kWindows; ++i) MPI_Win_free(&all[scattered(i, kWindows)]);
}

static void files(const char* folder) {
  static MPI_File all[kFiles];
  char name[1024];
  MPI_Status status;
  struct rlimit limit;
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
  for (int i = 0; i < kFiles; ++i) {
    snprintf(name, sizeof name, "%s/live%d", folder, i);
    CHECK(MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL,
                        &all[i]) == MPI_SUCCESS);
  }
  for (int i = 0; i < kFiles; i += 3) {
    const int at = scattered(i, kFiles), out = kFiles * rank + at;
    int in = -1;
    MPI_File_write_at(all[at], rank * (MPI_Offset)sizeof out, &out, 1, MPI_INT, &status);
    MPI_File_read_at(all[at], rank * (MPI_Offset)sizeof out, &in, 1, MPI_INT, &status);
    CHECK(in == out);
  }
  for (int i = 0; i < kFiles; ++i) MPI_File_close(&all[scattered(i, kFiles)]);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < kFiles && rank == 0; ++i) {
    snprintf(name, sizeof name, "%s/live%d", folder, i);
    CHECK(MPI_File_delete(name, MPI_INFO_NULL) == MPI_SUCCESS);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  left = (rank + size - 1) % size;
  right = (rank + 1) % size;
  persistent();
  active();
  messages();
  collectives();
  others();
  windows();
  files(argc > 1 ? argv[1] : ".");
  return conclude("live");
}
