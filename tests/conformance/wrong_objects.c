/* SPDX-License-Identifier: BSD-3-Clause */
/* What makes, changes and frees objects, with wrong arguments: communicators, groups, topologies,
 * datatypes, attributes, infos, error handlers, operations, sessions, other processes. */
#include "conformance.h"

static int rank, size;
static MPI_Group world;
static MPI_Comm comm = MPI_COMM_NULL;
static MPI_Datatype type = MPI_DATATYPE_NULL;
static MPI_Request request;

static void communicators(void) {
  const int tag_beyond = -4;
  MPI_Comm predefined = MPI_COMM_WORLD, half, inter;
  FAILS(MPI_Comm_dup(MPI_COMM_NULL, &comm), MPI_ERR_COMM);
  FAILS(MPI_Comm_idup(MPI_COMM_NULL, &comm, &request), MPI_ERR_COMM);
  FAILS(MPI_Comm_dup_with_info(MPI_COMM_NULL, MPI_INFO_NULL, &comm), MPI_ERR_COMM);
  FAILS(MPI_Comm_create(MPI_COMM_NULL, world, &comm), MPI_ERR_COMM);
  FAILS(MPI_Comm_create(MPI_COMM_WORLD, MPI_GROUP_NULL, &comm), MPI_ERR_GROUP);
  FAILS(MPI_Comm_create_group(MPI_COMM_WORLD, MPI_GROUP_NULL, 0, &comm), MPI_ERR_GROUP);
  FAILS(MPI_Comm_create_group(MPI_COMM_NULL, world, 0, &comm), MPI_ERR_COMM);
  FAILS(MPI_Comm_create_group(MPI_COMM_WORLD, world, tag_beyond, &comm), MPI_ERR_TAG);
  FAILS(MPI_Comm_split(MPI_COMM_NULL, 0, 0, &comm), MPI_ERR_COMM);
  FAILS(MPI_Comm_split_type(MPI_COMM_NULL, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &comm),
        MPI_ERR_COMM);
  FAILS(MPI_Comm_split_type(MPI_COMM_WORLD, 4711, 0, MPI_INFO_NULL, &comm), MPI_ERR_ARG);
  FAILS(MPI_Comm_free(&predefined), MPI_ERR_COMM);
  FAILS(MPI_Comm_free(&(MPI_Comm){MPI_COMM_NULL}), MPI_ERR_COMM);
  FAILS(MPI_Comm_disconnect(&(MPI_Comm){MPI_COMM_NULL}), MPI_ERR_COMM);
  FAILS(MPI_Comm_set_name(MPI_COMM_NULL, "nowhere"), MPI_ERR_COMM);
  FAILS(MPI_Comm_set_info(MPI_COMM_NULL, MPI_INFO_NULL), MPI_ERR_COMM);
  FAILS(MPI_Comm_group(MPI_COMM_NULL, &world), MPI_ERR_COMM);
  FAILS(MPI_Comm_rank(MPI_COMM_NULL, &rank), MPI_ERR_COMM);
  FAILS(MPI_Intercomm_merge(MPI_COMM_NULL, 0, &comm), MPI_ERR_COMM);
  CHECK(predefined == MPI_COMM_WORLD && comm == MPI_COMM_NULL);
  FAILS(MPI_Comm_dup(MPI_COMM_WORLD, NULL), MPI_ERR_ARG);
  FAILS(MPI_Comm_split(MPI_COMM_WORLD, 0, 0, NULL), MPI_ERR_ARG);
  FAILS(MPI_Comm_create(MPI_COMM_WORLD, world, NULL), MPI_ERR_ARG);
  FAILS(MPI_Comm_idup(MPI_COMM_WORLD, &comm, NULL), MPI_ERR_ARG);
  FAILS(MPI_Comm_free(NULL), MPI_ERR_ARG);
  FAILS(MPI_Comm_set_name(MPI_COMM_WORLD, NULL), MPI_ERR_ARG);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  MPI_Comm_set_errhandler(half, MPI_ERRORS_RETURN);
  FAILS(MPI_Intercomm_create(MPI_COMM_NULL, 0, MPI_COMM_WORLD, 1 - rank % 2, 5, &inter),
        MPI_ERR_COMM);
  FAILS(MPI_Intercomm_create(half, size, MPI_COMM_WORLD, 1 - rank % 2, 5, &inter), MPI_ERR_RANK);
  FAILS(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, -5, &inter), MPI_ERR_TAG);
  MPI_Comm_free(&half);
#if MPI_VERSION >= 4
  FAILS(MPI_Comm_idup_with_info(MPI_COMM_NULL, MPI_INFO_NULL, &comm, &request), MPI_ERR_COMM);
  FAILS(MPI_Comm_create_from_group(MPI_GROUP_NULL, "none", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm),
        MPI_ERR_GROUP);
#endif
}

/* Wrong, and done all the same by MPICH. (Intercomm_merge of an intracommunicator ends in an
 * assertion of its own.) */
static void let_pass(void) {
  const int twice[2] = {0, 0}, below[1] = {-1}, beyond[1] = {size}, one[1] = {1};
  int members = 0, compared = 0;
  MPI_Group of_peers = MPI_GROUP_NULL;
  if (MPI_Comm_split(MPI_COMM_WORLD, -7, 0, &comm) == MPI_SUCCESS) {
    MPI_Comm_compare(comm, MPI_COMM_WORLD, &compared);
    CHECK(compared == MPI_CONGRUENT);
    MPI_Comm_free(&comm);
  }
  if (MPI_Comm_remote_group(MPI_COMM_WORLD, &of_peers) == MPI_SUCCESS) {
    MPI_Group_size(of_peers, &members);
    CHECK(members == size || members == 0);
    MPI_Group_free(&of_peers);
  }
  if (MPI_Group_incl(world, 2, twice, &of_peers) == MPI_SUCCESS) MPI_Group_free(&of_peers);
  if (MPI_Cart_create(MPI_COMM_WORLD, 1, below, one, 0, &comm) == MPI_SUCCESS &&
      comm != MPI_COMM_NULL)
    MPI_Comm_free(&comm);
  if (MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, beyond, one, 0, one, one, MPI_INFO_NULL, 0,
                                     &comm) == MPI_SUCCESS)
    MPI_Comm_free(&comm);
}

static void groups(void) {
  const int zero[1] = {0}, beyond[1] = {size};
  int ranges[1][3] = {{0, size, 1}}, still[1][3] = {{0, 0, 0}}, here[1];
  MPI_Group made = MPI_GROUP_NULL, empty = MPI_GROUP_NULL;
  FAILS(MPI_Group_incl(world, 1, beyond, &made), MPI_ERR_RANK);
  FAILS(MPI_Group_incl(world, -1, beyond, &made), MPI_ERR_ARG);
  FAILS(MPI_Group_incl(MPI_GROUP_NULL, 1, zero, &made), MPI_ERR_GROUP);
  FAILS(MPI_Group_excl(world, 1, beyond, &made), MPI_ERR_RANK);
  FAILS(MPI_Group_excl(MPI_GROUP_NULL, 1, zero, &made), MPI_ERR_GROUP);
  FAILS(MPI_Group_range_incl(world, 1, ranges, &made), MPI_ERR_LASTCODE);
  FAILS(MPI_Group_range_incl(world, 1, still, &made), MPI_ERR_ARG);
  FAILS(MPI_Group_range_excl(world, 1, ranges, &made), MPI_ERR_LASTCODE);
  FAILS(MPI_Group_union(world, MPI_GROUP_NULL, &made), MPI_ERR_GROUP);
  FAILS(MPI_Group_intersection(MPI_GROUP_NULL, world, &made), MPI_ERR_GROUP);
  FAILS(MPI_Group_difference(world, MPI_GROUP_NULL, &made), MPI_ERR_GROUP);
  FAILS(MPI_Group_translate_ranks(world, 1, beyond, world, here), MPI_ERR_RANK);
  FAILS(MPI_Group_free(&empty), MPI_ERR_GROUP);
  FAILS(MPI_Group_incl(world, 1, zero, NULL), MPI_ERR_ARG);
  CHECK(made == MPI_GROUP_NULL);
}

static void topologies(void) {
  const int one[1] = {1}, much[1] = {size + 1};
  int index[64], edges[64], dims[2] = {0, size + 1}, place = 0;
  FAILS(MPI_Cart_create(MPI_COMM_WORLD, 1, much, one, 0, &comm), MPI_ERR_LASTCODE);
  FAILS(MPI_Cart_create(MPI_COMM_WORLD, -1, one, one, 0, &comm), MPI_ERR_LASTCODE);
  FAILS(MPI_Cart_create(MPI_COMM_NULL, 1, one, one, 0, &comm), MPI_ERR_COMM);
  FAILS(MPI_Cart_sub(MPI_COMM_WORLD, one, &comm), MPI_ERR_TOPOLOGY);
  FAILS(MPI_Cart_map(MPI_COMM_WORLD, 1, much, one, &place), MPI_ERR_LASTCODE);
  FAILS(MPI_Cart_map(MPI_COMM_NULL, 1, one, one, &place), MPI_ERR_COMM);
  FAILS(MPI_Dims_create(size, 2, dims), MPI_ERR_LASTCODE);
  for (int i = 0; i < 64; ++i) index[i] = i + 1, edges[i] = size + 1;
  FAILS(MPI_Graph_create(MPI_COMM_WORLD, size, index, edges, 0, &comm), MPI_ERR_LASTCODE);
  FAILS(MPI_Graph_create(MPI_COMM_WORLD, size + 1, index, edges, 0, &comm), MPI_ERR_LASTCODE);
  FAILS(MPI_Graph_create(MPI_COMM_NULL, size, index, edges, 0, &comm), MPI_ERR_COMM);
  FAILS(MPI_Graph_map(MPI_COMM_NULL, size, index, edges, &place), MPI_ERR_COMM);
  FAILS(MPI_Dist_graph_create_adjacent(MPI_COMM_NULL, 0, one, one, 0, one, one, MPI_INFO_NULL, 0,
                                       &comm),
        MPI_ERR_COMM);
  /* Not Dist_graph_create with a rank that is not there: MPICH ends in an assertion of its own. */
  FAILS(MPI_Dist_graph_create(MPI_COMM_NULL, 0, one, one, one, one, MPI_INFO_NULL, 0, &comm),
        MPI_ERR_COMM);
  /* Arrays that are not there. */
  FAILS(MPI_Graph_create(MPI_COMM_WORLD, size, NULL, edges, 0, &comm), MPI_ERR_ARG);
  FAILS(MPI_Graph_create(MPI_COMM_WORLD, size, index, NULL, 0, &comm), MPI_ERR_ARG);
  FAILS(MPI_Graph_map(MPI_COMM_WORLD, size, NULL, edges, &place), MPI_ERR_ARG);
  FAILS(MPI_Dist_graph_create(MPI_COMM_WORLD, 1, one, NULL, one, one, MPI_INFO_NULL, 0, &comm),
        MPI_ERR_ARG);
  FAILS(MPI_Cart_create(MPI_COMM_WORLD, 1, NULL, one, 0, &comm), MPI_ERR_ARG);
  FAILS(MPI_Cart_map(MPI_COMM_WORLD, 1, one, NULL, &place), MPI_ERR_ARG);
  CHECK(comm == MPI_COMM_NULL);
}

static void datatypes(void) {
  const int lengths[2] = {1, -1}, places[2] = {0, 4}, sizes[1] = {4}, parts[1] = {3},
            starts[1] = {2}, one[1] = {1}, block[1] = {MPI_DISTRIBUTE_BLOCK}, darg[1] = {-4};
  const MPI_Aint away[2] = {0, 16};
  const MPI_Datatype types[2] = {MPI_INT, MPI_DATATYPE_NULL};
  MPI_Datatype predefined = MPI_INT, contents[1];
  int integers[1];
  MPI_Aint addresses[1];
  FAILS(MPI_Type_contiguous(-1, MPI_INT, &type), MPI_ERR_COUNT);
  FAILS(MPI_Type_contiguous(1, MPI_DATATYPE_NULL, &type), MPI_ERR_TYPE);
  FAILS(MPI_Type_vector(-1, 1, 1, MPI_INT, &type), MPI_ERR_COUNT);
  FAILS(MPI_Type_vector(1, -1, 1, MPI_INT, &type), MPI_ERR_COUNT);
  FAILS(MPI_Type_create_hvector(1, 1, 4, MPI_DATATYPE_NULL, &type), MPI_ERR_TYPE);
  FAILS(MPI_Type_indexed(2, lengths, places, MPI_INT, &type), MPI_ERR_COUNT);
  FAILS(MPI_Type_indexed(-2, lengths, places, MPI_INT, &type), MPI_ERR_COUNT);
  FAILS(MPI_Type_create_hindexed(2, lengths, away, MPI_INT, &type), MPI_ERR_COUNT);
  FAILS(MPI_Type_create_indexed_block(2, -1, places, MPI_INT, &type), MPI_ERR_LASTCODE);
  FAILS(MPI_Type_create_hindexed_block(2, 1, away, MPI_DATATYPE_NULL, &type), MPI_ERR_TYPE);
  FAILS(MPI_Type_create_struct(2, lengths, away, types, &type), MPI_ERR_LASTCODE);
  FAILS(MPI_Type_create_struct(-2, lengths, away, types, &type), MPI_ERR_COUNT);
  if (MPI_Type_create_subarray(1, sizes, parts, starts, MPI_ORDER_C, MPI_INT, &type) == MPI_SUCCESS)
    MPI_Type_free(&type); /* MPICH lets it pass */
  FAILS(MPI_Type_create_subarray(1, sizes, one, starts, 4711, MPI_INT, &type), MPI_ERR_ARG);
  FAILS(MPI_Type_create_darray(1, 0, 1, sizes, block, darg, one, MPI_ORDER_C, MPI_INT, &type),
        MPI_ERR_ARG);
  FAILS(MPI_Type_create_resized(MPI_DATATYPE_NULL, 0, 4, &type), MPI_ERR_TYPE);
  FAILS(MPI_Type_dup(MPI_DATATYPE_NULL, &type), MPI_ERR_TYPE);
  FAILS(MPI_Type_commit(&(MPI_Datatype){MPI_DATATYPE_NULL}), MPI_ERR_TYPE);
  FAILS(MPI_Type_free(&(MPI_Datatype){MPI_DATATYPE_NULL}), MPI_ERR_TYPE);
  FAILS(MPI_Type_free(&predefined), MPI_ERR_TYPE);
  FAILS(MPI_Type_set_name(MPI_DATATYPE_NULL, "none"), MPI_ERR_TYPE);
  FAILS(MPI_Type_get_contents(MPI_INT, 1, 1, 1, integers, addresses, contents), MPI_ERR_TYPE);
  FAILS(MPI_Type_match_size(MPI_TYPECLASS_INTEGER, 3, &type), MPI_ERR_ARG);
#if MPI_VERSION >= 4
  FAILS(MPI_Type_contiguous_c(-1, MPI_INT, &type), MPI_ERR_COUNT);
  FAILS(MPI_Type_vector_c(1, 1, 1, MPI_DATATYPE_NULL, &type), MPI_ERR_TYPE);
#endif
  CHECK(type == MPI_DATATYPE_NULL && predefined == MPI_INT);
  FAILS(MPI_Type_indexed(2, NULL, places, MPI_INT, &type), MPI_ERR_ARG);
  FAILS(MPI_Type_indexed(2, places, NULL, MPI_INT, &type), MPI_ERR_ARG);
  FAILS(MPI_Type_create_hindexed(2, NULL, away, MPI_INT, &type), MPI_ERR_ARG);
  FAILS(MPI_Type_create_struct(2, places, NULL, types, &type), MPI_ERR_ARG);
  FAILS(MPI_Type_create_struct(2, places, away, NULL, &type), MPI_ERR_ARG);
  FAILS(MPI_Type_contiguous(1, MPI_INT, NULL), MPI_ERR_ARG);
  FAILS(MPI_Type_set_name(MPI_INT, NULL), MPI_ERR_ARG);
  CHECK(type == MPI_DATATYPE_NULL);
  MPI_Type_vector(2, 1, 2, MPI_INT, &type);
  FAILS(MPI_Type_get_contents(type, 1, 0, 1, integers, addresses, contents), MPI_ERR_LASTCODE);
  MPI_Type_free(&type);
}

static int refuse(MPI_Comm of, int key, void* extra, void* in, void* copy, int* flag) {
  (void)of, (void)key, (void)extra, (void)in, (void)copy;
  *flag = 0;
  return MPI_ERR_OTHER;
}

static void attributes(void) {
  int key = MPI_KEYVAL_INVALID, value = 3, found = 0, *read = NULL, key_of_types;
  MPI_Comm twin = MPI_COMM_NULL;
  FAILS(MPI_Comm_set_attr(MPI_COMM_WORLD, MPI_KEYVAL_INVALID, &value), MPI_ERR_KEYVAL);
  FAILS(MPI_Comm_set_attr(MPI_COMM_WORLD, MPI_TAG_UB, &value), MPI_ERR_KEYVAL);
  FAILS(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_KEYVAL_INVALID, &read, &found), MPI_ERR_KEYVAL);
  FAILS(MPI_Comm_delete_attr(MPI_COMM_WORLD, MPI_KEYVAL_INVALID), MPI_ERR_KEYVAL);
  FAILS(MPI_Comm_delete_attr(MPI_COMM_WORLD, MPI_TAG_UB), MPI_ERR_KEYVAL);
  FAILS(MPI_Comm_free_keyval(&key), MPI_ERR_KEYVAL);
  MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &key_of_types, NULL);
  FAILS(MPI_Comm_set_attr(MPI_COMM_WORLD, key_of_types, &value), MPI_ERR_KEYVAL);
  FAILS(MPI_Type_set_attr(MPI_DATATYPE_NULL, key_of_types, &value), MPI_ERR_TYPE);
  MPI_Type_free_keyval(&key_of_types);
  /* A copy function that says no: there is no duplicate. */
  MPI_Comm_create_keyval(refuse, MPI_COMM_NULL_DELETE_FN, &key, NULL);
  CHECK(MPI_Comm_set_attr(MPI_COMM_WORLD, key, &value) == MPI_SUCCESS);
  FAILS(MPI_Comm_dup(MPI_COMM_WORLD, &twin), MPI_ERR_OTHER);
  CHECK(twin == MPI_COMM_NULL);
  MPI_Comm_delete_attr(MPI_COMM_WORLD, key);
  MPI_Comm_free_keyval(&key);
}

static void infos(void) {
  static char long_key[MPI_MAX_INFO_KEY + 2], long_value[MPI_MAX_INFO_VAL + 2];
  char text[8];
  int found = 0;
  MPI_Info info, none = MPI_INFO_NULL;
  memset(long_key, 'k', sizeof long_key - 1);
  memset(long_value, 'v', sizeof long_value - 1);
  MPI_Info_create(&info);
  FAILS(MPI_Info_set(info, long_key, "value"), MPI_ERR_INFO_KEY);
  FAILS(MPI_Info_set(info, "", "value"), MPI_ERR_INFO_KEY);
  FAILS(MPI_Info_set(info, "key", long_value), MPI_ERR_INFO_VALUE);
  FAILS(MPI_Info_set(MPI_INFO_NULL, "key", "value"), MPI_ERR_LASTCODE);
  FAILS(MPI_Info_delete(info, "no such key"), MPI_ERR_INFO_NOKEY);
  FAILS(MPI_Info_get(MPI_INFO_NULL, "key", 7, text, &found), MPI_ERR_LASTCODE);
  FAILS(MPI_Info_get_nthkey(info, 3, long_key), MPI_ERR_LASTCODE);
  FAILS(MPI_Info_dup(MPI_INFO_NULL, &none), MPI_ERR_LASTCODE);
  FAILS(MPI_Info_set(info, NULL, "value"), MPI_ERR_LASTCODE);
  FAILS(MPI_Info_set(info, "key", NULL), MPI_ERR_LASTCODE);
  FAILS(MPI_Info_create(NULL), MPI_ERR_ARG);
  FAILS(MPI_Info_free(&none), MPI_ERR_LASTCODE);
  MPI_Info_free(&info);
}

static void handle(MPI_Win* win, int* code, ...) { (void)win, (void)code; }

static void handlers(void) {
  MPI_Errhandler none = MPI_ERRHANDLER_NULL, of_windows, predefined = MPI_ERRORS_RETURN;
  MPI_Op no_op = MPI_OP_NULL, sum = MPI_SUM;
  MPI_Win_create_errhandler(handle, &of_windows);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, of_windows); /* MPICH does it */
  MPI_Comm_free(&comm);
  FAILS(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRHANDLER_NULL), MPI_ERR_LASTCODE);
  FAILS(MPI_Comm_set_errhandler(MPI_COMM_NULL, MPI_ERRORS_RETURN), MPI_ERR_COMM);
  FAILS(MPI_Comm_get_errhandler(MPI_COMM_NULL, &none), MPI_ERR_COMM);
  FAILS(MPI_Comm_call_errhandler(MPI_COMM_NULL, MPI_ERR_OTHER), MPI_ERR_COMM);
  FAILS(MPI_Errhandler_free(&none), MPI_ERR_LASTCODE);
  MPI_Errhandler_free(&of_windows);
  FAILS(MPI_Op_free(&no_op), MPI_ERR_OP);
  FAILS(MPI_Op_free(&sum), MPI_ERR_OP);
  CHECK(predefined == MPI_ERRORS_RETURN && sum == MPI_SUM);
}

#if MPI_VERSION >= 4
static void sessions(void) {
  MPI_Session session = MPI_SESSION_NULL;
  MPI_Group group = MPI_GROUP_NULL;
  MPI_Info info = MPI_INFO_NULL;
  FAILS(MPI_Session_finalize(&session), MPI_ERR_SESSION);
  FAILS(MPI_Group_from_session_pset(session, "mpi://WORLD", &group), MPI_ERR_SESSION);
  FAILS(MPI_Session_get_info(session, &info), MPI_ERR_SESSION);
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
  FAILS(MPI_Group_from_session_pset(session, "mpi://nowhere", &group), MPI_ERR_LASTCODE);
  FAILS(MPI_Session_get_pset_info(session, "mpi://nowhere", &info), MPI_ERR_LASTCODE);
  CHECK(MPI_Session_finalize(&session) == MPI_SUCCESS);
}
#endif

static void processes(void) {
  char port[MPI_MAX_PORT_NAME] = "";
  MPI_Comm other = MPI_COMM_NULL;
  FAILS(MPI_Comm_spawn("none", MPI_ARGV_NULL, 1, MPI_INFO_NULL, size, MPI_COMM_WORLD, &other,
                       MPI_ERRCODES_IGNORE),
        MPI_ERR_ROOT);
  FAILS(MPI_Comm_spawn("none", MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_NULL, &other,
                       MPI_ERRCODES_IGNORE),
        MPI_ERR_COMM);
  FAILS(MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_NULL, &other), MPI_ERR_COMM);
  FAILS(MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_NULL, &other), MPI_ERR_COMM);
  FAILS(MPI_Comm_accept(port, MPI_INFO_NULL, size, MPI_COMM_WORLD, &other), MPI_ERR_ROOT);
  FAILS(MPI_Comm_connect(port, MPI_INFO_NULL, size, MPI_COMM_WORLD, &other), MPI_ERR_ROOT);
  FAILS(MPI_Comm_join(-1, &other), MPI_ERR_LASTCODE);
  FAILS(MPI_Lookup_name("nobody published this", MPI_INFO_NULL, port), MPI_ERR_NAME);
  CHECK(other == MPI_COMM_NULL);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  return_errors();
  communicators();
  let_pass();
  groups();
  topologies();
  datatypes();
  attributes();
  infos();
  handlers();
  FOUR(sessions();)
  processes();
  MPI_Group_free(&world);
  return conclude("wrong_objects");
}
