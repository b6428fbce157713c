/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives with wrong arguments, blocking, nonblocking and persistent: every rank is wrong in
 * the same way, so that all calls fail and nobody waits. */
#include "conformance.h"

enum { kMost = 64 };
static int rank, size;
static int own[kMost], all[kMost], ones[kMost], places[kMost], bad_counts[kMost];
static MPI_Aint offsets[kMost];
static MPI_Datatype types[kMost], bad_types[kMost], raw;
static MPI_Comm inter, ring;
static MPI_Request request;
static MPI_Op minus;

static void subtract(void* in, void* inout, int* count, MPI_Datatype* type) {
  (void)in, (void)inout, (void)count, (void)type;
}

#define WORLD MPI_COMM_WORLD
/* The call in its three forms; the arguments are those of the blocking one. */
#define FAILS_NOW(name, error_class, ...) FAILS(MPI_##name(__VA_ARGS__), error_class)
#define FAILS_LATER(name, error_class, ...) FAILS(MPI_I##name(__VA_ARGS__, &request), error_class)
#define AGAIN(name, error_class, ...) \
  FOUR(FAILS(MPI_##name##_init(__VA_ARGS__, MPI_INFO_NULL, &request), error_class);)
#define FORMS(Name, name, error_class, ...)      \
  do {                                           \
    FAILS_NOW(Name, error_class, __VA_ARGS__);   \
    FAILS_LATER(name, error_class, __VA_ARGS__); \
    AGAIN(Name, error_class, __VA_ARGS__)        \
  } while (0)

static void barriers(void) { FORMS(Barrier, barrier, MPI_ERR_COMM, MPI_COMM_NULL); }

static void rooted(void) {
  const int* const nowhere = (const int*)8;
  FORMS(Bcast, bcast, MPI_ERR_COUNT, own, -1, MPI_INT, 0, WORLD);
  FORMS(Bcast, bcast, MPI_ERR_TYPE, own, 1, MPI_DATATYPE_NULL, 0, WORLD);
  FORMS(Bcast, bcast, MPI_ERR_TYPE, own, 1, raw, 0, WORLD);
  FORMS(Bcast, bcast, MPI_ERR_ROOT, own, 1, MPI_INT, size, WORLD);
  FORMS(Bcast, bcast, MPI_ERR_ROOT, own, 1, MPI_INT, -1, WORLD);
  FORMS(Bcast, bcast, MPI_ERR_COMM, own, 1, MPI_INT, 0, MPI_COMM_NULL);
  FORMS(Bcast, bcast, MPI_ERR_BUFFER, NULL, 1, MPI_INT, 0, WORLD);
  FORMS(Gather, gather, MPI_ERR_COUNT, own, -1, MPI_INT, all, -1, MPI_INT, 0, WORLD);
  FORMS(Gather, gather, MPI_ERR_TYPE, own, 1, raw, all, 1, raw, 0, WORLD);
  FORMS(Gather, gather, MPI_ERR_ROOT, own, 1, MPI_INT, all, 1, MPI_INT, size, WORLD);
  FORMS(Gather, gather, MPI_ERR_COMM, own, 1, MPI_INT, all, 1, MPI_INT, 0, MPI_COMM_NULL);
  FORMS(Gatherv, gatherv, MPI_ERR_COUNT, own, -1, MPI_INT, all, ones, places, MPI_INT, 0, WORLD);
  FORMS(Gatherv, gatherv, MPI_ERR_TYPE, own, 1, raw, all, ones, places, MPI_INT, 0, WORLD);
  FORMS(Gatherv, gatherv, MPI_ERR_ROOT, own, 1, MPI_INT, all, ones, places, MPI_INT, size, WORLD);
  FORMS(Gatherv, gatherv, MPI_ERR_COMM, own, 1, MPI_INT, all, ones, places, MPI_INT, 0,
        MPI_COMM_NULL);
  /* Without a communicator nobody is the root, and what the root gives is not looked at. */
  FORMS(Gatherv, gatherv, MPI_ERR_COMM, own, 1, MPI_INT, all, nowhere, nowhere, MPI_INT, 0,
        MPI_COMM_NULL);
  FORMS(Scatterv, scatterv, MPI_ERR_COMM, own, nowhere, nowhere, MPI_INT, all, 1, MPI_INT, 0,
        MPI_COMM_NULL);
  FORMS(Scatter, scatter, MPI_ERR_COUNT, own, -1, MPI_INT, all, -1, MPI_INT, 0, WORLD);
  FORMS(Scatter, scatter, MPI_ERR_TYPE, own, 1, raw, all, 1, raw, 0, WORLD);
  FORMS(Scatter, scatter, MPI_ERR_ROOT, own, 1, MPI_INT, all, 1, MPI_INT, size, WORLD);
  FORMS(Scatter, scatter, MPI_ERR_COMM, own, 1, MPI_INT, all, 1, MPI_INT, 0, MPI_COMM_NULL);
  FORMS(Scatterv, scatterv, MPI_ERR_COUNT, own, ones, places, MPI_INT, all, -1, MPI_INT, 0, WORLD);
  FORMS(Scatterv, scatterv, MPI_ERR_TYPE, own, ones, places, MPI_INT, all, 1, raw, 0, WORLD);
  FORMS(Scatterv, scatterv, MPI_ERR_ROOT, own, ones, places, MPI_INT, all, 1, MPI_INT, -9, WORLD);
  FORMS(Scatterv, scatterv, MPI_ERR_COMM, own, ones, places, MPI_INT, all, 1, MPI_INT, 0,
        MPI_COMM_NULL);
  /* No count below zero in reductions: MPICH copies so many bytes, and crashes. */
  FORMS(Reduce, reduce, MPI_ERR_TYPE, own, all, 1, raw, minus, 0, WORLD);
  FORMS(Reduce, reduce, MPI_ERR_OP, own, all, 1, MPI_INT, MPI_OP_NULL, 0, WORLD);
  FORMS(Reduce, reduce, MPI_ERR_OP, own, all, 1, MPI_DOUBLE, MPI_BAND, 0, WORLD);
  FORMS(Reduce, reduce, MPI_ERR_ROOT, own, all, 1, MPI_INT, MPI_SUM, size, WORLD);
  FORMS(Reduce, reduce, MPI_ERR_COMM, own, all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_NULL);
}

static void gathered(void) {
  FORMS(Allgather, allgather, MPI_ERR_COUNT, own, -1, MPI_INT, all, 1, MPI_INT, WORLD);
  FORMS(Allgather, allgather, MPI_ERR_COUNT, own, 1, MPI_INT, all, -1, MPI_INT, WORLD);
  FORMS(Allgather, allgather, MPI_ERR_TYPE, own, 1, MPI_INT, all, 1, raw, WORLD);
  FORMS(Allgather, allgather, MPI_ERR_COMM, own, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_NULL);
  FORMS(Allgather, allgather, MPI_ERR_BUFFER, all, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_SELF);
  FORMS(Allgatherv, allgatherv, MPI_ERR_COUNT, own, -1, MPI_INT, all, ones, places, MPI_INT, WORLD);
  FORMS(Allgatherv, allgatherv, MPI_ERR_COUNT, own, 1, MPI_INT, all, bad_counts, places, MPI_INT,
        WORLD);
  FORMS(Allgatherv, allgatherv, MPI_ERR_TYPE, own, 1, raw, all, ones, places, MPI_INT, WORLD);
  FORMS(Allgatherv, allgatherv, MPI_ERR_COMM, own, 1, MPI_INT, all, ones, places, MPI_INT,
        MPI_COMM_NULL);
  FORMS(Alltoall, alltoall, MPI_ERR_COUNT, own, -1, MPI_INT, all, 1, MPI_INT, WORLD);
  FORMS(Alltoall, alltoall, MPI_ERR_TYPE, own, 1, MPI_INT, all, 1, raw, WORLD);
  FORMS(Alltoall, alltoall, MPI_ERR_COMM, own, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_NULL);
  FORMS(Alltoallv, alltoallv, MPI_ERR_COUNT, own, ones, places, MPI_INT, all, bad_counts, places,
        MPI_INT, WORLD);
  FORMS(Alltoallv, alltoallv, MPI_ERR_TYPE, own, ones, places, raw, all, ones, places, MPI_INT,
        WORLD);
  FORMS(Alltoallv, alltoallv, MPI_ERR_COMM, own, ones, places, MPI_INT, all, ones, places, MPI_INT,
        MPI_COMM_NULL);
  FORMS(Alltoallw, alltoallw, MPI_ERR_COUNT, own, bad_counts, places, types, all, ones, places,
        types, WORLD);
  FORMS(Alltoallw, alltoallw, MPI_ERR_TYPE, own, ones, places, types, all, ones, places, bad_types,
        WORLD);
  FORMS(Alltoallw, alltoallw, MPI_ERR_COMM, own, ones, places, types, all, ones, places, types,
        MPI_COMM_NULL);
}

static void reduced(void) {
#define REDUCTION(Name, name)                                                    \
  FORMS(Name, name, MPI_ERR_TYPE, own, all, 1, raw, minus, WORLD);               \
  FORMS(Name, name, MPI_ERR_OP, own, all, 1, MPI_INT, MPI_OP_NULL, WORLD);       \
  FORMS(Name, name, MPI_ERR_OP, own, all, 1, MPI_DOUBLE, MPI_BXOR, WORLD);       \
  FORMS(Name, name, MPI_ERR_COMM, own, all, 1, MPI_INT, MPI_SUM, MPI_COMM_NULL); \
  FORMS(Name, name, MPI_ERR_BUFFER, own, own, 1, MPI_INT, MPI_SUM, WORLD)
  REDUCTION(Allreduce, allreduce);
  REDUCTION(Reduce_scatter_block, reduce_scatter_block);
  REDUCTION(Scan, scan);
  REDUCTION(Exscan, exscan);
  /* Not as persistent ones: MPICH ends in an assertion of its own. */
  FAILS_NOW(Scan, MPI_ERR_COMM, own, all, 1, MPI_INT, MPI_SUM, inter);
  FAILS_NOW(Exscan, MPI_ERR_COMM, own, all, 1, MPI_INT, MPI_SUM, inter);
  FAILS_LATER(scan, MPI_ERR_COMM, own, all, 1, MPI_INT, MPI_SUM, inter);
  FAILS_LATER(exscan, MPI_ERR_COMM, own, all, 1, MPI_INT, MPI_SUM, inter);
  FORMS(Reduce_scatter, reduce_scatter, MPI_ERR_COUNT, own, all, bad_counts, MPI_INT, MPI_SUM,
        WORLD);
  FORMS(Reduce_scatter, reduce_scatter, MPI_ERR_TYPE, own, all, ones, raw, minus, WORLD);
  FORMS(Reduce_scatter, reduce_scatter, MPI_ERR_OP, own, all, ones, MPI_INT, MPI_OP_NULL, WORLD);
  FORMS(Reduce_scatter, reduce_scatter, MPI_ERR_COMM, own, all, ones, MPI_INT, MPI_SUM,
        MPI_COMM_NULL);
  FAILS(MPI_Reduce_local(own, all, 1, MPI_INT, MPI_OP_NULL), MPI_ERR_OP);
  FAILS(MPI_Reduce_local(own, own, 1, MPI_INT, MPI_SUM), MPI_ERR_BUFFER);
}

/* On a communicator without neighbours, and wrongly on one that has some. Not the v and w forms on
 * one without: MPICH then reads some number of counts that nobody set. */
static void neighbours(void) {
  FORMS(Neighbor_allgather, neighbor_allgather, MPI_ERR_TOPOLOGY, own, 1, MPI_INT, all, 1, MPI_INT,
        WORLD);
  FORMS(Neighbor_allgather, neighbor_allgather, MPI_ERR_COUNT, own, -1, MPI_INT, all, 1, MPI_INT,
        ring);
  FORMS(Neighbor_allgather, neighbor_allgather, MPI_ERR_COMM, own, 1, MPI_INT, all, 1, MPI_INT,
        MPI_COMM_NULL);
  FORMS(Neighbor_allgatherv, neighbor_allgatherv, MPI_ERR_TYPE, own, 1, raw, all, ones, places,
        MPI_INT, ring);
  FORMS(Neighbor_alltoall, neighbor_alltoall, MPI_ERR_TOPOLOGY, own, 1, MPI_INT, all, 1, MPI_INT,
        WORLD);
  FORMS(Neighbor_alltoall, neighbor_alltoall, MPI_ERR_TYPE, own, 1, MPI_DATATYPE_NULL, all, 1,
        MPI_INT, ring);
  FORMS(Neighbor_alltoallv, neighbor_alltoallv, MPI_ERR_COMM, own, ones, places, MPI_INT, all, ones,
        places, MPI_INT, MPI_COMM_NULL);
  FORMS(Neighbor_alltoallw, neighbor_alltoallw, MPI_ERR_COMM, own, ones, offsets, types, all, ones,
        offsets, types, MPI_COMM_NULL);
}

int main(int argc, char** argv) {
  int sum = 0, cyclic = 1;
  MPI_Comm half;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  CHECK(size > 1);
  MPI_Type_contiguous(2, MPI_INT, &raw);
  for (int i = 0; i < kMost; ++i) {
    ones[i] = 1;
    bad_counts[i] = -1;
    places[i] = i;
    offsets[i] = i * (MPI_Aint)sizeof(int);
    types[i] = MPI_INT;
    bad_types[i] = MPI_DATATYPE_NULL;
  }
  MPI_Op_create(subtract, 0, &minus);
  return_errors();
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 5, &inter);
  MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
  MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &cyclic, 0, &ring);
  MPI_Comm_set_errhandler(ring, MPI_ERRORS_RETURN);
  barriers();
  rooted();
  gathered();
  reduced();
  neighbours();
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  CHECK(sum == size * (size - 1) / 2);
  MPI_Comm_free(&ring);
  MPI_Comm_free(&inter);
  MPI_Comm_free(&half);
  MPI_Op_free(&minus);
  MPI_Type_free(&raw);
  return conclude("wrong_collectives");
}
