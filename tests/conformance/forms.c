/* SPDX-License-Identifier: BSD-3-Clause */
/* Every form of every collective that moves data: blocking, nonblocking and persistent, each with
 * counts of int and of MPI_Count, over all ranks and over the neighbours of a ring. */
#include "conformance.h"

enum { kMost = 8 };
static int rank, size, last, left, sum, value;
static int own[kMost], all[kMost], ones[kMost], places[kMost], offsets[kMost];
static MPI_Count ones_c[kMost];
static MPI_Aint places_c[kMost], offsets_c[kMost];
static MPI_Datatype types[kMost];
static MPI_Comm ring;
static MPI_Request request;

static void prepare(void) {
  value = rank == 0 ? 77 : 0;
  for (int i = 0; i < kMost; ++i) {
    own[i] = 100 * rank + i;
    all[i] = -1;
  }
}

/* A persistent call is started once: MPICH 4.0.2 fails or hangs when some of them (Scatter_init)
 * are started again. */
#define AGAIN(call, ...)                   \
  do {                                     \
    prepare();                             \
    CHECK((call) == MPI_SUCCESS);          \
    MPI_Start(&request);                   \
    MPI_Wait(&request, MPI_STATUS_IGNORE); \
    CHECK(__VA_ARGS__);                    \
    MPI_Request_free(&request);            \
  } while (0)

static void blocking(void) {
  NOW(MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD), value == 77);
  NOW(MPI_Bcast_c(&value, 1, MPI_INT, 0, MPI_COMM_WORLD), value == 77);
  NOW(MPI_Gather(own, 1, MPI_INT, all, 1, MPI_INT, 0, MPI_COMM_WORLD),
      rank != 0 || all[last] == 100 * last);
  NOW(MPI_Gather_c(own, 1, MPI_INT, all, 1, MPI_INT, 0, MPI_COMM_WORLD),
      rank != 0 || all[last] == 100 * last);
  NOW(MPI_Gatherv(own, 1, MPI_INT, all, ones, places, MPI_INT, 0, MPI_COMM_WORLD),
      rank != 0 || all[last] == 100 * last);
  NOW(MPI_Gatherv_c(own, 1, MPI_INT, all, ones_c, places_c, MPI_INT, 0, MPI_COMM_WORLD),
      rank != 0 || all[last] == 100 * last);
  NOW(MPI_Scatter(own, 1, MPI_INT, all, 1, MPI_INT, 0, MPI_COMM_WORLD),
      rank == 0 || all[0] == rank);
  NOW(MPI_Scatter_c(own, 1, MPI_INT, all, 1, MPI_INT, 0, MPI_COMM_WORLD),
      rank == 0 || all[0] == rank);
  NOW(MPI_Scatterv(own, ones, places, MPI_INT, all, 1, MPI_INT, 0, MPI_COMM_WORLD),
      rank == 0 || all[0] == rank);
  NOW(MPI_Scatterv_c(own, ones_c, places_c, MPI_INT, all, 1, MPI_INT, 0, MPI_COMM_WORLD),
      rank == 0 || all[0] == rank);
  NOW(MPI_Allgather(own, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD),
      rank == last || all[last] == 100 * last);
  NOW(MPI_Allgather_c(own, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD),
      rank == last || all[last] == 100 * last);
  NOW(MPI_Allgatherv(own, 1, MPI_INT, all, ones, places, MPI_INT, MPI_COMM_WORLD),
      rank == last || all[last] == 100 * last);
  NOW(MPI_Allgatherv_c(own, 1, MPI_INT, all, ones_c, places_c, MPI_INT, MPI_COMM_WORLD),
      rank == last || all[last] == 100 * last);
  NOW(MPI_Alltoall(own, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD),
      rank == last || all[last] == 100 * last + rank);
  NOW(MPI_Alltoall_c(own, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD),
      rank == last || all[last] == 100 * last + rank);
  NOW(MPI_Alltoallv(own, ones, places, MPI_INT, all, ones, places, MPI_INT, MPI_COMM_WORLD),
      rank == last || all[last] == 100 * last + rank);
  NOW(MPI_Alltoallv_c(own, ones_c, places_c, MPI_INT, all, ones_c, places_c, MPI_INT,
                      MPI_COMM_WORLD),
      rank == last || all[last] == 100 * last + rank);
  NOW(MPI_Alltoallw(own, ones, offsets, types, all, ones, offsets, types, MPI_COMM_WORLD),
      rank == last || all[last] == 100 * last + rank);
  NOW(MPI_Alltoallw_c(own, ones_c, offsets_c, types, all, ones_c, offsets_c, types, MPI_COMM_WORLD),
      rank == last || all[last] == 100 * last + rank);
  NOW(MPI_Reduce(own, all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD),
      rank != 0 || all[0] == 100 * sum);
  NOW(MPI_Reduce_c(own, all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD),
      rank != 0 || all[0] == 100 * sum);
  NOW(MPI_Allreduce(own, all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD), all[0] == 100 * sum);
  NOW(MPI_Allreduce_c(own, all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD), all[0] == 100 * sum);
  NOW(MPI_Reduce_scatter(own, all, ones, MPI_INT, MPI_SUM, MPI_COMM_WORLD),
      all[0] == 100 * sum + size * rank);
  NOW(MPI_Reduce_scatter_c(own, all, ones_c, MPI_INT, MPI_SUM, MPI_COMM_WORLD),
      all[0] == 100 * sum + size * rank);
  NOW(MPI_Reduce_scatter_block(own, all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD),
      all[0] == 100 * sum + size * rank);
  NOW(MPI_Reduce_scatter_block_c(own, all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD),
      all[0] == 100 * sum + size * rank);
  NOW(MPI_Scan(own, all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD), all[0] == 50 * rank * (rank + 1));
  NOW(MPI_Scan_c(own, all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD), all[0] == 50 * rank * (rank + 1));
  NOW(MPI_Exscan(own, all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD),
      rank == 0 || all[0] == 50 * rank * (rank - 1));
  NOW(MPI_Exscan_c(own, all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD),
      rank == 0 || all[0] == 50 * rank * (rank - 1));
  NOW(MPI_Neighbor_allgather(own, 1, MPI_INT, all, 1, MPI_INT, ring),
      size < 3 || all[0] == 100 * left);
  NOW(MPI_Neighbor_allgather_c(own, 1, MPI_INT, all, 1, MPI_INT, ring),
      size < 3 || all[0] == 100 * left);
  NOW(MPI_Neighbor_allgatherv(own, 1, MPI_INT, all, ones, places, MPI_INT, ring),
      size < 3 || all[0] == 100 * left);
  NOW(MPI_Neighbor_allgatherv_c(own, 1, MPI_INT, all, ones_c, places_c, MPI_INT, ring),
      size < 3 || all[0] == 100 * left);
  NOW(MPI_Neighbor_alltoall(own, 1, MPI_INT, all, 1, MPI_INT, ring),
      size < 3 || all[0] == 100 * left + 1);
  NOW(MPI_Neighbor_alltoall_c(own, 1, MPI_INT, all, 1, MPI_INT, ring),
      size < 3 || all[0] == 100 * left + 1);
  NOW(MPI_Neighbor_alltoallv(own, ones, places, MPI_INT, all, ones, places, MPI_INT, ring),
      size < 3 || all[0] == 100 * left + 1);
  NOW(MPI_Neighbor_alltoallv_c(own, ones_c, places_c, MPI_INT, all, ones_c, places_c, MPI_INT,
                               ring),
      size < 3 || all[0] == 100 * left + 1);
  NOW(MPI_Neighbor_alltoallw(own, ones, offsets_c, types, all, ones, offsets_c, types, ring),
      size < 3 || all[0] == 100 * left + 1);
  NOW(MPI_Neighbor_alltoallw_c(own, ones_c, offsets_c, types, all, ones_c, offsets_c, types, ring),
      size < 3 || all[0] == 100 * left + 1);
}

static void nonblocking(void) {
  LATER(MPI_Ibcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD, &request), value == 77);
  LATER(MPI_Ibcast_c(&value, 1, MPI_INT, 0, MPI_COMM_WORLD, &request), value == 77);
  LATER(MPI_Igather(own, 1, MPI_INT, all, 1, MPI_INT, 0, MPI_COMM_WORLD, &request),
        rank != 0 || all[last] == 100 * last);
  LATER(MPI_Igather_c(own, 1, MPI_INT, all, 1, MPI_INT, 0, MPI_COMM_WORLD, &request),
        rank != 0 || all[last] == 100 * last);
  LATER(MPI_Igatherv(own, 1, MPI_INT, all, ones, places, MPI_INT, 0, MPI_COMM_WORLD, &request),
        rank != 0 || all[last] == 100 * last);
  LATER(
      MPI_Igatherv_c(own, 1, MPI_INT, all, ones_c, places_c, MPI_INT, 0, MPI_COMM_WORLD, &request),
      rank != 0 || all[last] == 100 * last);
  LATER(MPI_Iscatter(own, 1, MPI_INT, all, 1, MPI_INT, 0, MPI_COMM_WORLD, &request),
        rank == 0 || all[0] == rank);
  LATER(MPI_Iscatter_c(own, 1, MPI_INT, all, 1, MPI_INT, 0, MPI_COMM_WORLD, &request),
        rank == 0 || all[0] == rank);
  LATER(MPI_Iscatterv(own, ones, places, MPI_INT, all, 1, MPI_INT, 0, MPI_COMM_WORLD, &request),
        rank == 0 || all[0] == rank);
  LATER(
      MPI_Iscatterv_c(own, ones_c, places_c, MPI_INT, all, 1, MPI_INT, 0, MPI_COMM_WORLD, &request),
      rank == 0 || all[0] == rank);
  LATER(MPI_Iallgather(own, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD, &request),
        rank == last || all[last] == 100 * last);
  LATER(MPI_Iallgather_c(own, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD, &request),
        rank == last || all[last] == 100 * last);
  LATER(MPI_Iallgatherv(own, 1, MPI_INT, all, ones, places, MPI_INT, MPI_COMM_WORLD, &request),
        rank == last || all[last] == 100 * last);
  LATER(
      MPI_Iallgatherv_c(own, 1, MPI_INT, all, ones_c, places_c, MPI_INT, MPI_COMM_WORLD, &request),
      rank == last || all[last] == 100 * last);
  LATER(MPI_Ialltoall(own, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD, &request),
        rank == last || all[last] == 100 * last + rank);
  LATER(MPI_Ialltoall_c(own, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD, &request),
        rank == last || all[last] == 100 * last + rank);
  LATER(MPI_Ialltoallv(own, ones, places, MPI_INT, all, ones, places, MPI_INT, MPI_COMM_WORLD,
                       &request),
        rank == last || all[last] == 100 * last + rank);
  LATER(MPI_Ialltoallv_c(own, ones_c, places_c, MPI_INT, all, ones_c, places_c, MPI_INT,
                         MPI_COMM_WORLD, &request),
        rank == last || all[last] == 100 * last + rank);
  LATER(MPI_Ialltoallw(own, ones, offsets, types, all, ones, offsets, types, MPI_COMM_WORLD,
                       &request),
        rank == last || all[last] == 100 * last + rank);
  LATER(MPI_Ialltoallw_c(own, ones_c, offsets_c, types, all, ones_c, offsets_c, types,
                         MPI_COMM_WORLD, &request),
        rank == last || all[last] == 100 * last + rank);
  LATER(MPI_Ireduce(own, all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD, &request),
        rank != 0 || all[0] == 100 * sum);
  LATER(MPI_Ireduce_c(own, all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD, &request),
        rank != 0 || all[0] == 100 * sum);
  LATER(MPI_Iallreduce(own, all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request),
        all[0] == 100 * sum);
  LATER(MPI_Iallreduce_c(own, all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request),
        all[0] == 100 * sum);
  LATER(MPI_Ireduce_scatter(own, all, ones, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request),
        all[0] == 100 * sum + size * rank);
  LATER(MPI_Ireduce_scatter_c(own, all, ones_c, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request),
        all[0] == 100 * sum + size * rank);
  LATER(MPI_Ireduce_scatter_block(own, all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request),
        all[0] == 100 * sum + size * rank);
  LATER(MPI_Ireduce_scatter_block_c(own, all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request),
        all[0] == 100 * sum + size * rank);
  LATER(MPI_Iscan(own, all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request),
        all[0] == 50 * rank * (rank + 1));
  LATER(MPI_Iscan_c(own, all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request),
        all[0] == 50 * rank * (rank + 1));
  LATER(MPI_Iexscan(own, all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request),
        rank == 0 || all[0] == 50 * rank * (rank - 1));
  LATER(MPI_Iexscan_c(own, all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request),
        rank == 0 || all[0] == 50 * rank * (rank - 1));
  LATER(MPI_Ineighbor_allgather(own, 1, MPI_INT, all, 1, MPI_INT, ring, &request),
        size < 3 || all[0] == 100 * left);
  LATER(MPI_Ineighbor_allgather_c(own, 1, MPI_INT, all, 1, MPI_INT, ring, &request),
        size < 3 || all[0] == 100 * left);
  LATER(MPI_Ineighbor_allgatherv(own, 1, MPI_INT, all, ones, places, MPI_INT, ring, &request),
        size < 3 || all[0] == 100 * left);
  LATER(MPI_Ineighbor_allgatherv_c(own, 1, MPI_INT, all, ones_c, places_c, MPI_INT, ring, &request),
        size < 3 || all[0] == 100 * left);
  LATER(MPI_Ineighbor_alltoall(own, 1, MPI_INT, all, 1, MPI_INT, ring, &request),
        size < 3 || all[0] == 100 * left + 1);
  LATER(MPI_Ineighbor_alltoall_c(own, 1, MPI_INT, all, 1, MPI_INT, ring, &request),
        size < 3 || all[0] == 100 * left + 1);
  LATER(MPI_Ineighbor_alltoallv(own, ones, places, MPI_INT, all, ones, places, MPI_INT, ring,
                                &request),
        size < 3 || all[0] == 100 * left + 1);
  LATER(MPI_Ineighbor_alltoallv_c(own, ones_c, places_c, MPI_INT, all, ones_c, places_c, MPI_INT,
                                  ring, &request),
        size < 3 || all[0] == 100 * left + 1);
  LATER(MPI_Ineighbor_alltoallw(own, ones, offsets_c, types, all, ones, offsets_c, types, ring,
                                &request),
        size < 3 || all[0] == 100 * left + 1);
  LATER(MPI_Ineighbor_alltoallw_c(own, ones_c, offsets_c, types, all, ones_c, offsets_c, types,
                                  ring, &request),
        size < 3 || all[0] == 100 * left + 1);
}

static void persistent(void) {
  AGAIN(MPI_Bcast_init(&value, 1, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request),
        value == 77);
  AGAIN(MPI_Bcast_init_c(&value, 1, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request),
        value == 77);
  AGAIN(
      MPI_Gather_init(own, 1, MPI_INT, all, 1, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request),
      rank != 0 || all[last] == 100 * last);
  AGAIN(MPI_Gather_init_c(own, 1, MPI_INT, all, 1, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL,
                          &request),
        rank != 0 || all[last] == 100 * last);
  AGAIN(MPI_Gatherv_init(own, 1, MPI_INT, all, ones, places, MPI_INT, 0, MPI_COMM_WORLD,
                         MPI_INFO_NULL, &request),
        rank != 0 || all[last] == 100 * last);
  AGAIN(MPI_Gatherv_init_c(own, 1, MPI_INT, all, ones_c, places_c, MPI_INT, 0, MPI_COMM_WORLD,
                           MPI_INFO_NULL, &request),
        rank != 0 || all[last] == 100 * last);
  AGAIN(MPI_Scatter_init(own, 1, MPI_INT, all, 1, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL,
                         &request),
        rank == 0 || all[0] == rank);
  AGAIN(MPI_Scatter_init_c(own, 1, MPI_INT, all, 1, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL,
                           &request),
        rank == 0 || all[0] == rank);
  AGAIN(MPI_Scatterv_init(own, ones, places, MPI_INT, all, 1, MPI_INT, 0, MPI_COMM_WORLD,
                          MPI_INFO_NULL, &request),
        rank == 0 || all[0] == rank);
  AGAIN(MPI_Scatterv_init_c(own, ones_c, places_c, MPI_INT, all, 1, MPI_INT, 0, MPI_COMM_WORLD,
                            MPI_INFO_NULL, &request),
        rank == 0 || all[0] == rank);
  AGAIN(
      MPI_Allgather_init(own, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD, MPI_INFO_NULL, &request),
      rank == last || all[last] == 100 * last);
  AGAIN(MPI_Allgather_init_c(own, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD, MPI_INFO_NULL,
                             &request),
        rank == last || all[last] == 100 * last);
  AGAIN(MPI_Allgatherv_init(own, 1, MPI_INT, all, ones, places, MPI_INT, MPI_COMM_WORLD,
                            MPI_INFO_NULL, &request),
        rank == last || all[last] == 100 * last);
  AGAIN(MPI_Allgatherv_init_c(own, 1, MPI_INT, all, ones_c, places_c, MPI_INT, MPI_COMM_WORLD,
                              MPI_INFO_NULL, &request),
        rank == last || all[last] == 100 * last);
  AGAIN(
      MPI_Alltoall_init(own, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD, MPI_INFO_NULL, &request),
      rank == last || all[last] == 100 * last + rank);
  AGAIN(MPI_Alltoall_init_c(own, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD, MPI_INFO_NULL,
                            &request),
        rank == last || all[last] == 100 * last + rank);
  AGAIN(MPI_Alltoallv_init(own, ones, places, MPI_INT, all, ones, places, MPI_INT, MPI_COMM_WORLD,
                           MPI_INFO_NULL, &request),
        rank == last || all[last] == 100 * last + rank);
  AGAIN(MPI_Alltoallv_init_c(own, ones_c, places_c, MPI_INT, all, ones_c, places_c, MPI_INT,
                             MPI_COMM_WORLD, MPI_INFO_NULL, &request),
        rank == last || all[last] == 100 * last + rank);
  AGAIN(MPI_Alltoallw_init(own, ones, offsets, types, all, ones, offsets, types, MPI_COMM_WORLD,
                           MPI_INFO_NULL, &request),
        rank == last || all[last] == 100 * last + rank);
  AGAIN(MPI_Alltoallw_init_c(own, ones_c, offsets_c, types, all, ones_c, offsets_c, types,
                             MPI_COMM_WORLD, MPI_INFO_NULL, &request),
        rank == last || all[last] == 100 * last + rank);
  AGAIN(MPI_Reduce_init(own, all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request),
        rank != 0 || all[0] == 100 * sum);
  AGAIN(
      MPI_Reduce_init_c(own, all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request),
      rank != 0 || all[0] == 100 * sum);
  AGAIN(MPI_Allreduce_init(own, all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &request),
        all[0] == 100 * sum);
  AGAIN(
      MPI_Allreduce_init_c(own, all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &request),
      all[0] == 100 * sum);
  AGAIN(MPI_Reduce_scatter_init(own, all, ones, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL,
                                &request),
        all[0] == 100 * sum + size * rank);
  AGAIN(MPI_Reduce_scatter_init_c(own, all, ones_c, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL,
                                  &request),
        all[0] == 100 * sum + size * rank);
  AGAIN(MPI_Reduce_scatter_block_init(own, all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL,
                                      &request),
        all[0] == 100 * sum + size * rank);
  AGAIN(MPI_Reduce_scatter_block_init_c(own, all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD,
                                        MPI_INFO_NULL, &request),
        all[0] == 100 * sum + size * rank);
  AGAIN(MPI_Scan_init(own, all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &request),
        all[0] == 50 * rank * (rank + 1));
  AGAIN(MPI_Scan_init_c(own, all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &request),
        all[0] == 50 * rank * (rank + 1));
  AGAIN(MPI_Exscan_init(own, all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &request),
        rank == 0 || all[0] == 50 * rank * (rank - 1));
  AGAIN(MPI_Exscan_init_c(own, all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &request),
        rank == 0 || all[0] == 50 * rank * (rank - 1));
  AGAIN(
      MPI_Neighbor_allgather_init(own, 1, MPI_INT, all, 1, MPI_INT, ring, MPI_INFO_NULL, &request),
      size < 3 || all[0] == 100 * left);
  AGAIN(MPI_Neighbor_allgather_init_c(own, 1, MPI_INT, all, 1, MPI_INT, ring, MPI_INFO_NULL,
                                      &request),
        size < 3 || all[0] == 100 * left);
  AGAIN(MPI_Neighbor_allgatherv_init(own, 1, MPI_INT, all, ones, places, MPI_INT, ring,
                                     MPI_INFO_NULL, &request),
        size < 3 || all[0] == 100 * left);
  AGAIN(MPI_Neighbor_allgatherv_init_c(own, 1, MPI_INT, all, ones_c, places_c, MPI_INT, ring,
                                       MPI_INFO_NULL, &request),
        size < 3 || all[0] == 100 * left);
  AGAIN(MPI_Neighbor_alltoall_init(own, 1, MPI_INT, all, 1, MPI_INT, ring, MPI_INFO_NULL, &request),
        size < 3 || all[0] == 100 * left + 1);
  AGAIN(
      MPI_Neighbor_alltoall_init_c(own, 1, MPI_INT, all, 1, MPI_INT, ring, MPI_INFO_NULL, &request),
      size < 3 || all[0] == 100 * left + 1);
  AGAIN(MPI_Neighbor_alltoallv_init(own, ones, places, MPI_INT, all, ones, places, MPI_INT, ring,
                                    MPI_INFO_NULL, &request),
        size < 3 || all[0] == 100 * left + 1);
  AGAIN(MPI_Neighbor_alltoallv_init_c(own, ones_c, places_c, MPI_INT, all, ones_c, places_c,
                                      MPI_INT, ring, MPI_INFO_NULL, &request),
        size < 3 || all[0] == 100 * left + 1);
  AGAIN(MPI_Neighbor_alltoallw_init(own, ones, offsets_c, types, all, ones, offsets_c, types, ring,
                                    MPI_INFO_NULL, &request),
        size < 3 || all[0] == 100 * left + 1);
  AGAIN(MPI_Neighbor_alltoallw_init_c(own, ones_c, offsets_c, types, all, ones_c, offsets_c, types,
                                      ring, MPI_INFO_NULL, &request),
        size < 3 || all[0] == 100 * left + 1);
}

int main(int argc, char** argv) {
  const int periodic = 1;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  CHECK(size <= kMost && size >= 2);
  last = size - 1;
  left = (rank + last) % size;
  sum = size * last / 2;
  for (int i = 0; i < kMost; ++i) {
    ones_c[i] = ones[i] = 1;
    places_c[i] = places[i] = i;
    offsets_c[i] = offsets[i] = (int)(i * sizeof(int));
    types[i] = MPI_INT;
  }
  MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &ring);
  blocking();
  nonblocking();
  persistent();
  MPI_Comm_free(&ring);
  return conclude("forms");
}
