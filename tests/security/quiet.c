// SPDX-License-Identifier: BSD-3-Clause
// Takes any arguments, and has a name that redact takes out.
#include <mpi.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_name(MPI_COMM_WORLD, "confidential");
  MPI_Barrier(MPI_COMM_WORLD);
  return MPI_Finalize();
}
