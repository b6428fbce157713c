/* SPDX-License-Identifier: BSD-3-Clause */
/* Windows and files used wrongly: wrong_access FOLDER. Arguments, epochs that are not open, modes
 * that do not allow it. */
#include "conformance.h"

enum { kRoom = 512 };
static int rank, size, right;
static int out[4], in[4];
static MPI_Datatype raw;
static MPI_Request request;
static MPI_Status status;
static MPI_Op own_op;

static void add(void* from, void* to, int* count, MPI_Datatype* type) {
  (void)from, (void)to, (void)count, (void)type;
}

/* All operations within an epoch that allows them. */
static void operations(MPI_Win win) {
#define PUT(count, type, to, place, there, there_type) \
  MPI_Put(out, count, type, to, place, there, there_type, win)
  FAILS(PUT(-1, MPI_INT, right, 0, 1, MPI_INT), MPI_ERR_COUNT);
  FAILS(PUT(1, MPI_INT, right, 0, -1, MPI_INT), MPI_ERR_COUNT);
  FAILS(PUT(1, MPI_DATATYPE_NULL, right, 0, 1, MPI_INT), MPI_ERR_TYPE);
  FAILS(PUT(1, MPI_INT, right, 0, 1, raw), MPI_ERR_TYPE);
  FAILS(PUT(1, MPI_INT, size, 0, 1, MPI_INT), MPI_ERR_RANK);
  FAILS(PUT(1, MPI_INT, -7, 0, 1, MPI_INT), MPI_ERR_RANK);
  FAILS(PUT(1, MPI_INT, right, -1, 1, MPI_INT), MPI_ERR_DISP);
#undef PUT
  FAILS(MPI_Get(in, 1, MPI_INT, size, 0, 1, MPI_INT, win), MPI_ERR_RANK);
  FAILS(MPI_Get(in, -1, MPI_INT, right, 0, 1, MPI_INT, win), MPI_ERR_COUNT);
  FAILS(MPI_Accumulate(out, 1, MPI_INT, right, 0, 1, MPI_INT, own_op, win), MPI_ERR_OP);
  FAILS(MPI_Accumulate(out, 1, MPI_INT, right, 0, 1, MPI_INT, MPI_OP_NULL, win), MPI_ERR_OP);
  FAILS(MPI_Accumulate(out, 1, MPI_INT, size, 0, 1, MPI_INT, MPI_SUM, win), MPI_ERR_RANK);
  FAILS(MPI_Get_accumulate(out, 1, MPI_INT, in, 1, MPI_INT, right, 0, 1, MPI_INT, own_op, win),
        MPI_ERR_OP);
  FAILS(MPI_Get_accumulate(out, 1, MPI_INT, in, -1, MPI_INT, right, 0, 1, MPI_INT, MPI_SUM, win),
        MPI_ERR_COUNT);
  FAILS(MPI_Fetch_and_op(out, in, MPI_INT, size, 0, MPI_SUM, win), MPI_ERR_RANK);
  FAILS(MPI_Fetch_and_op(out, in, raw, right, 0, MPI_SUM, win), MPI_ERR_TYPE);
  FAILS(MPI_Compare_and_swap(out, in, in, MPI_INT, size, 0, win), MPI_ERR_RANK);
  FAILS(MPI_Compare_and_swap(out, in, in, MPI_DOUBLE, right, 0, win), MPI_ERR_TYPE);
  FAILS(MPI_Put(out, 1, MPI_INT, right, 0, 1, MPI_INT, MPI_WIN_NULL), MPI_ERR_WIN);
  FOUR(FAILS(MPI_Put_c(out, -1, MPI_INT, right, 0, 1, MPI_INT, win), MPI_ERR_COUNT);)
}

/* What belongs to an epoch, without one. */
static void epochs(MPI_Win win) {
  MPI_Group world, beyond = MPI_GROUP_NULL;
  int flag = 7;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  FAILS(MPI_Put(out, 1, MPI_INT, right, 0, 1, MPI_INT, win), MPI_ERR_RMA_SYNC);
  FAILS(MPI_Get(in, 1, MPI_INT, right, 0, 1, MPI_INT, win), MPI_ERR_RMA_SYNC);
  FAILS(MPI_Rput(out, 1, MPI_INT, right, 0, 1, MPI_INT, win, &request), MPI_ERR_RMA_SYNC);
  FAILS(MPI_Rget(in, 1, MPI_INT, right, 0, 1, MPI_INT, win, &request), MPI_ERR_RMA_SYNC);
  FAILS(MPI_Win_unlock(right, win), MPI_ERR_RMA_SYNC);
  FAILS(MPI_Win_unlock_all(win), MPI_ERR_RMA_SYNC);
  FAILS(MPI_Win_flush(right, win), MPI_ERR_RMA_SYNC);
  FAILS(MPI_Win_flush_all(win), MPI_ERR_RMA_SYNC);
  FAILS(MPI_Win_flush_local(right, win), MPI_ERR_RMA_SYNC);
  FAILS(MPI_Win_flush_local_all(win), MPI_ERR_RMA_SYNC);
  FAILS(MPI_Win_complete(win), MPI_ERR_RMA_SYNC);
  FAILS(MPI_Win_wait(win), MPI_ERR_RMA_SYNC);
  FAILS(MPI_Win_test(win, &flag), MPI_ERR_RMA_SYNC);
  FAILS(MPI_Win_lock(4711, right, 0, win), MPI_ERR_LASTCODE);
  FAILS(MPI_Win_lock(MPI_LOCK_SHARED, size, 0, win), MPI_ERR_RANK);
  FAILS(MPI_Win_lock(MPI_LOCK_SHARED, right, 4711, win), MPI_ERR_LASTCODE);
  FAILS(MPI_Win_start(beyond, 0, win), MPI_ERR_GROUP);
  FAILS(MPI_Win_post(beyond, 0, win), MPI_ERR_GROUP);
  FAILS(MPI_Win_start(world, 4711, win), MPI_ERR_LASTCODE);
  /* Twice, or closed otherwise than it was opened. */
  CHECK(MPI_Win_lock(MPI_LOCK_SHARED, right, 0, win) == MPI_SUCCESS);
  FAILS(MPI_Win_lock(MPI_LOCK_SHARED, right, 0, win), MPI_ERR_RMA_SYNC);
  FAILS(MPI_Win_lock_all(0, win), MPI_ERR_RMA_SYNC);
  FAILS(MPI_Win_unlock_all(win), MPI_ERR_RMA_SYNC);
  CHECK(MPI_Win_unlock(right, win) == MPI_SUCCESS);
  CHECK(MPI_Win_lock_all(0, win) == MPI_SUCCESS);
  FAILS(MPI_Win_unlock(right, win), MPI_ERR_RMA_SYNC);
  CHECK(MPI_Rput(out, 1, MPI_INT, right, 0, 1, MPI_INT, win, &request) == MPI_SUCCESS);
  CHECK(MPI_Wait(&request, &status) == MPI_SUCCESS);
  CHECK(MPI_Win_unlock_all(win) == MPI_SUCCESS);
  MPI_Group_free(&world);
}

static void windows(void) {
  int* memory;
  MPI_Aint bytes = 0;
  int unit = 0;
  MPI_Win win = MPI_WIN_NULL, none = MPI_WIN_NULL;
  FAILS(MPI_Win_create(in, -1, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win), MPI_ERR_SIZE);
  FAILS(MPI_Win_create(in, 4, 0, MPI_INFO_NULL, MPI_COMM_WORLD, &win), MPI_ERR_LASTCODE);
  FAILS(MPI_Win_create(in, 4, 1, MPI_INFO_NULL, MPI_COMM_NULL, &win), MPI_ERR_COMM);
  FAILS(MPI_Win_allocate(-1, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win), MPI_ERR_SIZE);
  FAILS(MPI_Win_allocate_shared(4, 1, MPI_INFO_NULL, MPI_COMM_NULL, &memory, &win), MPI_ERR_COMM);
  FAILS(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_NULL, &win), MPI_ERR_COMM);
  FAILS(MPI_Win_free(&none), MPI_ERR_WIN);
  FAILS(MPI_Win_fence(0, none), MPI_ERR_WIN);
  FAILS(MPI_Win_lock_all(0, none), MPI_ERR_WIN);
  FAILS(MPI_Win_set_name(none, "none"), MPI_ERR_WIN);
  CHECK(win == MPI_WIN_NULL);
  CHECK(MPI_Win_allocate(kRoom * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory,
                         &win) == MPI_SUCCESS);
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  FAILS(MPI_Win_attach(win, in, sizeof in), MPI_ERR_RMA_FLAVOR);
  FAILS(MPI_Win_detach(win, in), MPI_ERR_RMA_FLAVOR);
  FAILS(MPI_Win_shared_query(win, rank, &bytes, &unit, &memory), MPI_ERR_RMA_FLAVOR);
  epochs(win);
  CHECK(MPI_Win_fence(0, win) == MPI_SUCCESS);
  operations(win);
  FAILS(MPI_Win_fence(4711, win), MPI_ERR_LASTCODE);
  CHECK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win) == MPI_SUCCESS);
  CHECK(MPI_Win_free(&win) == MPI_SUCCESS);
}

static void opened(const char* name) {
  MPI_File file = MPI_FILE_NULL, again = MPI_FILE_NULL;
  FAILS(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDONLY, MPI_INFO_NULL, &file),
        MPI_ERR_NO_SUCH_FILE);
  FAILS(
      MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDONLY | MPI_MODE_WRONLY, MPI_INFO_NULL, &file),
      MPI_ERR_AMODE);
  FAILS(
      MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDONLY | MPI_MODE_CREATE, MPI_INFO_NULL, &file),
      MPI_ERR_AMODE);
  FAILS(MPI_File_open(MPI_COMM_WORLD, name, 0, MPI_INFO_NULL, &file), MPI_ERR_AMODE);
  FAILS(MPI_File_open(MPI_COMM_NULL, name, MPI_MODE_RDONLY, MPI_INFO_NULL, &file), MPI_ERR_COMM);
  FAILS(MPI_File_delete(name, MPI_INFO_NULL), MPI_ERR_NO_SUCH_FILE);
  FAILS(MPI_File_close(&file), MPI_ERR_FILE);
  CHECK(file == MPI_FILE_NULL);
  CHECK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_WRONLY,
                      MPI_INFO_NULL, &file) == MPI_SUCCESS);
  MPI_Barrier(MPI_COMM_WORLD);
  FAILS(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_WRONLY,
                      MPI_INFO_NULL, &again),
        MPI_ERR_FILE_EXISTS);
  /* Only written. */
  FAILS(MPI_File_read(file, in, 1, MPI_INT, &status), MPI_ERR_ACCESS);
  FAILS(MPI_File_read_at(file, 0, in, 1, MPI_INT, &status), MPI_ERR_ACCESS);
  FAILS(MPI_File_read_all(file, in, 1, MPI_INT, &status), MPI_ERR_ACCESS);
  FAILS(MPI_File_read_shared(file, in, 1, MPI_INT, &status), MPI_ERR_ACCESS);
  FAILS(MPI_File_iread(file, in, 1, MPI_INT, &request), MPI_ERR_ACCESS);
  CHECK(MPI_File_write_at(file, rank * (MPI_Offset)sizeof out, out, 4, MPI_INT, &status) ==
        MPI_SUCCESS);
  CHECK(MPI_File_close(&file) == MPI_SUCCESS);
}

static void arguments(MPI_File file) {
  FAILS(MPI_File_write(file, out, -1, MPI_INT, &status), MPI_ERR_COUNT);
  FAILS(MPI_File_write(file, out, 1, MPI_DATATYPE_NULL, &status), MPI_ERR_TYPE);
  FAILS(MPI_File_write(file, out, 1, raw, &status), MPI_ERR_TYPE);
  FAILS(MPI_File_write_at(file, -1, out, 1, MPI_INT, &status), MPI_ERR_ARG);
  FAILS(MPI_File_write_at_all(file, -1, out, 1, MPI_INT, &status), MPI_ERR_ARG);
  FAILS(MPI_File_write_all(file, out, -1, MPI_INT, &status), MPI_ERR_COUNT);
  FAILS(MPI_File_read(file, in, -1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_COUNT);
  FAILS(MPI_File_iwrite(file, out, -1, MPI_INT, &request), MPI_ERR_COUNT);
  FAILS(MPI_File_iread_at(file, -1, in, 1, MPI_INT, &request), MPI_ERR_ARG);
  FAILS(MPI_File_write_shared(file, out, -1, MPI_INT, &status), MPI_ERR_COUNT);
  FAILS(MPI_File_write_ordered(file, out, 1, MPI_DATATYPE_NULL, &status), MPI_ERR_TYPE);
  FAILS(MPI_File_seek(file, -1, MPI_SEEK_SET), MPI_ERR_ARG);
  FAILS(MPI_File_seek(file, 0, 4711), MPI_ERR_ARG);
  /* Not MPI_File_seek_shared, nor a shared write to a file that is only read: MPICH hangs in the
   * former, and takes the latter. */
  FAILS(MPI_File_set_size(file, -1), MPI_ERR_ARG);
  FAILS(MPI_File_preallocate(file, -1), MPI_ERR_ARG);
  FAILS(MPI_File_set_view(file, -4, MPI_INT, MPI_INT, "native", MPI_INFO_NULL), MPI_ERR_ARG);
  FAILS(MPI_File_set_view(file, 0, MPI_DATATYPE_NULL, MPI_INT, "native", MPI_INFO_NULL),
        MPI_ERR_LASTCODE);
  FAILS(MPI_File_set_view(file, 0, MPI_INT, MPI_CHAR, "native", MPI_INFO_NULL), MPI_ERR_LASTCODE);
  FAILS(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "no such form", MPI_INFO_NULL),
        MPI_ERR_UNSUPPORTED_DATAREP);
  /* Split operations: none begun, two begun, another one ended. */
  FAILS(MPI_File_write_all_end(file, out, &status), MPI_ERR_LASTCODE);
  FAILS(MPI_File_read_at_all_end(file, in, &status), MPI_ERR_LASTCODE);
  FAILS(MPI_File_read_ordered_end(file, in, &status), MPI_ERR_LASTCODE);
  CHECK(MPI_File_write_at_all_begin(file, rank * (MPI_Offset)sizeof out, out, 4, MPI_INT) ==
        MPI_SUCCESS);
  FAILS(MPI_File_write_at_all_begin(file, 0, out, 1, MPI_INT), MPI_ERR_LASTCODE);
  CHECK(MPI_File_write_at_all_end(file, out, &status) == MPI_SUCCESS);
}

static void files(const char* folder) {
  char name[1024];
  MPI_File file = MPI_FILE_NULL;
  int whole = 0;
  MPI_Offset bytes = 0;
  snprintf(name, sizeof name, "%s/wrong", folder);
  opened(name);
  CHECK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDONLY, MPI_INFO_NULL, &file) == MPI_SUCCESS);
  FAILS(MPI_File_write(file, out, 1, MPI_INT, &status), MPI_ERR_READ_ONLY);
  FAILS(MPI_File_write_at_all(file, 0, out, 1, MPI_INT, &status), MPI_ERR_READ_ONLY);
  FAILS(MPI_File_iwrite(file, out, 1, MPI_INT, &request), MPI_ERR_READ_ONLY);
  FAILS(MPI_File_set_size(file, 8), MPI_ERR_READ_ONLY);
  CHECK(MPI_File_read_at(file, 0, in, 4, MPI_INT, &status) == MPI_SUCCESS);
  CHECK(MPI_File_close(&file) == MPI_SUCCESS);
  CHECK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_WRONLY | MPI_MODE_SEQUENTIAL, MPI_INFO_NULL,
                      &file) == MPI_SUCCESS);
  FAILS(MPI_File_write_at(file, 0, out, 1, MPI_INT, &status), MPI_ERR_UNSUPPORTED_OPERATION);
  FAILS(MPI_File_seek(file, 0, MPI_SEEK_SET), MPI_ERR_UNSUPPORTED_OPERATION);
  CHECK(MPI_File_close(&file) == MPI_SUCCESS);
  CHECK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR, MPI_INFO_NULL, &file) == MPI_SUCCESS);
  arguments(file);
  CHECK(MPI_File_get_size(file, &bytes) == MPI_SUCCESS);
  CHECK(bytes == (MPI_Offset)(size * sizeof out));
  CHECK(MPI_File_close(&file) == MPI_SUCCESS);
  FAILS(MPI_File_write(file, out, 1, MPI_INT, &status), MPI_ERR_FILE);
  FAILS(MPI_File_set_atomicity(file, whole), MPI_ERR_FILE);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) CHECK(MPI_File_delete(name, MPI_INFO_NULL) == MPI_SUCCESS);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  right = (rank + 1) % size;
  return_errors();
  MPI_Type_contiguous(2, MPI_INT, &raw);
  MPI_Op_create(add, 1, &own_op);
  windows();
  files(argc > 1 ? argv[1] : ".");
  MPI_Op_free(&own_op);
  MPI_Type_free(&raw);
  return conclude("wrong_access");
}
