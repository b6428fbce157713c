/* SPDX-License-Identifier: BSD-3-Clause */
/* More than two thousand live objects of each kind. */
#include "conformance.h"

/* MPICH has room for some 2,040 communicators, of which tools take a few. */
enum { kMany = 2200, kComms = 2010 };
static int rank, size, left, right;

static void requests(void) {
  static MPI_Request all[2 * kMany];
  static int in[kMany], out[kMany];
  for (int i = 0; i < kMany; ++i) {
    out[i] = kMany * rank + i;
    MPI_Irecv(&in[i], 1, MPI_INT, left, i, MPI_COMM_WORLD, &all[i]);
  }
  for (int i = 0; i < kMany; ++i)
    MPI_Isend(&out[i], 1, MPI_INT, right, i, MPI_COMM_WORLD, &all[kMany + i]);
  MPI_Waitall(2 * kMany, all, MPI_STATUSES_IGNORE);
  for (int i = 0; i < kMany; ++i) CHECK(in[i] == kMany * left + i);
  for (int i = 0; i < kMany; ++i)
    MPI_Recv_init(&in[i], 1, MPI_INT, left, i, MPI_COMM_WORLD, &all[i]);
  for (int i = 0; i < kMany; ++i) MPI_Request_free(&all[i]);
}

static void combine(void* in, void* inout, int* count, MPI_Datatype* type) {
  (void)in;
  (void)inout;
  (void)count;
  (void)type;
}
static void handle(MPI_Comm* comm, int* code, ...) {
  (void)comm;
  (void)code;
}

static void others(void) {
  static MPI_Datatype types[kMany];
  static MPI_Group groups[kMany];
  static MPI_Info infos[kMany];
  static MPI_Op ops[kMany];
  static MPI_Errhandler handlers[kMany];
  static int keys[kMany];
  MPI_Group world;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  for (int i = 0; i < kMany; ++i) {
    MPI_Type_contiguous(1 + i % 7, MPI_INT, &types[i]);
    MPI_Group_incl(world, 1, &rank, &groups[i]);
    MPI_Info_create(&infos[i]);
    MPI_Op_create(combine, 1, &ops[i]);
    MPI_Comm_create_errhandler(handle, &handlers[i]);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &keys[i], NULL);
  }
  CHECK(types[0] != types[kMany - 1]);
  for (int i = kMany; i-- > 0;) {
    MPI_Type_free(&types[i]);
    MPI_Group_free(&groups[i]);
    MPI_Info_free(&infos[i]);
    MPI_Op_free(&ops[i]);
    MPI_Errhandler_free(&handlers[i]);
    MPI_Comm_free_keyval(&keys[i]);
  }
  MPI_Group_free(&world);
}

static int scattered(int i) { return (int)((long)i * 727 % kComms); }

static void communicators(void) {
  enum { kPart = 30 };
  static MPI_Comm all[kComms];
  int sum = 0;
  MPI_Request request;
  for (int i = 0; i < kComms; ++i) {
    if (i % 2 == 0) {
      MPI_Comm_dup(MPI_COMM_WORLD, &all[i]);
    } else {
      MPI_Comm_idup(MPI_COMM_WORLD, &all[i], &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
  }
  for (int i = 0; i < kComms; i += 67) {
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, all[i]);
    CHECK(sum == size * (size - 1) / 2);
  }
  /* Some are freed, in no order that they were made in, and others are made in their place. */
  for (int i = 0; i < kComms; ++i)
    if (scattered(i) % kPart == 1) MPI_Comm_free(&all[scattered(i)]);
  for (int i = kComms - 1; i >= 0; --i)
    if (i % kPart == 1) MPI_Comm_split(MPI_COMM_WORLD, 0, rank, &all[i]);
  for (int i = 1; i < kComms; i += 4 * kPart) {
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, all[i]);
    CHECK(sum == size * (size - 1) / 2);
  }
  for (int i = 0; i < kComms; ++i) MPI_Comm_free(&all[scattered(i)]);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  left = (rank + size - 1) % size;
  right = (rank + 1) % size;
  requests();
  others();
  communicators();
  return conclude("many");
}
