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

}  // namespace chameleon::mpi
