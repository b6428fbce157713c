// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// `use mpi_f08`: MPICH's Fortran library calls PMPI_Init, PMPI_Wait and some 260 others where
/// mpif.h and `use mpi` call MPI_*, so that no wrapper would see them. Its table of imported
/// functions (the GOT slots of its PLT) is changed to name our MPI_* for each PMPI_* that it
/// imports and we export: the library still converts logicals, indices, statuses and strings
/// itself, and calls us in place of MPI, as it does for the other two interfaces. Open MPI's
/// libraries call PMPI_* for all three interfaces, and are changed in the same way. PMPI_* of other
/// callers do not change. A process without that library is left as it is. See decision 8.

#include "base/rooms.h"

namespace chameleon::intercept {

/// Redirects every Fortran library loaded that was not before. Cheap where there is none.
void redirect_fortran_binding();

}  // namespace chameleon::intercept
