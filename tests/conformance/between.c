/* SPDX-License-Identifier: BSD-3-Clause */
/* Every collective between two groups, blocking, nonblocking and with counts of MPI_Count: groups
 * of one and of all others, of nearly equal halves, and with a root in either group, that is not
 * its first rank where there are more. */
#include "conformance.h"

enum { kMost = 64 };
static int rank, size;
static int mine, peers, self; /* size of the own group and of the other, rank in the own */
static int first, first_peer; /* lowest world rank of each */
static int step;              /* from one world rank to the next in a group */
static int own[kMost], all[kMost], ones[kMost], places[kMost], offsets[kMost], blocks[kMost];
static MPI_Count ones_c[kMost];
static MPI_Aint places_c[kMost], offsets_c[kMost];
static MPI_Datatype types[kMost];
static MPI_Comm inter;
static MPI_Request request;

static void prepare(void) {
  for (int i = 0; i < kMost; ++i) own[i] = 100 * rank + i, all[i] = -1;
}

/* World rank of a member of the other group; sums over it. */
static int peer(int i) { return first_peer + i * step; }
static int peers_sum(void) {
  int sum = 0;
  for (int i = 0; i < peers; ++i) sum += peer(i);
  return sum;
}

/* What the root's group gives to the other, and gets from it. `root`: as MPI wants it. */
static void rooted(int root, int root_rank) {
  const int is_root = root == MPI_ROOT, receives = root >= 0;
  const int got = 100 * root_rank; /* the root's first number */
#define ROOT_HAS(expected) (!is_root || (expected))
#define PEER_HAS(expected) (!receives || (expected))
  NOW(MPI_Bcast(receives ? all : own, 2, MPI_INT, root, inter), PEER_HAS(all[1] == got + 1));
  /* MPICH 4.0.2 broadcasts among the receivers themselves if the root is not the first. */
  LATER(MPI_Ibcast(receives ? all : own, 2, MPI_INT, root, inter, &request),
        PEER_HAS(root > 0 || all[1] == got + 1));
  NOW(MPI_Gather(own, 1, MPI_INT, all, 1, MPI_INT, root, inter),
      ROOT_HAS(all[peers - 1] == 100 * peer(peers - 1)));
  LATER(MPI_Igather(own, 1, MPI_INT, all, 1, MPI_INT, root, inter, &request),
        ROOT_HAS(all[peers - 1] == 100 * peer(peers - 1)));
  NOW(MPI_Gatherv(own, 1, MPI_INT, all, ones, places, MPI_INT, root, inter),
      ROOT_HAS(all[2 * (peers - 1)] == 100 * peer(peers - 1)));
  LATER(MPI_Igatherv(own, 1, MPI_INT, all, ones, places, MPI_INT, root, inter, &request),
        ROOT_HAS(all[2 * (peers - 1)] == 100 * peer(peers - 1)));
  NOW(MPI_Scatter(own, 1, MPI_INT, all, 1, MPI_INT, root, inter), PEER_HAS(all[0] == got + self));
  LATER(MPI_Iscatter(own, 1, MPI_INT, all, 1, MPI_INT, root, inter, &request),
        PEER_HAS(all[0] == got + self));
  NOW(MPI_Scatterv(own, ones, places, MPI_INT, all, 1, MPI_INT, root, inter),
      PEER_HAS(all[0] == got + 2 * self));
  LATER(MPI_Iscatterv(own, ones, places, MPI_INT, all, 1, MPI_INT, root, inter, &request),
        PEER_HAS(all[0] == got + 2 * self));
  NOW(MPI_Reduce(own, all, 1, MPI_INT, MPI_SUM, root, inter),
      ROOT_HAS(all[0] == 100 * peers_sum()));
  LATER(MPI_Ireduce(own, all, 1, MPI_INT, MPI_SUM, root, inter, &request),
        ROOT_HAS(all[0] == 100 * peers_sum()));
#if MPI_VERSION >= 4
  NOW(MPI_Bcast_c(receives ? all : own, 2, MPI_INT, root, inter), PEER_HAS(all[1] == got + 1));
  NOW(MPI_Gather_c(own, 1, MPI_INT, all, 1, MPI_INT, root, inter),
      ROOT_HAS(all[peers - 1] == 100 * peer(peers - 1)));
  NOW(MPI_Gatherv_c(own, 1, MPI_INT, all, ones_c, places_c, MPI_INT, root, inter),
      ROOT_HAS(all[2 * (peers - 1)] == 100 * peer(peers - 1)));
  NOW(MPI_Scatterv_c(own, ones_c, places_c, MPI_INT, all, 1, MPI_INT, root, inter),
      PEER_HAS(all[0] == got + 2 * self));
  LATER(MPI_Ireduce_c(own, all, 1, MPI_INT, MPI_SUM, root, inter, &request),
        ROOT_HAS(all[0] == 100 * peers_sum()));
#endif
}

static void among_all(void) {
  const int last = peers - 1;
  const int block = peers; /* own ranks times this is what is reduced; the same on both sides */
  NOW(MPI_Barrier(inter), 1);
  LATER(MPI_Ibarrier(inter, &request), 1);
  NOW(MPI_Allgather(own, 1, MPI_INT, all, 1, MPI_INT, inter), all[last] == 100 * peer(last));
  LATER(MPI_Iallgather(own, 1, MPI_INT, all, 1, MPI_INT, inter, &request),
        all[last] == 100 * peer(last));
  NOW(MPI_Allgatherv(own, 1, MPI_INT, all, ones, places, MPI_INT, inter),
      all[2 * last] == 100 * peer(last));
  LATER(MPI_Iallgatherv(own, 1, MPI_INT, all, ones, places, MPI_INT, inter, &request),
        all[2 * last] == 100 * peer(last));
  NOW(MPI_Alltoall(own, 1, MPI_INT, all, 1, MPI_INT, inter), all[last] == 100 * peer(last) + self);
  LATER(MPI_Ialltoall(own, 1, MPI_INT, all, 1, MPI_INT, inter, &request),
        all[last] == 100 * peer(last) + self);
  NOW(MPI_Alltoallv(own, ones, places, MPI_INT, all, ones, places, MPI_INT, inter),
      all[2 * last] == 100 * peer(last) + 2 * self);
  LATER(MPI_Ialltoallv(own, ones, places, MPI_INT, all, ones, places, MPI_INT, inter, &request),
        all[2 * last] == 100 * peer(last) + 2 * self);
  NOW(MPI_Alltoallw(own, ones, offsets, types, all, ones, offsets, types, inter),
      all[last] == 100 * peer(last) + self);
  LATER(MPI_Ialltoallw(own, ones, offsets, types, all, ones, offsets, types, inter, &request),
        all[last] == 100 * peer(last) + self);
  NOW(MPI_Allreduce(own, all, 1, MPI_INT, MPI_SUM, inter), all[0] == 100 * peers_sum());
  LATER(MPI_Iallreduce(own, all, 1, MPI_INT, MPI_SUM, inter, &request),
        all[0] == 100 * peers_sum());
  NOW(MPI_Reduce_scatter_block(own, all, block, MPI_INT, MPI_SUM, inter),
      all[0] == 100 * peers_sum() + peers * block * self);
  LATER(MPI_Ireduce_scatter_block(own, all, block, MPI_INT, MPI_SUM, inter, &request),
        all[0] == 100 * peers_sum() + peers * block * self);
  NOW(MPI_Reduce_scatter(own, all, blocks, MPI_INT, MPI_SUM, inter),
      all[0] == 100 * peers_sum() + peers * block * self);
  LATER(MPI_Ireduce_scatter(own, all, blocks, MPI_INT, MPI_SUM, inter, &request),
        all[0] == 100 * peers_sum() + peers * block * self);
#if MPI_VERSION >= 4
  NOW(MPI_Allgatherv_c(own, 1, MPI_INT, all, ones_c, places_c, MPI_INT, inter),
      all[2 * last] == 100 * peer(last));
  NOW(MPI_Alltoallv_c(own, ones_c, places_c, MPI_INT, all, ones_c, places_c, MPI_INT, inter),
      all[2 * last] == 100 * peer(last) + 2 * self);
  LATER(MPI_Ialltoallw_c(own, ones_c, offsets_c, types, all, ones_c, offsets_c, types, inter,
                         &request),
        all[last] == 100 * peer(last) + self);
  LATER(MPI_Iallreduce_c(own, all, 1, MPI_INT, MPI_SUM, inter, &request),
        all[0] == 100 * peers_sum());
#endif
}

/* Several at once, waited for in another order; one's own duplicate beside it. */
static void together(void) {
  int sums[3] = {0, 0, 0}, seen[kMost];
  MPI_Comm twin;
  MPI_Request several[4];
  prepare();
  CHECK(MPI_Comm_dup(inter, &twin) == MPI_SUCCESS);
  MPI_Iallreduce(own, &sums[0], 1, MPI_INT, MPI_SUM, inter, &several[0]);
  MPI_Iallreduce(own, &sums[1], 1, MPI_INT, MPI_MAX, twin, &several[1]);
  MPI_Ibarrier(inter, &several[2]);
  MPI_Iallgather(own, 1, MPI_INT, seen, 1, MPI_INT, twin, &several[3]);
  MPI_Wait(&several[3], MPI_STATUS_IGNORE);
  MPI_Waitall(3, several, MPI_STATUSES_IGNORE);
  CHECK(sums[0] == 100 * peers_sum() && sums[1] == 100 * peer(peers - 1));
  CHECK(seen[0] == 100 * first_peer);
  MPI_Comm_free(&twin);
}

/* The world's ranks are parted; `side` is this rank's group. */
static void between(int side, int leader, int other_leader) {
  MPI_Comm half;
  MPI_Comm_split(MPI_COMM_WORLD, side, rank, &half);
  MPI_Comm_rank(half, &self);
  CHECK(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, other_leader, 5, &inter) == MPI_SUCCESS);
  MPI_Comm_size(inter, &mine);
  MPI_Comm_remote_size(inter, &peers);
  first = leader;
  first_peer = other_leader;
  for (int i = 0; i < kMost; ++i) blocks[i] = peers;
  for (int group = 0; group < 2; ++group) {
    const int in_group = side == group, members = in_group ? mine : peers;
    const int root = members - 1, lowest = in_group ? first : first_peer;
    rooted(in_group ? (self == root ? MPI_ROOT : MPI_PROC_NULL) : root, lowest + step * root);
  }
  among_all();
  together();
  MPI_Comm_free(&inter);
  MPI_Comm_free(&half);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  CHECK(size > 1 && size <= 8);
  for (int i = 0; i < kMost; ++i) {
    ones[i] = 1, ones_c[i] = 1;
    places[i] = 2 * i, places_c[i] = 2 * i;
    offsets[i] = i * (int)sizeof(int), offsets_c[i] = offsets[i];
    types[i] = MPI_INT;
  }
  step = 1;
  between(rank > 0, rank > 0 ? 1 : 0, rank > 0 ? 0 : 1);
  between(rank == size - 1, rank == size - 1 ? size - 1 : 0, rank == size - 1 ? 0 : size - 1);
  step = 2;
  between(rank % 2, rank % 2, 1 - rank % 2);
  return conclude("between");
}
