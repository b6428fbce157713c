/* SPDX-License-Identifier: BSD-3-Clause */
/* Every collective between two groups, one of which has a single rank; and communicators that all
 * of a communicator make beside those that a group makes, in an order that ranks need not share. */
#include "conformance.h"

static int rank, size, alone, others, peers;
static MPI_Comm inter;

static void rooted(void) {
  const int root = alone ? MPI_ROOT : 0; /* the single rank is the root */
  int value = alone ? 42 : 0, all[64] = {0}, counts[64], places[64];
  for (int i = 0; i < 64; ++i) {
    counts[i] = 1;
    places[i] = i;
  }
  MPI_Bcast(&value, 1, MPI_INT, root, inter);
  CHECK(value == 42);
  for (int i = 0; i < 64; ++i) all[i] = 10 * i;
  MPI_Scatter(all, 1, MPI_INT, &value, 1, MPI_INT, root, inter);
  if (!alone) CHECK(value == 10 * (rank - 1));
  MPI_Scatterv(all, counts, places, MPI_INT, &value, 1, MPI_INT, root, inter);
  if (!alone) CHECK(value == 10 * (rank - 1));
  MPI_Gather(&rank, 1, MPI_INT, all, 1, MPI_INT, root, inter);
  if (alone) CHECK(all[others - 1] == size - 1);
  MPI_Gatherv(&rank, 1, MPI_INT, all, counts, places, MPI_INT, root, inter);
  if (alone) CHECK(all[others - 1] == size - 1);
  MPI_Reduce(&rank, &value, 1, MPI_INT, MPI_SUM, root, inter);
  if (alone) CHECK(value == size * (size - 1) / 2);
}

static void among_all(void) {
  int all[64] = {0}, out[64], counts[64], places[64];
  MPI_Datatype types[64];
  MPI_Request request;
  for (int i = 0; i < 64; ++i) {
    out[i] = rank;
    counts[i] = 1;
    places[i] = i;
    types[i] = MPI_INT;
  }
  MPI_Barrier(inter);
  MPI_Allgather(&rank, 1, MPI_INT, all, 1, MPI_INT, inter);
  CHECK(all[peers - 1] == (alone ? size - 1 : 0));
  MPI_Allgatherv(&rank, 1, MPI_INT, all, counts, places, MPI_INT, inter);
  CHECK(all[peers - 1] == (alone ? size - 1 : 0));
  MPI_Alltoall(out, 1, MPI_INT, all, 1, MPI_INT, inter);
  CHECK(all[0] == (alone ? 1 : 0));
  MPI_Alltoallv(out, counts, places, MPI_INT, all, counts, places, MPI_INT, inter);
  CHECK(all[0] == (alone ? 1 : 0));
  for (int i = 0; i < 64; ++i) places[i] *= (int)sizeof(int);
  MPI_Alltoallw(out, counts, places, types, all, counts, places, types, inter);
  CHECK(all[0] == (alone ? 1 : 0));
  MPI_Allreduce(&rank, all, 1, MPI_INT, MPI_SUM, inter);
  CHECK(all[0] == (alone ? size * (size - 1) / 2 : 0));
  MPI_Ibarrier(inter, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Iallreduce(&rank, all, 1, MPI_INT, MPI_SUM, inter, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK(all[0] == (alone ? size * (size - 1) / 2 : 0));
}

/* The groups divide what the other gives, in blocks of their own. */
static void scattered(void) {
  const int block = alone ? 2 * others : 2;
  int out[128], in[128] = {0}, counts[64];
  MPI_Request request;
  for (int i = 0; i < 128; ++i) out[i] = i;
  for (int i = 0; i < 64; ++i) counts[i] = block;
  MPI_Reduce_scatter_block(out, in, block, MPI_INT, MPI_MAX, inter);
  CHECK(in[0] == (alone ? 0 : 2 * (rank - 1)));
  MPI_Reduce_scatter(out, in, counts, MPI_INT, MPI_MAX, inter);
  CHECK(in[1] == (alone ? 1 : 2 * (rank - 1) + 1));
  MPI_Ireduce_scatter_block(out, in, block, MPI_INT, MPI_MAX, inter, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK(in[0] == (alone ? 0 : 2 * (rank - 1)));
}

/* Even ranks begin the duplicate before the group's communicator, odd ones after it. */
static void beside_each_other(void) {
  MPI_Group world;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  for (int round = 0; round < 6; ++round) {
    int sum = 0, most = 0;
    MPI_Comm dup, made;
    MPI_Request request;
    if (rank % 2 == 0) MPI_Comm_idup(MPI_COMM_WORLD, &dup, &request);
    MPI_Comm_create_group(MPI_COMM_WORLD, world, round, &made);
    if (rank % 2 == 1) MPI_Comm_idup(MPI_COMM_WORLD, &dup, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, dup);
    MPI_Reduce(&rank, &most, 1, MPI_INT, MPI_MAX, 0, made);
    CHECK(sum == size * (size - 1) / 2);
    if (rank == 0) CHECK(most == size - 1);
    MPI_Comm_free(&made);
    MPI_Comm_free(&dup);
  }
  MPI_Group_free(&world);
}

int main(int argc, char** argv) {
  MPI_Comm local;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  alone = rank == 0;
  others = size - 1;
  peers = alone ? others : 1;
  MPI_Comm_split(MPI_COMM_WORLD, alone, rank, &local);
  MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, alone ? 1 : 0, 7, &inter);
  rooted();
  among_all();
  scattered();
  MPI_Comm_free(&inter);
  MPI_Comm_free(&local);
  beside_each_other();
  return conclude("groups");
}
