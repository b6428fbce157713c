/* SPDX-License-Identifier: BSD-3-Clause */
/* The memory that calls touch: every collective in every form, in place and not, with counts of
 * zero, with datatypes that begin before their buffer or are larger than what they hold, and
 * receives with room to spare. Bytes that no call may touch stay as they were. */
#include "conformance.h"

enum { kArena = 8192, kMiddle = kArena / 2, kRanks = 16 };

static int rank, size;
static char given[kArena], taken[kArena];

/* A datatype, and the op for it. */
struct Shape {
  MPI_Datatype type;
  MPI_Op op;
  MPI_Aint low, extent, bytes; /* the data of element i: from low + i * extent on */
};

static void keep_inout(void* in, void* inout, int* count, MPI_Datatype* type) {
  (void)in, (void)inout, (void)count, (void)type;
}

static char* out(void) { return taken + kMiddle; }
static char* in(void) { return given + kMiddle; }
static void prepare(void) {
  memset(given, 1, sizeof given);
  memset(taken, 2, sizeof taken);
}

/* No byte of the result outside of `elements` blocks of the shape has changed. */
static int untouched(const struct Shape* shape, int elements) {
  for (int e = 0; e < elements; ++e)
    memset(out() + shape->low + e * shape->extent, 2, (size_t)shape->bytes);
  for (int i = 0; i < kArena; ++i)
    if (taken[i] != 2) return 0;
  return 1;
}

#define ONCE(elements, call) NOW(call, untouched(s, elements))
#define SOON(elements, call) LATER(call, untouched(s, elements))
/* Once: MPICH 4.0 fails when some persistent collectives are started again. */
#define STARTED(elements, call)                                  \
  do {                                                           \
    prepare();                                                   \
    CHECK((call) == MPI_SUCCESS);                                \
    CHECK(MPI_Start(&request) == MPI_SUCCESS);                   \
    CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS); \
    CHECK(MPI_Request_free(&request) == MPI_SUCCESS);            \
    CHECK(untouched(s, elements));                               \
  } while (0)

/* Every form of a collective. */
#define SHORT_FORMS(elements, name, small, ...)              \
  ONCE(elements, MPI_##name(__VA_ARGS__, comm));             \
  SOON(elements, MPI_I##small(__VA_ARGS__, comm, &request)); \
  STARTED(elements, MPI_##name##_init(__VA_ARGS__, comm, MPI_INFO_NULL, &request))
#define LARGE_FORMS(elements, name, small, ...)                  \
  ONCE(elements, MPI_##name##_c(__VA_ARGS__, comm));             \
  SOON(elements, MPI_I##small##_c(__VA_ARGS__, comm, &request)); \
  STARTED(elements, MPI_##name##_init_c(__VA_ARGS__, comm, MPI_INFO_NULL, &request))
#define FORMS(...)            \
  do {                        \
    SHORT_FORMS(__VA_ARGS__); \
    LARGE_FORMS(__VA_ARGS__); \
  } while (0)
/* Between neighbours the names are put together otherwise. */
#define NEAR(elements, name, ...)                                                              \
  do {                                                                                         \
    ONCE(elements, MPI_Neighbor_##name(__VA_ARGS__, comm));                                    \
    SOON(elements, MPI_Ineighbor_##name(__VA_ARGS__, comm, &request));                         \
    STARTED(elements, MPI_Neighbor_##name##_init(__VA_ARGS__, comm, MPI_INFO_NULL, &request)); \
  } while (0)

static void one_count(const struct Shape* s, int n) {
  const MPI_Comm comm = MPI_COMM_WORLD;
  const MPI_Datatype type = s->type, none = MPI_DATATYPE_NULL;
  const int root = size - 1, is_root = rank == root, all = n * size;
  MPI_Request request;
  FORMS(n, Allreduce, allreduce, MPI_IN_PLACE, out(), n, type, s->op);
  FORMS(n, Allreduce, allreduce, in(), out(), n, type, s->op);
  FORMS(is_root ? n : 0, Reduce, reduce, is_root ? MPI_IN_PLACE : in(), is_root ? out() : NULL, n,
        type, s->op, root);
  FORMS(is_root ? n : 0, Reduce, reduce, in(), out(), n, type, s->op, root);
  FORMS(all, Reduce_scatter_block, reduce_scatter_block, MPI_IN_PLACE, out(), n, type, s->op);
  FORMS(n, Reduce_scatter_block, reduce_scatter_block, in(), out(), n, type, s->op);
  FORMS(n, Scan, scan, MPI_IN_PLACE, out(), n, type, s->op);
  FORMS(n, Scan, scan, in(), out(), n, type, s->op);
  FORMS(n, Exscan, exscan, MPI_IN_PLACE, out(), n, type, s->op);
  FORMS(n, Exscan, exscan, in(), out(), n, type, s->op);
  FORMS(n, Bcast, bcast, out(), n, type, root);
  FORMS(is_root ? all : 0, Gather, gather, is_root ? MPI_IN_PLACE : in(), n, type, out(), n, type,
        root);
  FORMS(is_root ? all : 0, Gather, gather, in(), n, type, is_root ? out() : NULL, n, type, root);
  FORMS(is_root ? 0 : n, Scatter, scatter, in(), n, type, is_root ? MPI_IN_PLACE : out(), n, type,
        root);
  FORMS(n, Scatter, scatter, is_root ? in() : NULL, n, type, out(), n, type, root);
  FORMS(all, Allgather, allgather, MPI_IN_PLACE, 0, none, out(), n, type);
  FORMS(all, Allgather, allgather, in(), n, type, out(), n, type);
  FORMS(all, Alltoall, alltoall, MPI_IN_PLACE, 0, none, out(), n, type);
  FORMS(all, Alltoall, alltoall, in(), n, type, out(), n, type);
}

/* A count for each rank, one of them zero, and blocks in reverse order. */
static void many_counts(const struct Shape* s, int n) {
  const MPI_Comm comm = MPI_COMM_WORLD;
  const MPI_Datatype type = s->type, none = MPI_DATATYPE_NULL;
  const int root = size - 1, is_root = rank == root;
  int c[kRanks], at[kRanks], same[kRanks], same_at[kRanks], bytes_at[kRanks];
  MPI_Count lc[kRanks], lsame[kRanks];
  MPI_Aint lat[kRanks], lsame_at[kRanks], lbytes_at[kRanks];
  MPI_Datatype types[kRanks];
  MPI_Request request;
  int total = 0;
  for (int i = size - 1; i >= 0; --i) {
    lc[i] = c[i] = n == 0 ? 0 : (n + i) % 3;
    lat[i] = at[i] = total;
    total += c[i];
    lsame[i] = same[i] = n;
    lsame_at[i] = same_at[i] = (size - 1 - i) * n;
    lbytes_at[i] = bytes_at[i] = (int)(same_at[i] * s->extent);
    types[i] = type;
  }
  const int all = n * size, mine = c[rank];
  SHORT_FORMS(total, Reduce_scatter, reduce_scatter, MPI_IN_PLACE, out(), c, type, s->op);
  LARGE_FORMS(total, Reduce_scatter, reduce_scatter, MPI_IN_PLACE, out(), lc, type, s->op);
  SHORT_FORMS(mine, Reduce_scatter, reduce_scatter, in(), out(), c, type, s->op);
  SHORT_FORMS(is_root ? total : 0, Gatherv, gatherv, is_root ? MPI_IN_PLACE : in(), mine, type,
              out(), c, at, type, root);
  LARGE_FORMS(is_root ? total : 0, Gatherv, gatherv, is_root ? MPI_IN_PLACE : in(), mine, type,
              out(), lc, lat, type, root);
  SHORT_FORMS(is_root ? 0 : mine, Scatterv, scatterv, in(), c, at, type,
              is_root ? MPI_IN_PLACE : out(), mine, type, root);
  LARGE_FORMS(is_root ? 0 : mine, Scatterv, scatterv, in(), lc, lat, type,
              is_root ? MPI_IN_PLACE : out(), mine, type, root);
  SHORT_FORMS(total, Allgatherv, allgatherv, MPI_IN_PLACE, 0, none, out(), c, at, type);
  LARGE_FORMS(total, Allgatherv, allgatherv, MPI_IN_PLACE, 0, none, out(), lc, lat, type);
  SHORT_FORMS(total, Allgatherv, allgatherv, in(), mine, type, out(), c, at, type);
  SHORT_FORMS(all, Alltoallv, alltoallv, MPI_IN_PLACE, NULL, NULL, none, out(), same, same_at,
              type);
  LARGE_FORMS(all, Alltoallv, alltoallv, MPI_IN_PLACE, NULL, NULL, none, out(), lsame, lsame_at,
              type);
  SHORT_FORMS(all, Alltoallv, alltoallv, in(), same, same_at, type, out(), same, same_at, type);
  SHORT_FORMS(all, Alltoallw, alltoallw, MPI_IN_PLACE, NULL, NULL, NULL, out(), same, bytes_at,
              types);
  LARGE_FORMS(all, Alltoallw, alltoallw, MPI_IN_PLACE, NULL, NULL, NULL, out(), lsame, lbytes_at,
              types);
  SHORT_FORMS(all, Alltoallw, alltoallw, in(), same, bytes_at, types, out(), same, bytes_at, types);
}

/* In a row whose ends have one neighbour only, and in a ring. */
static void among_neighbours(const struct Shape* s, int n) {
  const MPI_Datatype type = s->type;
  MPI_Datatype types[2] = {type, type};
  for (int ring = 0; ring < 2; ++ring) {
    MPI_Comm comm;
    MPI_Request request;
    int counts[2] = {n, n}, at[2] = {n, 0}, most = 2 * n;
    const MPI_Aint bytes_at[2] = {n * s->extent, 0};
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &ring, 0, &comm);
    NEAR(most, allgather, in(), n, type, out(), n, type);
    NEAR(most, allgatherv, in(), n, type, out(), counts, at, type);
    NEAR(most, alltoall, in(), n, type, out(), n, type);
    NEAR(most, alltoallv, in(), counts, at, type, out(), counts, at, type);
    NEAR(most, alltoallw, in(), counts, bytes_at, types, out(), counts, bytes_at, types);
    MPI_Comm_free(&comm);
  }
}

/* Between two groups of different sizes. */
static void between_groups(const struct Shape* s, int n) {
  const MPI_Datatype type = s->type;
  const int low = rank < size / 2;
  MPI_Comm half, comm;
  MPI_Request request;
  int local, remote, place;
  if (size < 2) return;
  MPI_Comm_split(MPI_COMM_WORLD, low, rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, low ? size / 2 : 0, 5, &comm);
  MPI_Comm_size(comm, &local);
  MPI_Comm_remote_size(comm, &remote);
  MPI_Comm_rank(comm, &place);
  const int root = low ? (place == 0 ? MPI_ROOT : MPI_PROC_NULL) : 0, is_root = root == MPI_ROOT;
  ONCE(n, MPI_Allreduce(in(), out(), n, type, s->op, comm));
  SOON(n * remote, MPI_Allgather(in(), n, type, out(), n, type, comm) == MPI_SUCCESS
                       ? MPI_Iallgather(in(), n, type, out(), n, type, comm, &request)
                       : MPI_ERR_OTHER);
  ONCE(n * remote, MPI_Alltoall(in(), n, type, out(), n, type, comm));
  ONCE(n * remote, MPI_Reduce_scatter_block(in(), out(), n * remote, type, s->op, comm));
  SOON(low ? 0 : n, MPI_Ibcast(low ? in() : out(), n, type, root, comm, &request));
  ONCE(is_root ? n : 0, MPI_Reduce(in(), out(), n, type, s->op, root, comm));
  ONCE(is_root ? n * remote : 0, MPI_Gather(in(), n, type, out(), n, type, root, comm));
  SOON(low ? 0 : n, MPI_Iscatter(in(), n, type, out(), n, type, root, comm, &request));
  MPI_Comm_free(&comm);
  MPI_Comm_free(&half);
}

/* Room for more than what comes, and to and from nobody. */
static void messages(const struct Shape* s, int n) {
  const int next = (rank + 1) % size, before = (rank + size - 1) % size, room = n + 3;
  const MPI_Datatype type = s->type;
  const MPI_Comm comm = MPI_COMM_WORLD;
  MPI_Message message;
  MPI_Status status;
  MPI_Request request;
  int count = -1;
  ONCE(n, MPI_Sendrecv(in(), n, type, next, 1, out(), room, type, before, 1, comm, &status));
  MPI_Get_count(&status, type, &count);
  CHECK(count == n || s->bytes == 0);
  prepare();
  CHECK(MPI_Irecv(out(), room, type, before, 2, comm, &request) == MPI_SUCCESS);
  CHECK(MPI_Send(in(), n, type, next, 2, comm) == MPI_SUCCESS);
  CHECK(MPI_Wait(&request, &status) == MPI_SUCCESS && untouched(s, n));
  prepare();
  CHECK(MPI_Isend(in(), n, type, next, 3, comm, &request) == MPI_SUCCESS);
  CHECK(MPI_Mprobe(before, 3, comm, &message, &status) == MPI_SUCCESS);
  CHECK(MPI_Mrecv(out(), room, type, &message, &status) == MPI_SUCCESS && untouched(s, n));
  CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS);
  ONCE(n, MPI_Sendrecv_replace(out(), n, type, next, 4, before, 4, comm, &status));
  ONCE(0, MPI_Send(in(), room, type, MPI_PROC_NULL, 5, comm));
  SOON(0, MPI_Irecv(out(), room, type, MPI_PROC_NULL, 5, comm, &request));
}

static void all_of(const struct Shape* shape, int n) {
  one_count(shape, n);
  many_counts(shape, n);
  among_neighbours(shape, n);
  between_groups(shape, n);
  messages(shape, n);
}

/* Nothing moves, so there need be no memory, however much it would be. */
static void nothing_of_much(void) {
  const MPI_Count much = ((MPI_Count)1 << 36) + 5, more_still = (MPI_Count)1 << 61;
  const MPI_Comm comm = MPI_COMM_WORLD;
  const struct Shape ints = {MPI_INT, MPI_SUM, 0, sizeof(int), sizeof(int)}, *s = &ints;
  const int next = (rank + 1) % size, before = (rank + size - 1) % size;
  MPI_Datatype mega, tera;
  MPI_Request request;
  ONCE(0, MPI_Send_c(in(), much, MPI_BYTE, MPI_PROC_NULL, 1, comm));
  ONCE(0, MPI_Send_c(in(), more_still, MPI_DOUBLE, MPI_PROC_NULL, 1, comm));
  ONCE(0, MPI_Recv_c(out(), much, MPI_LONG, MPI_PROC_NULL, 1, comm, MPI_STATUS_IGNORE));
  SOON(0, MPI_Isend_c(in(), more_still, MPI_BYTE, MPI_PROC_NULL, 1, comm, &request));
  MPI_Type_contiguous(1 << 20, MPI_BYTE, &mega);
  MPI_Type_contiguous(1 << 20, mega, &tera);
  MPI_Type_commit(&tera);
  ONCE(0, MPI_Send(in(), 1 << 30, tera, MPI_PROC_NULL, 1, comm));
  ONCE(0, MPI_Sendrecv(in(), 0, tera, next, 2, out(), 0, tera, before, 2, comm, MPI_STATUS_IGNORE));
  /* Room for 2^40 bytes, of which four come. */
  prepare();
  CHECK(MPI_Irecv_c(out(), (MPI_Count)1 << 38, MPI_INT, before, 3, comm, &request) == MPI_SUCCESS);
  CHECK(MPI_Send(in(), 1, MPI_INT, next, 3, comm) == MPI_SUCCESS);
  CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS && untouched(s, 1));
  MPI_Type_free(&mega);
  MPI_Type_free(&tera);
}

int main(int argc, char** argv) {
  struct Shape shapes[4];
  MPI_Datatype before, tail;
  MPI_Aint minus = -24;
  int two = 2;
  MPI_Op op;
  (void)argc, (void)argv;
  MPI_Init(NULL, NULL);
  return_errors();
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Op_create(keep_inout, 1, &op);
  shapes[0] = (struct Shape){MPI_INT, MPI_SUM, 0, sizeof(int), sizeof(int)};
  /* Two numbers, 24 bytes before the address given, in an extent of 40. */
  MPI_Type_create_hindexed(1, &two, &minus, MPI_INT, &before);
  MPI_Type_create_resized(before, -32, 40, &shapes[1].type);
  shapes[1].op = op, shapes[1].low = -24, shapes[1].extent = 40, shapes[1].bytes = 8;
  /* A number at the begin of a large extent, and nothing in one. */
  MPI_Type_create_resized(MPI_INT, 0, 20, &shapes[2].type);
  shapes[2].op = op, shapes[2].low = 0, shapes[2].extent = 20, shapes[2].bytes = 4;
  MPI_Type_contiguous(0, MPI_INT, &tail);
  MPI_Type_create_resized(tail, 0, 16, &shapes[3].type);
  shapes[3].op = op, shapes[3].low = 0, shapes[3].extent = 16, shapes[3].bytes = 0;
  for (int i = 1; i < 4; ++i) MPI_Type_commit(&shapes[i].type);
  for (int i = 0; i < 4; ++i)
    for (int n = 0; n < 4; n += 3) all_of(&shapes[i], n);
  nothing_of_much();
  for (int i = 1; i < 4; ++i) MPI_Type_free(&shapes[i].type);
  MPI_Type_free(&before);
  MPI_Type_free(&tail);
  MPI_Op_free(&op);
  return conclude("in_place");
}
