/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that is linked with MPI and ends at once: what is left is the start of a process. */
#include <mpi.h>

int main(void) {
  int version = 0, subversion = 0;
  return MPI_Get_version(&version, &subversion) != MPI_SUCCESS;
}
