// SPDX-License-Identifier: BSD-3-Clause
// Every rank writes its rows of a variable, all together, and reads those of its neighbour: by
// NetCDF-4 over parallel HDF5, or by PnetCDF with -DPNETCDF.
#include <mpi.h>
#include <stdio.h>
#ifdef PNETCDF
#include <pnetcdf.h>
#define CALL(name, ...) check(ncmpi_##name(__VA_ARGS__))
typedef MPI_Offset Size;
#define CREATE(path, file) CALL(create, MPI_COMM_WORLD, path, NC_CLOBBER, MPI_INFO_NULL, file)
#define OPEN(path, file) CALL(open, MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, file)
#define PUT(...) CALL(put_vara_int_all, __VA_ARGS__)
#define GET(...) CALL(get_vara_int_all, __VA_ARGS__)
#define TOGETHER(file, variable)
#define MESSAGE ncmpi_strerror
#else
#include <netcdf.h>
#include <netcdf_par.h>
#define CALL(name, ...) check(nc_##name(__VA_ARGS__))
typedef size_t Size;
#define CREATE(path, file) CALL(create_par, path, NC_NETCDF4, MPI_COMM_WORLD, MPI_INFO_NULL, file)
#define OPEN(path, file) CALL(open_par, path, NC_NOWRITE, MPI_COMM_WORLD, MPI_INFO_NULL, file)
#define PUT(...) CALL(put_vara_int, __VA_ARGS__)
#define GET(...) CALL(get_vara_int, __VA_ARGS__)
#define TOGETHER(file, variable) CALL(var_par_access, file, variable, NC_COLLECTIVE)
#define MESSAGE nc_strerror
#endif

enum { kColumns = 100, kSteps = 5 };

static void check(int status) {
  if (status == NC_NOERR) return;
  fprintf(stderr, "%s\n", MESSAGE(status));
  MPI_Abort(MPI_COMM_WORLD, 1);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, size = 1, file, dimensions[3], variable, wrong = 0, all = 0, row[kColumns];
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  CREATE("data.nc", &file);
  CALL(def_dim, file, "step", kSteps, &dimensions[0]);
  CALL(def_dim, file, "rank", size, &dimensions[1]);
  CALL(def_dim, file, "column", kColumns, &dimensions[2]);
  CALL(def_var, file, "x", NC_INT, 3, dimensions, &variable);
  CALL(enddef, file);
  TOGETHER(file, variable);
  for (int step = 0; step < kSteps; ++step) {
    for (int i = 0; i < kColumns; ++i) row[i] = 1000 * step + 100 * rank + i;
    const Size start[] = {step, rank, 0}, count[] = {1, 1, kColumns};
    PUT(file, variable, start, count, row);
  }
  CALL(close, file);
  OPEN("data.nc", &file);
  TOGETHER(file, variable);
  const int next = (rank + 1) % size;
  for (int step = 0; step < kSteps; ++step) {
    const Size start[] = {step, next, 0}, count[] = {1, 1, kColumns};
    GET(file, variable, start, count, row);
    for (int i = 0; i < kColumns; ++i) wrong += row[i] != 1000 * step + 100 * next + i;
  }
  CALL(close, file);
  MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("%d wrong\n", all);
  MPI_Finalize();
  return all != 0;
}
