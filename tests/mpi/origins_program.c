/* SPDX-License-Identifier: BSD-3-Clause */
/* Objects, outputs and ends that a tracer sees only half of. For test_origins.py, which says what
 * each mode is about.
 *
 *     origins_program MODE [SEED | pmpi] */
#include <chameleon/chameleon.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, size, right, left;

static void expect(int condition, int line) {
  if (condition) return;
  fprintf(stderr, "line %d: does not hold\n", line);
  MPI_Abort(MPI_COMM_WORLD, 1);
}
#define EXPECT(condition) expect(condition, __LINE__)

/* A shift of two numbers. */
static void shift(MPI_Comm comm, MPI_Datatype two) {
  int out[2] = {rank, -rank}, in[2] = {-1, -1};
  MPI_Sendrecv(out, 1, two, right, 3, in, 1, two, left, 3, comm, MPI_STATUS_IGNORE);
  EXPECT(in[0] == left && in[1] == -left);
}

/* What is made while recording is off: a communicator, a datatype, a persistent request, a window.
 * One rank alone is off when another communicator is made. */
static void made_while_off(void) {
  MPI_Comm all, half;
  MPI_Datatype two;
  MPI_Request again[2];
  MPI_Win window;
  int in = -1, sum = 0, shared = 0;
  MPI_Pcontrol(0);
  MPI_Comm_dup(MPI_COMM_WORLD, &all);
  MPI_Type_contiguous(2, MPI_INT, &two);
  MPI_Type_commit(&two);
  MPI_Recv_init(&in, 1, MPI_INT, left, 4, all, &again[0]);
  MPI_Send_init(&rank, 1, MPI_INT, right, 4, all, &again[1]);
  MPI_Win_create(&shared, sizeof shared, 1, MPI_INFO_NULL, all, &window);
  MPI_Pcontrol(1);
  if (rank == 0) MPI_Pcontrol(0);
  MPI_Comm_split(all, rank % 2, rank, &half);
  if (rank == 0) MPI_Pcontrol(1);
  for (int step = 0; step < 8; ++step) {
    shift(all, two);
    MPI_Startall(2, again);
    MPI_Waitall(2, again, MPI_STATUSES_IGNORE);
    EXPECT(in == left);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, half);
    MPI_Win_fence(0, window);
    MPI_Put(&rank, 1, MPI_INT, right, 0, 1, MPI_INT, window);
    MPI_Win_fence(0, window);
    EXPECT(shared == left);
    chameleon_marker();
  }
  MPI_Pcontrol(0);
  MPI_Win_free(&window);
  MPI_Request_free(&again[0]);
  MPI_Request_free(&again[1]);
  MPI_Type_free(&two);
  MPI_Comm_free(&half);
  MPI_Comm_free(&all);
  MPI_Pcontrol(1);
}

/* What functions made that are not wrapped. Ranks use the two communicators in different orders,
 * and with messages on others in between. */
static void made_unseen(void) {
  MPI_Comm part, pair;
  MPI_Datatype two, four, nested;
  int out[4] = {rank, -rank, rank, -rank}, in[4];
  PMPI_Comm_split(MPI_COMM_WORLD, 0, rank, &part);
  PMPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &pair);
  PMPI_Type_contiguous(2, MPI_INT, &two);
  PMPI_Type_commit(&two);
  PMPI_Type_vector(2, 2, 3, MPI_INT, &four);
  PMPI_Type_commit(&four);
  for (int step = 0; step < 6; ++step) {
    if (step == 0 && rank == 0) MPI_Send(&rank, 1, MPI_INT, right, 5, part);
    if (step == 0 && left == 0) MPI_Recv(in, 1, MPI_INT, left, 5, part, MPI_STATUS_IGNORE);
    shift(part, two);
    MPI_Request request;
    if (rank % 2 == 0) MPI_Ibarrier(pair, &request);
    shift(MPI_COMM_WORLD, two);
    if (rank % 2 == 1) MPI_Ibarrier(pair, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Bcast(out, 1, two, 0, part);
    out[0] = rank, out[1] = -rank;
    MPI_Type_contiguous(1, four, &nested);
    MPI_Type_free(&nested);
    chameleon_marker();
  }
  MPI_Type_free(&two);
  MPI_Type_free(&four);
  MPI_Comm_free(&pair);
  MPI_Comm_free(&part);
}

/* Objects of each kind, made by functions that are not wrapped, or by calls that a trace leaves
 * out. Ranks meet windows and files in different orders. The window is dynamic: MPICH 4.0 writes to
 * the wrong place in other ones here. */
#define BY(name) (pmpi ? PMPI_##name : MPI_##name)

static void ignore(MPI_Comm* comm, int* code, ...) { (void)comm, (void)code; }
static void add(void* in, void* inout, int* count, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < *count; ++i) ((int*)inout)[i] += ((int*)in)[i];
}

static void made_of_each_kind(int pmpi) {
  const int half[2] = {0, 1};
  static int piece;
  int sum = 0, in = -1;
  MPI_Comm all, few;
  MPI_Group world, two;
  MPI_Op op;
  MPI_Win window;
  MPI_File file;
  MPI_Info info;
  MPI_Errhandler handler;
  MPI_Datatype pair;
  MPI_Aint own, there;
  BY(Comm_dup)(MPI_COMM_WORLD, &all);
  BY(Comm_group)(MPI_COMM_WORLD, &world);
  BY(Group_incl)(world, 2, half, &two);
  BY(Op_create)(add, 1, &op);
  BY(Info_create)(&info);
  BY(Comm_create_errhandler)(ignore, &handler);
  BY(Type_contiguous)(2, MPI_INT, &pair);
  BY(Type_commit)(&pair);
  BY(Win_create_dynamic)(MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Win_attach(window, &piece, sizeof piece);
  BY(File_open)
  (MPI_COMM_WORLD, "origins.data", MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
   MPI_INFO_NULL, &file);
  MPI_Get_address(&piece, &own);
  MPI_Sendrecv(&own, 1, MPI_AINT, left, 2, &there, 1, MPI_AINT, right, 2, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  MPI_Comm_set_errhandler(all, handler);
  MPI_Comm_set_info(all, info);
  for (int step = 0; step < 6; ++step) {
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, op, all);
    EXPECT(sum == size * (size - 1) / 2);
    if (rank < 2) {
      MPI_Comm_create_group(MPI_COMM_WORLD, two, 4, &few);
      MPI_Barrier(few);
      MPI_Comm_free(&few);
    }
    if (rank % 2 == 0)
      MPI_File_write_at(file, (MPI_Offset)sizeof rank * rank, &rank, 1, MPI_INT, MPI_STATUS_IGNORE);
    MPI_Win_fence(0, window);
    MPI_Put(&rank, 1, MPI_INT, right, there, 1, MPI_INT, window);
    MPI_Win_fence(0, window);
    EXPECT(piece == left);
    if (rank % 2 == 1)
      MPI_File_write_at(file, (MPI_Offset)sizeof rank * rank, &rank, 1, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_read_at_all(file, (MPI_Offset)sizeof rank * rank, &in, 1, MPI_INT, MPI_STATUS_IGNORE);
    EXPECT(in == rank);
    shift(all, pair);
    chameleon_marker();
  }
  MPI_Win_detach(window, &piece);
  MPI_File_close(&file);
  MPI_Win_free(&window);
  MPI_Type_free(&pair);
  MPI_Op_free(&op);
  MPI_Info_free(&info);
  MPI_Errhandler_free(&handler);
  MPI_Group_free(&two);
  MPI_Group_free(&world);
  MPI_Comm_free(&all);
}

/* Tests of nothing, as many as happen to be made, and waits for nothing, which are as many in every
 * run. */
static void null_requests(unsigned seed) {
  MPI_Request none[3] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  MPI_Status statuses[3];
  int flag, index, count, indices[3], in;
  for (int step = 0; step < 8; ++step) {
    const unsigned tests = (seed + 7U * (unsigned)step + 3U * (unsigned)rank) % 5;
    for (unsigned i = 0; i < tests; ++i) {
      MPI_Test(&none[0], &flag, MPI_STATUS_IGNORE);
      MPI_Testall((int)(i % 4), none, &flag, statuses);
      MPI_Testall(3, none, &flag, MPI_STATUSES_IGNORE);
      MPI_Testany(3, none, &index, &flag, statuses);
      MPI_Testsome(3, none, &count, indices, statuses);
    }
    MPI_Wait(&none[0], MPI_STATUS_IGNORE);
    MPI_Waitall(3, none, statuses);
    MPI_Waitall(0, NULL, MPI_STATUSES_IGNORE);
    MPI_Waitany(3, none, &index, statuses);
    MPI_Waitsome(3, none, &count, indices, statuses);
    EXPECT(index == MPI_UNDEFINED && count == MPI_UNDEFINED);
    MPI_Irecv(&in, 1, MPI_INT, left, 6, MPI_COMM_WORLD, &none[1]);
    MPI_Send(&rank, 1, MPI_INT, right, 6, MPI_COMM_WORLD);
    do MPI_Testall(3, none, &flag, statuses);
    while (!flag);
    EXPECT(in == left);
    chameleon_marker();
  }
}

/* Calls fail, and the handler says that they succeeded: they have set nothing. */
static int errors;
static void hide(MPI_Comm* comm, int* code, ...) {
  (void)comm;
  ++errors;
  *code = MPI_SUCCESS;
}

static void hidden_errors(void) {
  MPI_Errhandler handler;
  MPI_Comm_create_errhandler(hide, &handler);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
  for (int step = 0; step < 4; ++step) {
    /* Other garbage at each step, with what calls take for handles, too. */
    const int garbage = 0x4c000005 + 16 * step + rank;
    int flag = garbage, count = garbage, in = garbage;
    MPI_Comm comm;
    MPI_Request request;
    MPI_Message message;
    MPI_Datatype type;
    MPI_Group group;
    MPI_Status status;
    memset(&status, garbage & 0xff, sizeof status);
    comm = (MPI_Comm)garbage, request = (MPI_Request)garbage, message = (MPI_Message)garbage;
    type = (MPI_Datatype)garbage, group = (MPI_Group)garbage;
    const int before = errors;
    EXPECT(MPI_Iprobe(size, 0, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    EXPECT(MPI_Improbe(size, 0, MPI_COMM_WORLD, &flag, &message, &status) == MPI_SUCCESS);
    EXPECT(MPI_Probe(size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    EXPECT(MPI_Recv(&in, 1, MPI_INT, size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    EXPECT(MPI_Recv(&in, 1, MPI_INT, MPI_ANY_SOURCE, -7, MPI_COMM_WORLD, &status) == MPI_SUCCESS);
    EXPECT(MPI_Send(&in, 1, MPI_INT, size, 0, MPI_COMM_WORLD) == MPI_SUCCESS);
    EXPECT(MPI_Isend(&in, 1, MPI_INT, size, 0, MPI_COMM_WORLD, &request) == MPI_SUCCESS);
    EXPECT(MPI_Irecv(&in, 1, MPI_INT, size, 0, MPI_COMM_WORLD, &request) == MPI_SUCCESS);
    EXPECT(MPI_Comm_split(MPI_COMM_WORLD, -5, 0, &comm) == MPI_SUCCESS);
    EXPECT(MPI_Comm_group(MPI_COMM_NULL, &group) == MPI_SUCCESS);
    EXPECT(MPI_Type_contiguous(-1, MPI_INT, &type) == MPI_SUCCESS);
    EXPECT(MPI_Allreduce(&rank, &in, 1, MPI_INT, MPI_OP_NULL, MPI_COMM_WORLD) == MPI_SUCCESS);
    EXPECT(MPI_Testall(-1, NULL, &flag, MPI_STATUSES_IGNORE) == MPI_SUCCESS);
    EXPECT(MPI_Waitsome(-1, NULL, &count, NULL, MPI_STATUSES_IGNORE) == MPI_SUCCESS);
    EXPECT(errors >= before + 12 && flag == garbage && count == garbage && in == garbage);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Comm_call_errhandler(MPI_COMM_WORLD, MPI_ERR_OTHER);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
  MPI_Errhandler_free(&handler);
}

/* Outputs with more room than calls write: the rest is not set. */
enum { kRoom = 30 };
static void fill(void* memory, size_t bytes, int step) {
  memset(memory, 0x51 + rank + step, bytes);
}

static void contents(MPI_Datatype type, int step) {
  int integers[kRoom], counts[4], combiner;
  MPI_Aint addresses[kRoom];
  MPI_Datatype types[kRoom];
  fill(integers, sizeof integers, step), fill(addresses, sizeof addresses, step);
  fill(types, sizeof types, step);
  MPI_Type_get_envelope(type, &counts[0], &counts[1], &counts[2], &combiner);
  MPI_Type_get_contents(type, kRoom, kRoom, kRoom, integers, addresses, types);
  for (int i = 0; i < counts[2]; ++i) {
    MPI_Type_get_envelope(types[i], &counts[0], &counts[1], &counts[3], &combiner);
    if (combiner != MPI_COMBINER_NAMED) MPI_Type_free(&types[i]);
  }
}

static void more_room(void) {
  MPI_Datatype inner, outer, mixed;
  MPI_Comm cart, graph, near;
  const int no = 0, lengths[2] = {2, 1};
  const MPI_Aint places[2] = {0, 64};
  MPI_Type_contiguous(2, MPI_INT, &inner);
  MPI_Type_vector(3, 1, 2, inner, &outer);
  const MPI_Datatype parts[2] = {inner, MPI_DOUBLE};
  MPI_Type_create_struct(2, lengths, places, parts, &mixed);
  MPI_Type_commit(&inner);
  int index[16], edges[16];
  for (int i = 0; i < size; ++i) index[i] = i + 1, edges[i] = (i + 1) % size;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &no, 0, &cart);
  MPI_Graph_create(MPI_COMM_WORLD, size, index, edges, 0, &graph);
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &left, MPI_UNWEIGHTED, 1, &right,
                                 MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &near);
  for (int step = 0; step < 4; ++step) {
    int a[kRoom], b[kRoom], c[kRoom], d[kRoom], flag, length = step;
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Status statuses[2];
    contents(inner, step), contents(outer, step), contents(mixed, step);
    shift(MPI_COMM_WORLD, inner);
    fill(a, sizeof a, step), fill(b, sizeof b, step), fill(c, sizeof c, step);
    fill(d, sizeof d, step), fill(statuses, sizeof statuses, step);
    MPI_Cart_get(cart, kRoom, a, b, c);
    MPI_Cart_coords(cart, 0, kRoom, d);
    fill(a, sizeof a, step), fill(b, sizeof b, step);
    MPI_Graph_get(graph, kRoom, kRoom, a, b);
    fill(c, sizeof c, step);
    MPI_Graph_neighbors(graph, rank, kRoom, c);
    fill(a, sizeof a, step), fill(b, sizeof b, step), fill(c, sizeof c, step);
    fill(d, sizeof d, step);
    MPI_Dist_graph_neighbors(near, kRoom, a, b, kRoom, c, d);
    MPI_Info info;
    MPI_Info_create(&info);
    fill(&length, sizeof length, step);
    MPI_Info_get_valuelen(info, "none", &length, &flag);
    MPI_Info_free(&info);
    int in[2], out = rank;
    MPI_Irecv(&in[0], 1, MPI_INT, left, 8, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(&in[1], 1, MPI_INT, left, 9, MPI_COMM_WORLD, &requests[1]);
    MPI_Testall(2, requests, &flag, statuses);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int tag = 8; tag < 10; ++tag) MPI_Send(&out, 1, MPI_INT, right, tag, MPI_COMM_WORLD);
    int done = 0, count;
    while (done < 2) {
      fill(a, sizeof a, step), fill(statuses, sizeof statuses, step);
      MPI_Waitsome(2, requests, &count, a, statuses);
      done += count;
    }
  }
  MPI_Comm_free(&near), MPI_Comm_free(&graph), MPI_Comm_free(&cart);
  MPI_Type_free(&mixed), MPI_Type_free(&outer), MPI_Type_free(&inner);
}

/* One handle for several objects: threads that each take the group of the world. */
static MPI_Group everyone;
static void* takes(void* nothing) {
  for (int i = 0; i < 60; ++i) {
    MPI_Group group;
    MPI_Comm_group(MPI_COMM_WORLD, &group);
    usleep(200);
    MPI_Group_free(&group);
    usleep(200);
  }
  return nothing;
}
static void* makes(void* nothing) {
  for (int i = 0; i < 30; ++i) {
    MPI_Comm comm;
    MPI_Comm_create_group(MPI_COMM_WORLD, everyone, 7, &comm);
    MPI_Comm_free(&comm);
    usleep(300);
  }
  return nothing;
}
static void shared_handles(void) {
  pthread_t threads[2];
  MPI_Comm_group(MPI_COMM_WORLD, &everyone);
  pthread_create(&threads[0], NULL, takes, NULL);
  pthread_create(&threads[1], NULL, makes, NULL);
  for (int i = 0; i < 2; ++i) pthread_join(threads[i], NULL);
  MPI_Group_free(&everyone);
}

/* Receives with room to spare or none, from partners that may not exist, in any way that they can
 * be completed. All ranks take the same decisions, from the seed. */
static unsigned state;
static int pick(int below) {
  state = state * 1664525u + 1013904223u;
  return (int)((state >> 16) % (unsigned)below);
}

static void exchange(int partner, int way, int room, int count, int wild) {
  int out[8] = {rank}, in[2][64], index, indices[2], flag = 0, done = 0;
  MPI_Request requests[3] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  MPI_Status status, statuses[3];
  const int source = wild == 1 && partner != MPI_PROC_NULL ? MPI_ANY_SOURCE : partner;
  const int tag = wild == 2 ? MPI_ANY_TAG : 2;
  if (way == 0) {
    MPI_Sendrecv(out, count, MPI_INT, partner, 2, in[0], room, MPI_INT, source, tag, MPI_COMM_WORLD,
                 &status);
    return;
  }
  MPI_Irecv(in[0], room, MPI_INT, source, tag, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(out, count, MPI_INT, partner, 2, MPI_COMM_WORLD, &requests[1]);
  if (way == 1) {
    MPI_Wait(&requests[0], &status);
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
  } else if (way == 2) {
    MPI_Waitall(3, requests, statuses);
  } else if (way == 3) {
    while (!flag) MPI_Testall(2, requests, &flag, MPI_STATUSES_IGNORE);
  } else if (way == 4) {
    for (int i = 0; i < 2; ++i) MPI_Waitany(2, requests, &index, &status);
  } else if (way == 5) {
    for (; done < 2; done += index) MPI_Waitsome(2, requests, &index, indices, statuses);
  } else if (way == 6) {
    for (; done < 2; done += index) MPI_Testsome(2, requests, &index, indices, statuses);
  } else {
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    MPI_Irecv(in[1], room, MPI_INT, rank, 99, MPI_COMM_WORLD, &requests[2]);
    MPI_Cancel(&requests[2]);
    MPI_Waitall(3, requests, statuses);
  }
}

static void partners(unsigned seed) {
  int bits = 0;
  state = seed;
  while (2 << bits <= size) ++bits;
  const int plan[4] = {pick(8), pick(8), pick(8), pick(8)};
  const int rooms[4] = {4 + 60 * pick(2), 4 + 60 * pick(2), 64, 4};
  const int wilds[4] = {pick(3), pick(3), pick(3), 0};
  const int every = 2 + pick(4), grid = pick(2);
  for (int step = 0; step < 24; ++step) {
    int partner = grid ? size - 1 - rank + step / every % 3 : rank ^ (1 << step / every % bits);
    if (grid) { /* symmetric about a point that moves; some fall outside */
      partner = size - 1 + step / every % 2 - rank;
    }
    if (partner < 0 || partner >= size || partner == rank) partner = MPI_PROC_NULL;
    for (int i = 0; i < 2; ++i)
      exchange(partner, plan[2 * (step % 2) + i], rooms[i], i == 0 ? 4 : 1 + step % 4, wilds[i]);
    MPI_Barrier(MPI_COMM_WORLD);
    chameleon_marker();
  }
}

static void steps(int count) {
  int in, out = rank;
  for (int step = 0; step < count; ++step)
    MPI_Sendrecv(&out, 1, MPI_INT, right, 1, &in, 1, MPI_INT, left, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}

static void finalize(void) {
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
}

int main(int argc, char** argv) {
  const char* const mode = argc > 1 ? argv[1] : "";
  const int has_threads = strcmp(mode, "groups") == 0;
  int provided;
  MPI_Info early, late;
  if (strcmp(mode, "before") == 0) MPI_Info_create(&early);
  if (strcmp(mode, "atexit") == 0) atexit(finalize);
  MPI_Init_thread(&argc, &argv, has_threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  right = (rank + 1) % size, left = (rank + size - 1) % size;
  if (strcmp(mode, "off") == 0) made_while_off();
  if (strcmp(mode, "unseen") == 0) made_unseen();
  if (strcmp(mode, "kinds") == 0) made_of_each_kind(argc > 2);
  if (strcmp(mode, "null") == 0) null_requests((unsigned)atoi(argv[2]));
  if (strcmp(mode, "hidden") == 0) hidden_errors();
  if (strcmp(mode, "room") == 0) more_room();
  if (strcmp(mode, "groups") == 0) shared_handles();
  if (strcmp(mode, "partners") == 0) partners((unsigned)atoi(argv[2]));
  if (strcmp(mode, "before") == 0) {
    MPI_Info_free(&early);
    MPI_Info_create(&late);
    MPI_Info_free(&late);
  }
  if (strcmp(mode, "exit") == 0 || strcmp(mode, "atexit") == 0) {
    steps(20);
    printf("rank %d is done\n", rank);
    exit(3);
  }
  if (rank == 0) printf("%s: done\n", mode);
  return MPI_Finalize();
}
