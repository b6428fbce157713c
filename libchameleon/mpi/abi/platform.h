// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The standard ABI of MPI 5.0 (chapter 20 of the standard), whatever library is below: handles are
/// pointers, those of predefined objects have fixed values below a page, and a status is three
/// public and five reserved ints.

#include <mpi.h>

#include <cstdint>

#include "base/rooms.h"

// MPI-3 removed them, and the ABI has none.
#define MPI_LB MPI_DATATYPE_NULL
#define MPI_UB MPI_DATATYPE_NULL

#define CHAMELEON_PER_THREAD constinit thread_local
#define CHAMELEON_FAST_TLS [[gnu::tls_model("initial-exec")]]

namespace chameleon::mpi {

inline constexpr bool kSimulated = false;
inline constexpr int kRootOfIntercommunicator = MPI_ROOT;

inline std::uint64_t simulated_ns() { return 0; }

/// Bytes of a received message. The reserved ints are the library's own, so that it is asked.
inline std::int64_t status_bytes(const MPI_Status& status) {
  MPI_Count bytes = 0;
  return PMPI_Get_elements_c(&status, MPI_BYTE, &bytes) == MPI_SUCCESS ? bytes : 0;
}

/// Whether a handle is a communicator's. A call on `own` says so, whose error handler is the
/// tool's.
inline bool is_communicator(MPI_Comm comm, MPI_Comm own) {
  int result = 0;
  return comm != nullptr && comm != MPI_COMM_NULL &&
         PMPI_Comm_compare(own, comm, &result) == MPI_SUCCESS;
}
inline bool is_datatype(MPI_Datatype type, MPI_Comm own) {
  int size = 0;
  return type != nullptr && type != MPI_DATATYPE_NULL &&
         PMPI_Pack_size(0, type, own, &size) == MPI_SUCCESS;
}

}  // namespace chameleon::mpi
