// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Open MPI 4: handles are pointers to objects that the library exports. Its builds define
/// OMPI_OMIT_MPI1_COMPAT_DECLS as 0: the library has functions that MPI-3 removed, and programs
/// call them, where the header alone does not declare them.

#include <mpi.h>

#include <cstdint>

#include "base/rooms.h"

// The header declares only the functions of those that MPI-3 removed.
extern "C" struct ompi_predefined_datatype_t ompi_mpi_lb, ompi_mpi_ub;
#undef MPI_LB
#undef MPI_UB
#define MPI_LB OMPI_PREDEFINED_GLOBAL(MPI_Datatype, ompi_mpi_lb)
#define MPI_UB OMPI_PREDEFINED_GLOBAL(MPI_Datatype, ompi_mpi_ub)
#ifndef MPI_INTEGER16
#define MPI_INTEGER16 MPI_DATATYPE_NULL
#endif

#define CHAMELEON_PER_THREAD constinit thread_local
#define CHAMELEON_FAST_TLS [[gnu::tls_model("initial-exec")]]

namespace chameleon::mpi {

inline constexpr bool kSimulated = false;
inline constexpr int kRootOfIntercommunicator = MPI_ROOT;

inline std::uint64_t simulated_ns() { return 0; }

/// Bytes of a received message: as MPI_Get_elements_x of MPI_BYTE, which costs more than all else
/// about a status. The field is part of the library's ABI.
inline std::int64_t status_bytes(const MPI_Status& status) {
  return static_cast<std::int64_t>(status._ucount);
}

/// Whether a handle is a communicator's. MPI_Comm_c2f calls no error handler.
inline bool is_communicator(MPI_Comm comm, MPI_Comm /*own*/) { return PMPI_Comm_c2f(comm) >= 0; }
inline bool is_datatype(MPI_Datatype type, MPI_Comm own) {
  int size = 0;
  return type != nullptr && PMPI_Pack_size(0, type, own, &size) == MPI_SUCCESS;
}

}  // namespace chameleon::mpi
