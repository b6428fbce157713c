/* SPDX-License-Identifier: BSD-3-Clause */
/* Datatypes of many blocks, as codes of particles and of adaptive meshes make them in each step:
 * of blocks that lie somewhere, and of so many regular ones that a few bytes of a trace say more
 * values than some readers take. */
#include "conformance.h"

enum { kScattered = 2100, kRegular = 600000, kSteps = 5 };
static int rank, size;
static int lengths[kRegular], places[kRegular];
static MPI_Aint offsets[kScattered];
static char out[16 * kScattered + 64], in[16 * kScattered + 64];

static void send(MPI_Datatype type, int first) {
  const int right = (rank + 1) % size, left = (rank + size - 1) % size;
  MPI_Type_commit(&type);
  out[first] = (char)(rank + 1);
  in[first] = -1;
  CHECK(MPI_Sendrecv(out, 1, type, right, 0, in, 1, type, left, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE) == MPI_SUCCESS);
  CHECK(in[first] == (char)(left + 1));
  MPI_Type_free(&type);
}

static void scattered(void) {
  unsigned state = 7;
  MPI_Datatype type;
  for (int step = 0; step < 2; ++step) {
    for (int i = 0; i < kScattered; ++i) {
      state = state * 1664525U + 1013904223U;
      lengths[i] = 1 + (int)(state >> 30);
      offsets[i] = 16 * (MPI_Aint)i + (MPI_Aint)((state >> 20) & 7);
    }
    CHECK(MPI_Type_create_hindexed(kScattered, lengths, offsets, MPI_BYTE, &type) == MPI_SUCCESS);
    send(type, (int)offsets[0]);
  }
}

static void regular(void) {
  MPI_Datatype type;
  for (int step = 0; step < kSteps; ++step) {
    for (int i = 0; i < kRegular; ++i) {
      lengths[i] = 1;
      places[i] = (step + 2) * i;
    }
    CHECK(MPI_Type_indexed(kRegular, lengths, places, MPI_BYTE, &type) == MPI_SUCCESS);
    MPI_Type_free(&type);
    CHECK(MPI_Type_create_indexed_block(kRegular, 1, places, MPI_BYTE, &type) == MPI_SUCCESS);
    MPI_Type_free(&type);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  scattered();
  regular();
  return conclude("blocks");
}
