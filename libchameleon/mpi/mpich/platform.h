// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// MPICH, and every library with its ABI: Intel MPI, Cray MPICH, MVAPICH.

#include <mpi.h>

#include <cstdint>

#include "base/rooms.h"

#define CHAMELEON_PER_THREAD constinit thread_local
#define CHAMELEON_FAST_TLS [[gnu::tls_model("initial-exec")]]

namespace chameleon::mpi {

inline constexpr bool kSimulated = false;
inline constexpr int kRootOfIntercommunicator = MPI_ROOT;

inline std::uint64_t simulated_ns() { return 0; }

/// Bytes of a received message: as MPI_Get_elements_x of MPI_BYTE, which costs more than all else
/// about a status. These fields are part of the ABI (the lowest bit: cancelled).
inline std::int64_t status_bytes(const MPI_Status& status) {
  return (static_cast<std::int64_t>(status.count_hi_and_cancelled >> 1) << 32) +
         static_cast<std::uint32_t>(status.count_lo);
}

/// Whether a handle is a communicator's. A call on `own` says so, whose error handler is the
/// tool's. The bits of a handle have its kind, and are part of the ABI. If they are wrong, MPICH
/// would call the handler of MPI_COMM_WORLD all the same.
inline bool is_communicator(MPI_Comm comm, MPI_Comm own) {
  const auto bits = static_cast<std::uint32_t>(comm);
  int result = 0;
  return bits >> 30 != 0 && (bits >> 26 & 0xf) == 1 &&
         PMPI_Comm_compare(own, comm, &result) == MPI_SUCCESS;
}
inline bool is_datatype(MPI_Datatype type, MPI_Comm own) {
  const auto bits = static_cast<std::uint32_t>(type);
  int size = 0;
  return bits >> 30 != 0 && (bits >> 26 & 0xf) == 3 &&
         PMPI_Pack_size(0, type, own, &size) == MPI_SUCCESS;
}

}  // namespace chameleon::mpi
