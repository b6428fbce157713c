/* SPDX-License-Identifier: BSD-3-Clause */
/* Files: files FOLDER. Individual, explicit and shared pointers; independent, collective, split
 * and nonblocking; views; sizes; what fails. */
#include "conformance.h"

enum { kBlock = 6 };
static int rank, size;
static char name[1024];
static MPI_File file;
static MPI_Status status;

static int count_of(const MPI_Status* of) {
  int count = -1;
  MPI_Get_count(of, MPI_INT, &count);
  return count;
}

static void fill(int* block, int from) {
  for (int i = 0; i < kBlock; ++i) block[i] = 1000 * (rank + 1) + from + i;
}

static int holds(const int* block, int of, int from, int count) {
  for (int i = 0; i < count; ++i)
    if (block[i] != 1000 * (of + 1) + from + i) return 0;
  return 1;
}

/* Each rank's blocks follow each other: an offset in bytes. */
static void explicit_offsets(void) {
  int out[kBlock], in[kBlock], next = (rank + 1) % size;
  const MPI_Offset mine = (MPI_Offset)rank * sizeof out, theirs = (MPI_Offset)next * sizeof out;
  MPI_Request request;
  fill(out, 0);
  MPI_File_write_at(file, mine, out, kBlock, MPI_INT, &status);
  CHECK(count_of(&status) == kBlock);
  MPI_File_sync(file);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_File_read_at(file, theirs, in, kBlock, MPI_INT, &status);
  CHECK(count_of(&status) == kBlock && holds(in, next, 0, kBlock));
  MPI_Barrier(MPI_COMM_WORLD);
  fill(out, 1);
  MPI_File_write_at_all(file, mine, out, kBlock, MPI_INT, MPI_STATUS_IGNORE);
  MPI_File_read_at_all(file, mine, in, kBlock, MPI_INT, MPI_STATUS_IGNORE);
  CHECK(holds(in, rank, 1, kBlock));
  fill(out, 2);
  MPI_File_iwrite_at(file, mine, out, kBlock, MPI_INT, &request);
  MPI_Wait(&request, &status);
  CHECK(count_of(&status) == kBlock);
  MPI_File_iread_at(file, mine, in, kBlock, MPI_INT, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK(holds(in, rank, 2, kBlock));
  fill(out, 3);
  MPI_File_write_at_all_begin(file, mine, out, kBlock, MPI_INT);
  MPI_File_write_at_all_end(file, out, &status);
  MPI_File_read_at_all_begin(file, mine, in, kBlock, MPI_INT);
  MPI_File_read_at_all_end(file, in, &status);
  CHECK(holds(in, rank, 3, kBlock));
  fill(out, 4);
  MPI_File_iwrite_at_all(file, mine, out, kBlock, MPI_INT, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_File_iread_at_all(file, mine, in, kBlock, MPI_INT, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK(holds(in, rank, 4, kBlock));
  /* Beyond the end of the file there is less, or nothing. */
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    MPI_File_read_at(file, (MPI_Offset)size * sizeof out - 8, in, kBlock, MPI_INT, &status);
    CHECK(count_of(&status) == 2);
    MPI_File_read_at(file, (MPI_Offset)size * sizeof out, in, kBlock, MPI_INT, &status);
    CHECK(count_of(&status) == 0);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

/* A view that interleaves the ranks' blocks, and the individual pointer in it. */
static void views(void) {
  int out[kBlock], in[kBlock];
  MPI_Offset at = -1, disp = -1;
  MPI_Datatype strided, etype, filetype;
  char representation[MPI_MAX_DATAREP_STRING];
  MPI_Request request;
  MPI_Type_vector(4, kBlock, kBlock * size, MPI_INT, &strided);
  MPI_Type_commit(&strided);
  MPI_File_set_view(file, (MPI_Offset)rank * sizeof out, MPI_INT, strided, "native", MPI_INFO_NULL);
  MPI_File_get_view(file, &disp, &etype, &filetype, representation);
  CHECK(disp == (MPI_Offset)(rank * sizeof out) && strcmp(representation, "native") == 0);
  if (etype != MPI_INT) MPI_Type_free(&etype);
  MPI_Type_free(&filetype);
  fill(out, 10);
  MPI_File_write(file, out, kBlock, MPI_INT, &status);
  fill(out, 20);
  MPI_File_write_all(file, out, kBlock, MPI_INT, &status);
  MPI_File_get_position(file, &at);
  CHECK(at == 2 * kBlock);
  fill(out, 30);
  MPI_File_iwrite(file, out, kBlock, MPI_INT, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  fill(out, 40);
  MPI_File_iwrite_all(file, out, kBlock, MPI_INT, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_File_seek(file, 0, MPI_SEEK_SET);
  MPI_File_read(file, in, kBlock, MPI_INT, &status);
  CHECK(holds(in, rank, 10, kBlock));
  MPI_File_read_all(file, in, kBlock, MPI_INT, &status);
  CHECK(holds(in, rank, 20, kBlock));
  MPI_File_iread(file, in, kBlock, MPI_INT, &request);
  MPI_Wait(&request, &status);
  CHECK(holds(in, rank, 30, kBlock));
  MPI_File_iread_all(file, in, kBlock, MPI_INT, &request);
  MPI_Wait(&request, &status);
  CHECK(holds(in, rank, 40, kBlock));
  MPI_File_seek(file, -2 * kBlock, MPI_SEEK_CUR);
  MPI_File_read_all_begin(file, in, kBlock, MPI_INT);
  MPI_File_read_all_end(file, in, &status);
  CHECK(holds(in, rank, 30, kBlock));
  fill(out, 50);
  MPI_File_write_all_begin(file, out, kBlock, MPI_INT);
  MPI_File_write_all_end(file, out, MPI_STATUS_IGNORE);
  MPI_Type_free(&strided);
  MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
}

/* The shared pointer: in any order, and in the order of ranks. */
static void shared_pointer(void) {
  int out[kBlock], in[kBlock], owner;
  MPI_Offset at = -1, bytes = -1;
  MPI_Request request;
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_File_set_size(file, 0);
  MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
  MPI_File_seek_shared(file, 0, MPI_SEEK_SET);
  fill(out, 60);
  MPI_File_write_shared(file, out, kBlock, MPI_INT, &status);
  MPI_File_iwrite_shared(file, out, kBlock, MPI_INT, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_File_get_position_shared(file, &at);
  CHECK(at == 2 * kBlock * size);
  MPI_Barrier(MPI_COMM_WORLD);
  fill(out, 70);
  MPI_File_write_ordered(file, out, kBlock, MPI_INT, &status);
  MPI_File_write_ordered_begin(file, out, kBlock, MPI_INT);
  MPI_File_write_ordered_end(file, out, &status);
  MPI_File_seek_shared(file, 0, MPI_SEEK_SET);
  MPI_File_read_shared(file, in, kBlock, MPI_INT, &status);
  owner = in[0] / 1000 - 1;
  CHECK(owner >= 0 && owner < size && holds(in, owner, 60, kBlock));
  MPI_File_iread_shared(file, in, kBlock, MPI_INT, &request);
  MPI_Wait(&request, &status);
  owner = in[0] / 1000 - 1;
  CHECK(owner >= 0 && owner < size && holds(in, owner, 60, kBlock));
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_File_read_ordered(file, in, kBlock, MPI_INT, &status);
  CHECK(holds(in, rank, 70, kBlock));
  MPI_File_read_ordered_begin(file, in, kBlock, MPI_INT);
  MPI_File_read_ordered_end(file, in, &status);
  CHECK(holds(in, rank, 70, kBlock));
  MPI_File_get_size(file, &bytes);
  CHECK(bytes == (MPI_Offset)(4 * size * sizeof out));
}

static int complaints;
static void complain(MPI_File* on, int* code, ...) {
  (void)on, (void)code;
  ++complaints;
}

static void belongings(void) {
  MPI_Group group, world;
  MPI_Info info;
  MPI_Errhandler handler;
  MPI_Offset bytes = -1;
  int same = 0, atomic = 0, value = 7;
  MPI_File_get_group(file, &group);
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_compare(group, world, &same);
  CHECK(same == MPI_IDENT);
  MPI_Group_free(&group);
  MPI_Group_free(&world);
  MPI_File_get_info(file, &info);
  MPI_File_set_info(file, info);
  MPI_Info_free(&info);
  MPI_File_set_atomicity(file, 1);
  MPI_File_get_atomicity(file, &atomic);
  CHECK(atomic == 1);
  MPI_File_set_atomicity(file, 0);
  MPI_File_preallocate(file, 4096);
  MPI_File_get_size(file, &bytes);
  CHECK(bytes == 4096);
  MPI_File_create_errhandler(complain, &handler);
  MPI_File_set_errhandler(file, handler);
  MPI_File_call_errhandler(file, MPI_ERR_OTHER);
  CHECK(complaints == 1);
  MPI_Errhandler_free(&handler);
  MPI_File_set_errhandler(file, MPI_ERRORS_RETURN);
  MPI_File_get_errhandler(file, &handler);
  CHECK(handler == MPI_ERRORS_RETURN);
  CHECK(fails_with(MPI_File_write_at(file, -1, &value, 1, MPI_INT, &status), MPI_ERR_ARG));
}

#if MPI_VERSION >= 4
/* The forms with counts of MPI_Count: what each rank writes, it reads back in another way. */
static void large_counts(void) {
  int out[kBlock], in[kBlock];
  const MPI_Offset mine = (MPI_Offset)rank * sizeof out;
  MPI_Request request;
  MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
  fill(out, 80);
  MPI_File_write_at_c(file, mine, out, kBlock, MPI_INT, &status);
  MPI_File_read_at_c(file, mine, in, kBlock, MPI_INT, &status);
  CHECK(holds(in, rank, 80, kBlock));
  fill(out, 81);
  MPI_File_write_at_all_c(file, mine, out, kBlock, MPI_INT, &status);
  MPI_File_read_at_all_c(file, mine, in, kBlock, MPI_INT, &status);
  CHECK(holds(in, rank, 81, kBlock));
  fill(out, 82);
  MPI_File_iwrite_at_c(file, mine, out, kBlock, MPI_INT, &request);
  MPI_Wait(&request, &status);
  MPI_File_iread_at_c(file, mine, in, kBlock, MPI_INT, &request);
  MPI_Wait(&request, &status);
  CHECK(holds(in, rank, 82, kBlock));
  fill(out, 83);
  MPI_File_iwrite_at_all_c(file, mine, out, kBlock, MPI_INT, &request);
  MPI_Wait(&request, &status);
  MPI_File_iread_at_all_c(file, mine, in, kBlock, MPI_INT, &request);
  MPI_Wait(&request, &status);
  CHECK(holds(in, rank, 83, kBlock));
  fill(out, 84);
  MPI_File_write_at_all_begin_c(file, mine, out, kBlock, MPI_INT);
  MPI_File_write_at_all_end(file, out, &status);
  MPI_File_read_at_all_begin_c(file, mine, in, kBlock, MPI_INT);
  MPI_File_read_at_all_end(file, in, &status);
  CHECK(holds(in, rank, 84, kBlock));
  /* The individual pointer: five writes, and the reads of them. */
  const MPI_Offset from = 10 * rank * (MPI_Offset)sizeof out;
  MPI_File_seek(file, from, MPI_SEEK_SET);
  for (int i = 0; i < 5; ++i) {
    fill(out, 85 + i);
    if (i == 0) MPI_File_write_c(file, out, kBlock, MPI_INT, &status);
    if (i == 1) MPI_File_write_all_c(file, out, kBlock, MPI_INT, &status);
    if (i == 2) MPI_File_iwrite_c(file, out, kBlock, MPI_INT, &request);
    if (i == 3) MPI_File_iwrite_all_c(file, out, kBlock, MPI_INT, &request);
    if (i == 2 || i == 3) MPI_Wait(&request, &status);
    if (i == 4) {
      MPI_File_write_all_begin_c(file, out, kBlock, MPI_INT);
      MPI_File_write_all_end(file, out, &status);
    }
  }
  MPI_File_seek(file, from, MPI_SEEK_SET);
  for (int i = 0; i < 5; ++i) {
    if (i == 0) MPI_File_read_c(file, in, kBlock, MPI_INT, &status);
    if (i == 1) MPI_File_read_all_c(file, in, kBlock, MPI_INT, &status);
    if (i == 2) MPI_File_iread_c(file, in, kBlock, MPI_INT, &request);
    if (i == 3) MPI_File_iread_all_c(file, in, kBlock, MPI_INT, &request);
    if (i == 2 || i == 3) MPI_Wait(&request, &status);
    if (i == 4) {
      MPI_File_read_all_begin_c(file, in, kBlock, MPI_INT);
      MPI_File_read_all_end(file, in, &status);
    }
    CHECK(holds(in, rank, 85 + i, kBlock));
  }
  /* The shared pointer. */
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_File_seek_shared(file, 0, MPI_SEEK_SET);
  fill(out, 90);
  MPI_File_write_ordered_c(file, out, kBlock, MPI_INT, &status);
  fill(out, 91);
  MPI_File_write_ordered_begin_c(file, out, kBlock, MPI_INT);
  MPI_File_write_ordered_end(file, out, &status);
  fill(out, 92);
  MPI_File_write_shared_c(file, out, kBlock, MPI_INT, &status);
  MPI_File_iwrite_shared_c(file, out, kBlock, MPI_INT, &request);
  MPI_Wait(&request, &status);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_File_seek_shared(file, 0, MPI_SEEK_SET);
  MPI_File_read_ordered_c(file, in, kBlock, MPI_INT, &status);
  CHECK(holds(in, rank, 90, kBlock));
  MPI_File_read_ordered_begin_c(file, in, kBlock, MPI_INT);
  MPI_File_read_ordered_end(file, in, &status);
  CHECK(holds(in, rank, 91, kBlock));
  MPI_File_read_shared_c(file, in, kBlock, MPI_INT, &status);
  CHECK(in[0] % 1000 == 92);
  MPI_File_iread_shared_c(file, in, kBlock, MPI_INT, &request);
  MPI_Wait(&request, &status);
  CHECK(in[0] % 1000 == 92);
  MPI_Barrier(MPI_COMM_WORLD);
}
#endif

/* A file that was there before MPI: only read. */
static void read_only(const char* folder) {
  char input[1024];
  int in[kBlock];
  MPI_File read;
  snprintf(input, sizeof input, "%s/input", folder);
  if (rank == 0) {
    FILE* made = fopen(input, "wb");
    for (int i = 0; i < kBlock * size; ++i) fwrite(&i, sizeof i, 1, made);
    fclose(made);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK(MPI_File_open(MPI_COMM_WORLD, input, MPI_MODE_RDONLY, MPI_INFO_NULL, &read) == MPI_SUCCESS);
  MPI_File_read_at(read, (MPI_Offset)rank * sizeof in, in, kBlock, MPI_INT, &status);
  CHECK(count_of(&status) == kBlock && in[0] == kBlock * rank);
  MPI_File_close(&read);
  if (rank == 0) CHECK(MPI_File_delete(input, MPI_INFO_NULL) == MPI_SUCCESS);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const char* folder = argc > 1 ? argv[1] : ".";
  snprintf(name, sizeof name, "%s/conformance", folder);
  CHECK(fails_with(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDONLY, MPI_INFO_NULL, &file),
                   MPI_ERR_NO_SUCH_FILE));
  CHECK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_RDWR,
                      MPI_INFO_NULL, &file) == MPI_SUCCESS);
  explicit_offsets();
  views();
  shared_pointer();
  belongings();
  FOUR(large_counts();)
  MPI_File_close(&file);
  CHECK(file == MPI_FILE_NULL);
  read_only(folder);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) CHECK(MPI_File_delete(name, MPI_INFO_NULL) == MPI_SUCCESS);
  return conclude("files");
}
