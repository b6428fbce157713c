// SPDX-License-Identifier: BSD-3-Clause
// hdf5_program collective|independent: writes a matrix by rows with parallel HDF5, reads it back
// by columns of blocks, and checks it.
#include <hdf5.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kColumns = 64, kRowsPerRank = 16, kSteps = 3 };

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks, wrong = 0, all = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int together = argc > 1 && strcmp(argv[1], "collective") == 0;

  const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL);
  const hid_t transfer = H5Pcreate(H5P_DATASET_XFER);
  H5Pset_dxpl_mpio(transfer, together ? H5FD_MPIO_COLLECTIVE : H5FD_MPIO_INDEPENDENT);
  const hsize_t whole[2] = {(hsize_t)ranks * kRowsPerRank, kColumns};
  const hsize_t part[2] = {kRowsPerRank, kColumns};
  const hsize_t start[2] = {(hsize_t)rank * kRowsPerRank, 0};
  int* rows = malloc(sizeof(int) * kRowsPerRank * kColumns);

  hid_t file = H5Fcreate("matrix.h5", H5F_ACC_TRUNC, H5P_DEFAULT, access);
  const hid_t memory = H5Screate_simple(2, part, NULL);
  for (int step = 0; step < kSteps; ++step) {
    char name[16];
    snprintf(name, sizeof name, "step%d", step);
    const hid_t space = H5Screate_simple(2, whole, NULL);
    const hid_t data =
        H5Dcreate2(file, name, H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, part, NULL);
    for (int i = 0; i < kRowsPerRank * kColumns; ++i)
      rows[i] = step * 1000000 + rank * kRowsPerRank * kColumns + i;
    H5Dwrite(data, H5T_NATIVE_INT, memory, space, transfer, rows);
    H5Dclose(data);
    H5Sclose(space);
  }
  H5Fclose(file);

  file = H5Fopen("matrix.h5", H5F_ACC_RDONLY, access);
  const hsize_t block[2] = {whole[0], 1};
  const hsize_t column[2] = {0, (hsize_t)rank};
  int* values = malloc(sizeof(int) * whole[0]);
  const hid_t line = H5Screate_simple(2, block, NULL);
  for (int step = 0; step < kSteps; ++step) {
    char name[16];
    snprintf(name, sizeof name, "step%d", step);
    const hid_t data = H5Dopen2(file, name, H5P_DEFAULT);
    const hid_t space = H5Dget_space(data);
    H5Sselect_hyperslab(space, H5S_SELECT_SET, column, NULL, block, NULL);
    H5Dread(data, H5T_NATIVE_INT, line, space, transfer, values);
    for (int i = 0; i < (int)whole[0]; ++i)
      wrong += values[i] != step * 1000000 + i * kColumns + rank;
    H5Sclose(space);
    H5Dclose(data);
  }
  H5Fclose(file);
  H5Sclose(line);
  H5Sclose(memory);
  H5Pclose(access);
  H5Pclose(transfer);
  MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("%s: %d wrong\n", together ? "collective" : "independent", all);
  MPI_Finalize();
  free(rows);
  free(values);
  return all != 0;
}
