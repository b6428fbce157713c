/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives: in every shape and over every kind of communicator: v and w forms, in place, with
 * ops of the program, over neighbours, intercommunicators, nonblocking, with large counts. */
#include <sys/mman.h>
#include <unistd.h>

#include "conformance.h"

enum { kMost = 64 };
static int rank, size;

static void largest_first(void* in, void* inout, int* count, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < *count; ++i)
    if (((int*)in)[i] > ((int*)inout)[i]) ((int*)inout)[i] = ((int*)in)[i];
}
#if MPI_VERSION >= 4
static void largest_first_c(void* in, void* inout, MPI_Count* count, MPI_Datatype* type) {
  int narrow = (int)*count;
  largest_first(in, inout, &narrow, type);
}
#endif

static void reductions(void) {
  int all[kMost], counts[kMost], best = -1, own = (rank * 7) % size, sum = 0;
  MPI_Op op;
#if MPI_VERSION >= 4
  MPI_Op op_c;
#endif
  MPI_Op_create(largest_first, 1, &op);
  MPI_Allreduce(&own, &best, 1, MPI_INT, op, MPI_COMM_WORLD);
  CHECK(best >= own);
#if MPI_VERSION >= 4
  MPI_Op_create_c(largest_first_c, 1, &op_c);
  MPI_Allreduce_c(&own, &sum, 1, MPI_INT, op_c, MPI_COMM_WORLD);
  CHECK(sum == best);
  MPI_Op_free(&op_c);
#endif
  MPI_Op_free(&op);
  struct {
    double value;
    int rank;
  } in = {(double)((rank + 1) % size), rank}, out;
  MPI_Allreduce(&in, &out, 1, MPI_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD);
  CHECK(out.value == size - 1);
  for (int i = 0; i < size; ++i) all[i] = rank + i, counts[i] = 1;
  MPI_Reduce_scatter(all, &sum, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  CHECK(sum == size * (size - 1) / 2 + size * rank);
  MPI_Reduce_scatter_block(all, &best, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  CHECK(best == sum);
  sum = rank;
  MPI_Reduce(rank == 0 ? MPI_IN_PLACE : &sum, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) CHECK(sum == size * (size - 1) / 2);
  MPI_Scan(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  CHECK(sum == rank * (rank + 1) / 2);
  sum = 0;
  MPI_Exscan(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank > 0) CHECK(sum == rank * (rank - 1) / 2);
}

static void movements(void) {
  int own[kMost], all[kMost], counts[kMost], places[kMost], bytes[kMost], offsets[kMost];
  MPI_Datatype types[kMost];
  MPI_Request request;
  int total = 0;
  for (int i = 0; i < size; ++i) counts[i] = i + 1, places[i] = total, total += i + 1;
  for (int i = 0; i <= rank; ++i) own[i] = 10 * rank + i;
  MPI_Allgatherv(own, rank + 1, MPI_INT, all, counts, places, MPI_INT, MPI_COMM_WORLD);
  for (int i = 0; i < size; ++i) CHECK(all[places[i] + i] == 11 * i);
  MPI_Gatherv(own, rank + 1, MPI_INT, all, counts, places, MPI_INT, size - 1, MPI_COMM_WORLD);
  MPI_Scatterv(all, counts, places, MPI_INT, own, rank + 1, MPI_INT, size - 1, MPI_COMM_WORLD);
  CHECK(own[rank] == 11 * rank);
  for (int i = 0; i < size; ++i) {
    own[i] = 100 * rank + i;
    counts[i] = 1, places[i] = i;
    bytes[i] = 1, offsets[i] = (int)(i * sizeof(int));
    types[i] = MPI_INT;
  }
  MPI_Alltoall(own, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);
  for (int i = 0; i < size; ++i) CHECK(all[i] == 100 * i + rank);
  MPI_Alltoallv(own, counts, places, MPI_INT, all, counts, places, MPI_INT, MPI_COMM_WORLD);
  MPI_Alltoallw(own, bytes, offsets, types, all, bytes, offsets, types, MPI_COMM_WORLD);
  CHECK(all[0] == rank);
  MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, 1, MPI_INT, MPI_COMM_WORLD);
  CHECK(all[size - 1] == 100 * rank + size - 1);
  MPI_Iallgather(&rank, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK(all[size - 1] == size - 1);
  MPI_Ialltoallw(own, bytes, offsets, types, all, bytes, offsets, types, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Igather(&rank, 1, MPI_INT, all, 1, MPI_INT, 0, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (rank == 0) CHECK(all[size - 1] == size - 1);
  MPI_Ibarrier(MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
#if MPI_VERSION >= 4
  int value = rank == 0 ? 77 : 0;
  MPI_Bcast_c(&value, 1, MPI_INT, 0, MPI_COMM_WORLD);
  CHECK(value == 77);
  MPI_Alltoall_c(own, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);
  CHECK(all[size - 1] == 100 * (size - 1) + rank);
  MPI_Count large_counts[kMost];
  MPI_Aint large_places[kMost];
  for (int i = 0; i < size; ++i) large_counts[i] = 1, large_places[i] = size - 1 - i;
  MPI_Allgatherv_c(&rank, 1, MPI_INT, all, large_counts, large_places, MPI_INT, MPI_COMM_WORLD);
  CHECK(all[0] == size - 1);
  MPI_Ialltoallv_c(own, large_counts, large_places, MPI_INT, all, large_counts, large_places,
                   MPI_INT, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
#endif
}

/* A ring as a cartesian grid, a graph, and a distributed graph. */
static void neighbours(void) { /* of two ranks, left is right, and either may come first */
  const int dims[1] = {size}, periods[1] = {1}, around = 2;
  int in[2], out[2] = {10 * rank, 10 * rank + 1}, left = (rank + size - 1) % size,
             right = (rank + 1) % size, ones[2] = {1, 1}, places[2] = {0, 1};
  const MPI_Aint offsets[2] = {0, sizeof(int)};
  const MPI_Datatype types[2] = {MPI_INT, MPI_INT};
  int ends[2] = {left, right}, weights[2] = {3, 4};
  MPI_Comm cart, dist, adjacent, sub;
  MPI_Request request;
  MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &cart);
  MPI_Neighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, cart);
  if (size > 2) CHECK(in[0] == 10 * left + 1 && in[1] == 10 * right);
  MPI_Neighbor_allgather(&rank, 1, MPI_INT, in, 1, MPI_INT, cart);
  CHECK(in[0] == left && in[1] == right);
  MPI_Neighbor_alltoallv(out, ones, places, MPI_INT, in, ones, places, MPI_INT, cart);
  MPI_Neighbor_alltoallw(out, ones, offsets, types, in, ones, offsets, types, cart);
  if (size > 2) CHECK(in[0] == 10 * left + 1 && in[1] == 10 * right);
  MPI_Ineighbor_allgatherv(&rank, 1, MPI_INT, in, ones, places, MPI_INT, cart, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK(in[0] == left && in[1] == right);
#if MPI_VERSION >= 4
  MPI_Neighbor_alltoall_init(out, 1, MPI_INT, in, 1, MPI_INT, cart, MPI_INFO_NULL, &request);
  for (int i = 0; i < 2; ++i) {
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  MPI_Request_free(&request);
#endif
  const int keep[1] = {1};
  MPI_Cart_sub(cart, keep, &sub);
  MPI_Comm_free(&sub);
  MPI_Comm_free(&cart);
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, ends, weights, 2, ends, weights, MPI_INFO_NULL,
                                 0, &adjacent);
  FOUR(MPI_Neighbor_allgather_c(&rank, 1, MPI_INT, in, 1, MPI_INT, adjacent);)
  CHECK(in[0] == left && in[1] == right);
  MPI_Comm_free(&adjacent);
  MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &rank, &around, ends, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                        &dist);
  int sum[2] = {0, 0};
  MPI_Ineighbor_allgather(&rank, 1, MPI_INT, sum, 1, MPI_INT, dist, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK(sum[0] + sum[1] == left + right);
  MPI_Comm_free(&dist);
}

/* Numbers with unreadable memory behind them: who reads more than there are ends here. */
static int* guarded(int count, int value) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  char* at = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(at != MAP_FAILED && mprotect(at + page, page, PROT_NONE) == 0);
  int* numbers = (int*)(at + page) - count;
  for (int i = 0; i < count; ++i) numbers[i] = value;
  return numbers;
}

/* Each group's sums go to the other, in blocks that the receiving group chooses: the counts are as
 * many as the ranks of the own group, whatever the size of the other. */
static void scatter_between(MPI_Comm inter, int own, int peers, int side) {
  int in[kMost * kMost], out[kMost * kMost], expected = 0;
  int* counts = guarded(own, peers);
  for (int i = 0; i < own * peers; ++i) in[i] = rank;
  for (int i = 1 - side; i < size; i += 2) expected += i;
  out[peers - 1] = -1;
  MPI_Reduce_scatter(in, out, counts, MPI_INT, MPI_SUM, inter);
  CHECK(out[0] == expected && out[peers - 1] == expected);
  out[peers - 1] = -1;
  MPI_Reduce_scatter_block(in, out, peers, MPI_INT, MPI_SUM, inter);
  CHECK(out[0] == expected && out[peers - 1] == expected);
}

/* Even ranks and odd ranks, and what one side's root sends to the other. */
static void intercommunicators(void) {
  MPI_Comm half, inter, merged;
  int peers, value = -1, sum = 0, side = rank % 2, self;
  if (size < 2) return;
  MPI_Comm_split(MPI_COMM_WORLD, side, rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - side, 5, &inter);
  MPI_Comm_remote_size(inter, &peers);
  MPI_Comm_rank(half, &self);
  MPI_Group others;
  MPI_Comm_remote_group(inter, &others);
  MPI_Group_free(&others);
  CHECK(peers == (side == 0 ? size / 2 : (size + 1) / 2));
  if (side == 0) value = 40 + self;
  MPI_Bcast(&value, 1, MPI_INT, side == 0 ? (self == 0 ? MPI_ROOT : MPI_PROC_NULL) : 0, inter);
  if (side == 1) CHECK(value == 40);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, inter);
  int expected = 0;
  for (int i = 1 - side; i < size; i += 2) expected += i;
  CHECK(sum == expected);
  int in[kMost];
  MPI_Allgather(&rank, 1, MPI_INT, in, 1, MPI_INT, inter);
  CHECK(in[0] == 1 - side);
  MPI_Reduce(&rank, &sum, 1, MPI_INT, MPI_SUM,
             side == 1 ? (self == 0 ? MPI_ROOT : MPI_PROC_NULL) : 0, inter);
  if (self == 0) {
    MPI_Sendrecv(&rank, 1, MPI_INT, 0, 2, &value, 1, MPI_INT, 0, 2, inter, MPI_STATUS_IGNORE);
    CHECK(value == 1 - side);
  }
  scatter_between(inter, size - peers, peers, side);
  MPI_Barrier(inter);
  MPI_Intercomm_merge(inter, side, &merged);
  MPI_Comm_rank(merged, &value);
  CHECK(value == (side == 0 ? self : (size + 1) / 2 + self));
  MPI_Comm_free(&merged);
  MPI_Comm_free(&inter);
  MPI_Comm_free(&half);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  CHECK(size <= 8);
  reductions();
  movements();
  neighbours();
  intercommunicators();
  return conclude("collectives");
}
