/* SPDX-License-Identifier: BSD-3-Clause */
/* What calls make, change and free: communicators, groups, sessions, datatypes, attributes, error
 * handlers, infos; and calls that fail where errors return. */
#include <stddef.h>

#include "conformance.h"

static int rank, size;

static void communicators(void) {
  MPI_Comm copy, later, some, named, none;
  MPI_Group world, odd, rest, both;
  MPI_Request request;
  MPI_Info info, used;
  int sum = 0, first = 0, range[1][3] = {{0, size - 1, 2}};
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Comm_idup(copy, &later, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, later);
  CHECK(sum == size * (size - 1) / 2);
  MPI_Comm_group(copy, &world);
  MPI_Group_range_incl(world, 1, range, &odd);
  MPI_Group_difference(world, odd, &rest);
  MPI_Group_union(odd, rest, &both);
  if (rank % 2 == 0) {
    MPI_Comm_create_group(copy, odd, 9, &some);
    MPI_Bcast(&first, 1, MPI_INT, 0, some);
    MPI_Comm_free(&some);
  }
  MPI_Comm_create(copy, rank % 2 == 0 ? odd : rest, &some);
  CHECK((some == MPI_COMM_NULL) == (rank % 2 == 1 && size == 1));
  MPI_Comm_free(&some);
  MPI_Comm_split(copy, rank == 0 ? MPI_UNDEFINED : 1, -rank, &none);
  CHECK((none == MPI_COMM_NULL) == (rank == 0));
  if (none != MPI_COMM_NULL) MPI_Comm_free(&none);
  MPI_Group without, common, outside;
  int none_of[1] = {0}, members = -1;
  MPI_Group_excl(world, 1, none_of, &without);
  MPI_Group_intersection(world, without, &common);
  MPI_Group_range_excl(world, 1, range, &outside);
  MPI_Group_size(common, &members);
  CHECK(members == size - 1);
  MPI_Group_size(outside, &members);
  CHECK(members == size / 2);
  if (without != MPI_GROUP_EMPTY) MPI_Group_free(&without);
  if (common != MPI_GROUP_EMPTY) MPI_Group_free(&common);
  if (outside != MPI_GROUP_EMPTY) MPI_Group_free(&outside);
  MPI_Group_free(&world);
  MPI_Group_free(&odd);
  MPI_Group_free(&rest);
  MPI_Group_free(&both);
  MPI_Info_create(&info);
  MPI_Info_set(info, "mpi_assert_no_any_tag", "false");
  MPI_Comm_dup_with_info(copy, info, &named);
  MPI_Comm_set_name(named, "a name");
#if MPI_VERSION >= 4
  MPI_Comm_idup_with_info(copy, info, &some, &request);
#else
  MPI_Comm_idup(copy, &some, &request);
#endif
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Barrier(some);
  MPI_Comm_free(&some);
  MPI_Comm_get_info(named, &used);
  MPI_Comm_set_info(named, used);
  MPI_Info_free(&used);
  MPI_Info_dup(info, &used);
  MPI_Info_delete(used, "mpi_assert_no_any_tag");
  MPI_Info_free(&used);
  MPI_Info_free(&info);
  MPI_Comm_disconnect(&named);
  CHECK(named == MPI_COMM_NULL);
  MPI_Comm_free(&later);
  MPI_Comm_free(&copy);
}

/* A line of ranks, as a graph and as what a library would make of it. */
static void topologies(void) {
  int ends[16], edges[32], place = -1, kind = MPI_UNDEFINED, n = 0;
  const int periodic = 0;
  MPI_Comm graph;
  if (size > 16) return;
  for (int i = 0; i < size; ++i) {
    if (i > 0) edges[n++] = i - 1;
    if (i + 1 < size) edges[n++] = i + 1;
    ends[i] = n;
  }
  MPI_Graph_create(MPI_COMM_WORLD, size, ends, edges, 0, &graph);
  MPI_Topo_test(graph, &kind);
  CHECK(kind == MPI_GRAPH);
  int in[2] = {-1, -1};
  MPI_Neighbor_allgather(&rank, 1, MPI_INT, in, 1, MPI_INT, graph);
  CHECK(in[0] == (rank > 0 ? rank - 1 : size > 1 ? 1 : -1));
  MPI_Comm_free(&graph);
  MPI_Graph_map(MPI_COMM_WORLD, size, ends, edges, &place);
  CHECK(place >= 0 && place < size);
  MPI_Cart_map(MPI_COMM_WORLD, 1, &size, &periodic, &place);
  CHECK(place >= 0 && place < size);
}

#if MPI_VERSION >= 4
static int complaints;
static void complain(MPI_Session* session, int* code, ...) {
  (void)session, (void)code;
  ++complaints;
}

static void sessions(void) {
  MPI_Errhandler own, found;
  MPI_Session session;
  MPI_Group group;
  MPI_Comm comm;
  MPI_Info info;
  int members = 0, sum = 0, one = 1;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
  MPI_Session_create_errhandler(complain, &own);
  MPI_Session_set_errhandler(session, own);
  MPI_Session_call_errhandler(session, MPI_ERR_OTHER);
  CHECK(complaints == 1);
  MPI_Session_get_errhandler(session, &found);
  CHECK(found == own);
  MPI_Errhandler_free(&found);
  MPI_Errhandler_free(&own);
  MPI_Session_set_errhandler(session, MPI_ERRORS_RETURN);
  MPI_Session_get_info(session, &info);
  MPI_Info_free(&info);
  MPI_Session_get_pset_info(session, "mpi://WORLD", &info);
  MPI_Info_free(&info);
  MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
  MPI_Group_size(group, &members);
  CHECK(members == size);
  MPI_Comm_create_from_group(group, "conformance", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
  CHECK(sum == size);
  MPI_Comm_free(&comm);
  MPI_Group_free(&group);
  MPI_Session_finalize(&session);
  CHECK(session == MPI_SESSION_NULL);
}
#endif

typedef struct {
  char kind;
  double position[3];
  int id;
} Particle;

/* A struct in a vector in a resized subarray; sent as one, received as pieces. */
static void datatypes(void) {
  const int lengths[3] = {1, 3, 1}, sizes[2] = {6, 6}, parts[2] = {3, 2}, starts[2] = {1, 2};
  const MPI_Aint offsets[3] = {offsetof(Particle, kind), offsetof(Particle, position),
                               offsetof(Particle, id)};
  const MPI_Datatype types[3] = {MPI_CHAR, MPI_DOUBLE, MPI_INT};
  const int blocks[2] = {2, 1}, places[2] = {0, 4};
  MPI_Datatype bare, particle, every_other, sub, indexed, deep, same, contents[3];
  Particle out[36], in[36];
  int integers[4], bytes = 0, right = (rank + 1) % size, left = (rank + size - 1) % size;
  MPI_Aint addresses[3];
  memset(out, 0, sizeof out);
  memset(in, 0, sizeof in);
  for (int i = 0; i < 36; ++i) out[i].kind = 'a', out[i].position[1] = rank + i, out[i].id = i;
  MPI_Type_create_struct(3, lengths, offsets, types, &bare);
  MPI_Type_create_resized(bare, 0, sizeof(Particle), &particle);
  MPI_Type_commit(&particle);
  MPI_Type_vector(3, 1, 2, particle, &every_other);
  MPI_Type_create_subarray(2, sizes, parts, starts, MPI_ORDER_C, particle, &sub);
  MPI_Type_indexed(2, blocks, places, every_other, &indexed);
  MPI_Type_contiguous(2, indexed, &deep);
  MPI_Type_dup(deep, &same);
  MPI_Type_commit(&sub);
  MPI_Type_commit(&same);
  MPI_Type_size(same, &bytes);
  CHECK(bytes == 2 * 3 * 3 * (1 + 24 + 4));
  MPI_Sendrecv(out, 1, sub, right, 1, in, 6, particle, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  CHECK(in[0].id == 8 && in[5].id == 21 && in[5].position[1] == left + 21);
  MPI_Type_get_contents(bare, 4, 3, 3, integers, addresses, contents);
  CHECK(integers[0] == 3 && addresses[2] == offsets[2]);
  MPI_Type_set_name(particle, "particle");
  MPI_Type_free(&bare);
  MPI_Type_free(&every_other);
  MPI_Type_free(&sub);
  MPI_Type_free(&indexed);
  MPI_Type_free(&deep);
  MPI_Type_free(&same);
  MPI_Type_free(&particle);
#if MPI_VERSION >= 4
  MPI_Datatype large;
  MPI_Count count = 0;
  MPI_Type_contiguous_c(3, MPI_INT, &large);
  MPI_Type_commit(&large);
  MPI_Type_size_c(large, &count);
  CHECK(count == 12);
  MPI_Sendrecv(out, 1, large, right, 2, in, 1, large, left, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Type_free(&large);
#endif
}

/* Every constructor, in its two forms: what each makes is sent and received as itself. */
static void send_round(MPI_Datatype* type, MPI_Count bytes) {
  int out[64], in[64], right = (rank + 1) % size, left = (rank + size - 1) % size;
  MPI_Count size_of = 0;
  MPI_Type_commit(type);
  MPI_Type_size_x(*type, &size_of);
  CHECK(size_of == bytes);
  for (int i = 0; i < 64; ++i) out[i] = rank + i, in[i] = -1;
  MPI_Sendrecv(out, 1, *type, right, 4, in, 1, *type, left, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  CHECK(in[0] == left);
  MPI_Type_free(type);
  CHECK(*type == MPI_DATATYPE_NULL);
}

static void constructors(void) {
  const int n[2] = {1, 2}, at[2] = {0, 3}, sizes[1] = {8};
  const int block[1] = {MPI_DISTRIBUTE_BLOCK}, dflt[1] = {MPI_DISTRIBUTE_DFLT_DARG}, one[1] = {1};
  const MPI_Aint away[2] = {0, 16};
#if MPI_VERSION >= 4
  const MPI_Count n_c[2] = {1, 2}, at_c[2] = {0, 3}, away_c[2] = {0, 16}, sizes_c[1] = {8},
                  parts_c[1] = {4}, starts_c[1] = {0};
  const MPI_Datatype of[2] = {MPI_INT, MPI_FLOAT};
#endif
  MPI_Datatype type;
  MPI_Type_create_hvector(2, 1, 12, MPI_INT, &type), send_round(&type, 8);
  MPI_Type_create_hindexed(2, n, away, MPI_INT, &type), send_round(&type, 12);
  MPI_Type_create_indexed_block(2, 2, at, MPI_INT, &type), send_round(&type, 16);
  MPI_Type_create_hindexed_block(2, 2, away, MPI_INT, &type), send_round(&type, 16);
  MPI_Type_create_darray(1, 0, 1, sizes, block, dflt, one, MPI_ORDER_C, MPI_INT, &type);
  send_round(&type, 32);
#if MPI_VERSION >= 4
  MPI_Type_vector_c(2, 1, 3, MPI_INT, &type), send_round(&type, 8);
  MPI_Type_create_hvector_c(2, 1, 12, MPI_INT, &type), send_round(&type, 8);
  MPI_Type_indexed_c(2, n_c, at_c, MPI_INT, &type), send_round(&type, 12);
  MPI_Type_create_hindexed_c(2, n_c, away_c, MPI_INT, &type), send_round(&type, 12);
  MPI_Type_create_indexed_block_c(2, 2, at_c, MPI_INT, &type), send_round(&type, 16);
  MPI_Type_create_hindexed_block_c(2, 2, away_c, MPI_INT, &type), send_round(&type, 16);
  MPI_Type_create_struct_c(2, n_c, away_c, of, &type), send_round(&type, 12);
  MPI_Type_create_subarray_c(1, sizes_c, parts_c, starts_c, MPI_ORDER_C, MPI_INT, &type);
  send_round(&type, 16);
  MPI_Type_create_darray_c(1, 0, 1, sizes_c, block, dflt, one, MPI_ORDER_C, MPI_INT, &type);
  send_round(&type, 32);
  MPI_Type_create_resized_c(MPI_INT, 0, 8, &type), send_round(&type, 4);
#endif
  int lengths[2] = {1, 2};
  MPI_Aint places[2] = {0, 16};
  MPI_Datatype types[2] = {MPI_INT, MPI_INT};
  MPI_Type_hvector(2, 1, 12, MPI_INT, &type), send_round(&type, 8);
  MPI_Type_hindexed(2, lengths, places, MPI_INT, &type), send_round(&type, 12);
  MPI_Type_struct(2, lengths, places, types, &type), send_round(&type, 12);
}

static int copies, deletes;
static int copy(MPI_Comm comm, int keyval, void* extra, void* in, void* out, int* flag) {
  (void)comm, (void)keyval, (void)extra;
  ++copies;
  *(void**)out = in;
  *flag = 1;
  return MPI_SUCCESS;
}
static int erase(MPI_Comm comm, int keyval, void* value, void* extra) {
  (void)comm, (void)keyval, (void)value, (void)extra;
  ++deletes;
  return MPI_SUCCESS;
}
static int type_copy(MPI_Datatype type, int keyval, void* extra, void* in, void* out, int* flag) {
  (void)type;
  return copy(MPI_COMM_NULL, keyval, extra, in, out, flag);
}

static void attributes(void) {
  int keyval = MPI_KEYVAL_INVALID, on_types, value = 3, found = 0, *read = NULL;
  MPI_Comm twin;
  MPI_Datatype pair, twin_pair;
  MPI_Comm_create_keyval(copy, erase, &keyval, NULL);
  MPI_Comm_set_attr(MPI_COMM_WORLD, keyval, &value);
  MPI_Comm_dup(MPI_COMM_WORLD, &twin);
  MPI_Comm_get_attr(twin, keyval, &read, &found);
  CHECK(found && *read == 3 && copies == 1);
  MPI_Comm_delete_attr(twin, keyval);
  MPI_Comm_free(&twin);
  MPI_Comm_delete_attr(MPI_COMM_WORLD, keyval);
  MPI_Comm_free_keyval(&keyval);
  CHECK(deletes == 2 && keyval == MPI_KEYVAL_INVALID);
  MPI_Type_create_keyval(type_copy, MPI_TYPE_NULL_DELETE_FN, &on_types, NULL);
  MPI_Type_contiguous(2, MPI_INT, &pair);
  MPI_Type_set_attr(pair, on_types, &value);
  MPI_Type_dup(pair, &twin_pair);
  MPI_Type_delete_attr(twin_pair, on_types);
  MPI_Type_free(&pair);
  MPI_Type_free(&twin_pair);
  MPI_Type_free_keyval(&on_types);
  CHECK(copies == 2);
  /* As MPI-1 had them. */
  MPI_Keyval_create(MPI_DUP_FN, MPI_NULL_DELETE_FN, &keyval, NULL);
  MPI_Attr_put(MPI_COMM_SELF, keyval, &value);
  MPI_Attr_get(MPI_COMM_SELF, keyval, &read, &found);
  CHECK(found && read == &value);
  MPI_Attr_delete(MPI_COMM_SELF, keyval);
  MPI_Keyval_free(&keyval);
#if MPI_VERSION >= 4
  MPI_Info environment;
  MPI_Info_create_env(0, NULL, &environment);
  MPI_Info_free(&environment);
#endif
}

static int handled;
static void handle(MPI_Comm* comm, int* code, ...) {
  (void)comm, (void)code;
  ++handled;
}

static void errors(void) {
  MPI_Errhandler own, before;
  MPI_Comm comm = MPI_COMM_NULL;
  int value = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_get_errhandler(comm, &before);
  MPI_Comm_create_errhandler(handle, &own);
  MPI_Comm_set_errhandler(comm, own);
  CHECK(MPI_Send(&value, 1, MPI_INT, size + 2, 0, comm) != MPI_SUCCESS && handled == 1);
  MPI_Comm_call_errhandler(comm, MPI_ERR_OTHER);
  CHECK(handled == 2);
  MPI_Errhandler_free(&own);
  MPI_Errhandler_create(handle, &own);
  MPI_Errhandler_set(comm, own);
  MPI_Errhandler_free(&own);
  MPI_Errhandler_get(comm, &own);
  MPI_Comm_call_errhandler(comm, MPI_ERR_OTHER);
  CHECK(handled == 3);
  MPI_Errhandler_free(&own);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  CHECK(fails_with(MPI_Send(&value, -1, MPI_INT, 0, 0, comm), MPI_ERR_COUNT));
  CHECK(fails_with(MPI_Send(&value, 1, MPI_DATATYPE_NULL, 0, 0, comm), MPI_ERR_TYPE));
  CHECK(fails_with(MPI_Isend(&value, 1, MPI_INT, size, 0, comm, &request), MPI_ERR_RANK));
  CHECK(fails_with(MPI_Recv(&value, 1, MPI_INT, 0, -5, comm, MPI_STATUS_IGNORE), MPI_ERR_TAG));
  CHECK(fails_with(MPI_Bcast(&value, 1, MPI_INT, size, comm), MPI_ERR_ROOT));
  CHECK(fails_with(MPI_Allreduce(&rank, &value, 1, MPI_INT, MPI_OP_NULL, comm), MPI_ERR_OP));
  /* A message that is too long for its receive. */
  int out[4] = {1, 2, 3, 4}, in[4] = {0, 0, 0, 0};
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Irecv(in, 1, MPI_INT, rank, 3, comm, &request);
  MPI_Send(out, 4, MPI_INT, rank, 3, comm);
  CHECK(fails_with(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE));
  MPI_Comm_set_errhandler(comm, before);
  if (before != MPI_ERRORS_ARE_FATAL && before != MPI_ERRORS_RETURN) MPI_Errhandler_free(&before);
  CHECK(MPI_Comm_free(&(MPI_Comm){MPI_COMM_NULL}) != MPI_SUCCESS);
  MPI_Comm nowhere = MPI_COMM_NULL;
  CHECK(fails_with(MPI_Comm_dup(nowhere, &nowhere), MPI_ERR_COMM));
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  MPI_Comm_free(&comm);
}

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm parent;
  MPI_Comm_get_parent(&parent);
  CHECK(parent == MPI_COMM_NULL);
  communicators();
  topologies();
  FOUR(sessions();)
  datatypes();
  constructors();
  attributes();
  errors();
  return conclude("objects");
}
