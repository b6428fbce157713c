/* SPDX-License-Identifier: BSD-3-Clause */
/* The MPI that has them. */
#include <mpi.h>

#include "newer.h"

#define DEFINE(n) \
  int MPI_Newer_##n(MPI_Comm comm) { return PMPI_Barrier(comm); }
DEFINE(1)
DEFINE(2)
DEFINE(3)
DEFINE(4)
DEFINE(5)
DEFINE(6)
DEFINE(7)
DEFINE(8)
DEFINE(9)
DEFINE(10)
DEFINE(11)
DEFINE(12)
DEFINE(13)
DEFINE(14)
DEFINE(15)
DEFINE(16)
DEFINE(17)
DEFINE(18)
DEFINE(19)
DEFINE(20)
