/* SPDX-License-Identifier: BSD-3-Clause */
/* The edges of what calls take: every collective in place, in every form; counts of zero, with
 * buffers and arrays that are not there; capacities above what there is. */
#include "conformance.h"

enum { kMost = 16 };
static int rank, size, sum;
static int all[kMost], counts[kMost], places[kMost], none[kMost];
static MPI_Datatype types[kMost];
static MPI_Request request;

static void prepare(void) {
  for (int i = 0; i < kMost; ++i) all[i] = 100 * rank + i;
}

#if MPI_VERSION >= 4
#define STARTED(call, ...)                                       \
  do {                                                           \
    prepare();                                                   \
    CHECK((call) == MPI_SUCCESS);                                \
    CHECK(MPI_Start(&request) == MPI_SUCCESS);                   \
    CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS); \
    CHECK(__VA_ARGS__);                                          \
    MPI_Request_free(&request);                                  \
  } while (0)
#else
#define STARTED(...)
#endif

/* In place at the root only, or everywhere. */
#define ROOT(buffer) (rank == 0 ? MPI_IN_PLACE : (void*)(buffer))

static void in_place(void) {
  const int first = sum * 100; /* of all[0] over ranks */
  int* const mine = &all[rank];
  NOW(MPI_Gather(ROOT(mine), 1, MPI_INT, all, 1, MPI_INT, 0, MPI_COMM_WORLD),
      rank != 0 || all[size - 1] == 101 * (size - 1));
  NOW(MPI_Gatherv(ROOT(mine), 1, MPI_INT, all, counts, places, MPI_INT, 0, MPI_COMM_WORLD),
      rank != 0 || all[size - 1] == 101 * (size - 1));
  NOW(MPI_Scatter(all, 1, MPI_INT, ROOT(mine), 1, MPI_INT, 0, MPI_COMM_WORLD), *mine == rank);
  NOW(MPI_Scatterv(all, counts, places, MPI_INT, ROOT(mine), 1, MPI_INT, 0, MPI_COMM_WORLD),
      *mine == rank);
  NOW(MPI_Reduce(ROOT(all), all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD),
      all[0] == (rank == 0 ? first : 100 * rank));
#define EVERYWHERE(FORM, PREFIX, SUFFIX, ...)                                                   \
  FORM(MPI_##PREFIX##llgather##SUFFIX(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, 1, MPI_INT,      \
                                      MPI_COMM_WORLD __VA_ARGS__),                              \
       all[size - 1] == 101 * (size - 1));                                                      \
  FORM(MPI_##PREFIX##llgatherv##SUFFIX(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, counts, places, \
                                       MPI_INT, MPI_COMM_WORLD __VA_ARGS__),                    \
       all[size - 1] == 101 * (size - 1));                                                      \
  FORM(MPI_##PREFIX##lltoall##SUFFIX(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, 1, MPI_INT,       \
                                     MPI_COMM_WORLD __VA_ARGS__),                               \
       all[size - 1] == 100 * (size - 1) + rank);                                               \
  FORM(MPI_##PREFIX##lltoallv##SUFFIX(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, all, counts, \
                                      places, MPI_INT, MPI_COMM_WORLD __VA_ARGS__),             \
       all[size - 1] == 100 * (size - 1) + rank);                                               \
  FORM(MPI_##PREFIX##llreduce##SUFFIX(MPI_IN_PLACE, all, 1, MPI_INT, MPI_SUM,                   \
                                      MPI_COMM_WORLD __VA_ARGS__),                              \
       all[0] == first)
  EVERYWHERE(NOW, A, );
  EVERYWHERE(LATER, Ia, , , &request);
  EVERYWHERE(STARTED, A, _init, , MPI_INFO_NULL, &request);
  NOW(MPI_Alltoallw(MPI_IN_PLACE, NULL, NULL, NULL, all, counts, none, types, MPI_COMM_WORLD), 1);
  LATER(MPI_Ialltoallw(MPI_IN_PLACE, NULL, NULL, NULL, all, counts, none, types, MPI_COMM_WORLD,
                       &request),
        1);
  NOW(MPI_Reduce_scatter(MPI_IN_PLACE, all, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD),
      all[0] == first + size * rank);
  NOW(MPI_Reduce_scatter_block(MPI_IN_PLACE, all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD),
      all[0] == first + size * rank);
  LATER(MPI_Ireduce_scatter(MPI_IN_PLACE, all, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request),
        all[0] == first + size * rank);
  LATER(MPI_Ireduce_scatter_block(MPI_IN_PLACE, all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request),
        all[0] == first + size * rank);
  NOW(MPI_Scan(MPI_IN_PLACE, all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD),
      all[0] == 50 * rank * (rank + 1));
  NOW(MPI_Exscan(MPI_IN_PLACE, all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD),
      rank == 0 || all[0] == 50 * rank * (rank - 1));
  LATER(MPI_Iscan(MPI_IN_PLACE, all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request),
        all[0] == 50 * rank * (rank + 1));
  LATER(MPI_Igather(ROOT(mine), 1, MPI_INT, all, 1, MPI_INT, 0, MPI_COMM_WORLD, &request),
        rank != 0 || all[size - 1] == 101 * (size - 1));
  LATER(MPI_Iscatter(all, 1, MPI_INT, ROOT(mine), 1, MPI_INT, 0, MPI_COMM_WORLD, &request),
        *mine == rank);
  LATER(MPI_Ireduce(ROOT(all), all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD, &request),
        all[0] == (rank == 0 ? first : 100 * rank));
}

/* Nothing is sent, from nowhere to nowhere; of counts there are arrays, all zero. */
static void nothing(void) {
  const int right = (rank + 1) % size, left = (rank + size - 1) % size;
  MPI_Status status;
  int count = -1, from[1] = {0};
  NOW(MPI_Bcast(NULL, 0, MPI_INT, 0, MPI_COMM_WORLD), 1);
  NOW(MPI_Gather(NULL, 0, MPI_INT, NULL, 0, MPI_INT, 0, MPI_COMM_WORLD), 1);
  NOW(MPI_Gatherv(NULL, 0, MPI_INT, NULL, none, none, MPI_INT, 0, MPI_COMM_WORLD), 1);
  NOW(MPI_Scatterv(NULL, none, none, MPI_INT, NULL, 0, MPI_INT, 0, MPI_COMM_WORLD), 1);
  NOW(MPI_Allgather(NULL, 0, MPI_INT, NULL, 0, MPI_INT, MPI_COMM_WORLD), 1);
  NOW(MPI_Allgatherv(NULL, 0, MPI_INT, NULL, none, none, MPI_INT, MPI_COMM_WORLD), 1);
  NOW(MPI_Alltoall(NULL, 0, MPI_INT, NULL, 0, MPI_INT, MPI_COMM_WORLD), 1);
  NOW(MPI_Alltoallv(from, none, none, MPI_INT, NULL, none, none, MPI_INT, MPI_COMM_WORLD), 1);
  NOW(MPI_Alltoallw(from, none, none, types, NULL, none, none, types, MPI_COMM_WORLD), 1);
  NOW(MPI_Reduce(NULL, NULL, 0, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD), 1);
  NOW(MPI_Allreduce(NULL, NULL, 0, MPI_INT, MPI_SUM, MPI_COMM_WORLD), 1);
  NOW(MPI_Reduce_scatter(NULL, NULL, none, MPI_INT, MPI_SUM, MPI_COMM_WORLD), 1);
  NOW(MPI_Reduce_scatter_block(NULL, NULL, 0, MPI_INT, MPI_SUM, MPI_COMM_WORLD), 1);
  NOW(MPI_Scan(NULL, NULL, 0, MPI_INT, MPI_SUM, MPI_COMM_WORLD), 1);
  NOW(MPI_Exscan(NULL, NULL, 0, MPI_INT, MPI_SUM, MPI_COMM_WORLD), 1);
  LATER(MPI_Ibcast(NULL, 0, MPI_INT, 0, MPI_COMM_WORLD, &request), 1);
  LATER(MPI_Iallreduce(NULL, NULL, 0, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request), 1);
  LATER(MPI_Ialltoallv(from, none, none, MPI_INT, NULL, none, none, MPI_INT, MPI_COMM_WORLD,
                       &request),
        1);
  NOW(MPI_Sendrecv(NULL, 0, MPI_INT, right, 1, NULL, 0, MPI_INT, left, 1, MPI_COMM_WORLD, &status),
      status.MPI_SOURCE == left && status.MPI_TAG == 1);
  CHECK(MPI_Get_count(&status, MPI_INT, &count) == MPI_SUCCESS && count == 0);
  NOW(MPI_Sendrecv_replace(NULL, 0, MPI_INT, right, 2, left, 2, MPI_COMM_WORLD, &status),
      status.MPI_TAG == 2);
  NOW(MPI_Sendrecv(NULL, 0, MPI_INT, MPI_PROC_NULL, 1, NULL, 0, MPI_INT, MPI_PROC_NULL, 1,
                   MPI_COMM_WORLD, &status),
      status.MPI_SOURCE == MPI_PROC_NULL);
}

/* No requests, or only such as are none. */
static void no_requests(void) {
  MPI_Request requests[3] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  MPI_Status statuses[3];
  int index = 7, count = 7, flag = 0, indices[3];
  for (int n = 0; n <= 3; n += 3) {
    MPI_Request* const some = n == 0 ? NULL : requests;
    CHECK(MPI_Waitall(n, some, n == 0 ? NULL : statuses) == MPI_SUCCESS);
    CHECK(MPI_Testall(n, some, &flag, MPI_STATUSES_IGNORE) == MPI_SUCCESS && flag);
    CHECK(MPI_Waitany(n, some, &index, &statuses[0]) == MPI_SUCCESS && index == MPI_UNDEFINED);
    CHECK(MPI_Testany(n, some, &index, &flag, MPI_STATUS_IGNORE) == MPI_SUCCESS && flag);
    CHECK(index == MPI_UNDEFINED);
    CHECK(MPI_Waitsome(n, some, &count, indices, MPI_STATUSES_IGNORE) == MPI_SUCCESS);
    CHECK(count == MPI_UNDEFINED);
    CHECK(MPI_Testsome(n, some, &count, indices, MPI_STATUSES_IGNORE) == MPI_SUCCESS);
    CHECK(count == MPI_UNDEFINED);
  }
  CHECK(MPI_Startall(0, NULL) == MPI_SUCCESS);
  CHECK(MPI_Wait(&requests[0], &statuses[0]) == MPI_SUCCESS);
  CHECK(MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE) == MPI_SUCCESS && flag);
}

/* Objects made of nothing. */
static void empty_objects(void) {
  const int lengths[1] = {0};
  const MPI_Aint offsets[1] = {0};
  MPI_Group world, group;
  MPI_Datatype type;
  MPI_Comm comm = MPI_COMM_WORLD, split = MPI_COMM_WORLD;
  int bytes = -1, compared = -1;
  CHECK(MPI_Type_contiguous(0, MPI_INT, &type) == MPI_SUCCESS);
  CHECK(MPI_Type_size(type, &bytes) == MPI_SUCCESS && bytes == 0);
  MPI_Type_free(&type);
  CHECK(MPI_Type_indexed(0, lengths, lengths, MPI_INT, &type) == MPI_SUCCESS);
  MPI_Type_free(&type);
  CHECK(MPI_Type_create_hindexed(1, lengths, offsets, MPI_INT, &type) == MPI_SUCCESS);
  MPI_Type_free(&type);
  CHECK(MPI_Type_create_struct(0, lengths, offsets, types, &type) == MPI_SUCCESS);
  CHECK(MPI_Type_commit(&type) == MPI_SUCCESS);
  CHECK(MPI_Send(NULL, 1, type, MPI_PROC_NULL, 0, MPI_COMM_WORLD) == MPI_SUCCESS);
  MPI_Type_free(&type);
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  CHECK(MPI_Group_incl(world, 0, NULL, &group) == MPI_SUCCESS && group == MPI_GROUP_EMPTY);
  CHECK(MPI_Group_excl(world, 0, NULL, &group) == MPI_SUCCESS);
  CHECK(MPI_Group_compare(world, group, &compared) == MPI_SUCCESS && compared == MPI_IDENT);
  CHECK(MPI_Group_translate_ranks(world, 0, NULL, group, NULL) == MPI_SUCCESS);
  MPI_Group_free(&group);
  CHECK(MPI_Comm_create(MPI_COMM_WORLD, MPI_GROUP_EMPTY, &comm) == MPI_SUCCESS);
  CHECK(comm == MPI_COMM_NULL);
  CHECK(MPI_Comm_split(MPI_COMM_WORLD, MPI_UNDEFINED, 0, &split) == MPI_SUCCESS);
  CHECK(split == MPI_COMM_NULL);
  MPI_Group_free(&world);
}

/* More room than there is to tell. */
static void capacities(void) {
  int dims[2] = {size, 1}, periods[2] = {1, 0}, coordinates[5] = {-7, -7, -7, -7, -7};
  int got[5] = {-7, -7, -7, -7, -7}, cyclic[5] = {-7, -7, -7, -7, -7}, length = 0, found = 0;
  char name[MPI_MAX_OBJECT_NAME], value[100];
  MPI_Comm grid;
  MPI_Info info;
  CHECK(MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid) == MPI_SUCCESS);
  CHECK(MPI_Cart_get(grid, 5, got, cyclic, coordinates) == MPI_SUCCESS);
  CHECK(got[0] == size && got[1] == 1 && got[2] == -7 && cyclic[0] == 1 && coordinates[4] == -7);
  CHECK(MPI_Cart_coords(grid, rank, 5, coordinates) == MPI_SUCCESS && coordinates[2] == -7);
  CHECK(MPI_Comm_get_name(grid, name, &length) == MPI_SUCCESS && length == 0);
  MPI_Comm_free(&grid);
  MPI_Info_create(&info);
  MPI_Info_set(info, "key", "value");
  CHECK(MPI_Info_get(info, "key", 99, value, &found) == MPI_SUCCESS && found);
  CHECK(strcmp(value, "value") == 0);
  MPI_Info_free(&info);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  sum = size * (size - 1) / 2;
  for (int i = 0; i < kMost; ++i) {
    counts[i] = i < size ? 1 : 0;
    places[i] = i;
    types[i] = MPI_INT;
  }
  in_place();
  nothing();
  no_requests();
  empty_objects();
  capacities();
  return conclude("edges");
}
