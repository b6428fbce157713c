// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// SimGrid's SMPI, where every rank is a coroutine of one process with its own copy of the program
/// (and so of this library) and time is the simulator's. Its builds define CHAMELEON_SMPI.

#include <mpi.h>

#include <cstdint>

#include "base/rooms.h"

extern "C" double simgrid_get_clock(void);
// Its header misspells what these stand for.
#undef MPI_CXX_FLOAT_COMPLEX
#undef MPI_CXX_DOUBLE_COMPLEX
#undef MPI_CXX_LONG_DOUBLE_COMPLEX
#define MPI_CXX_FLOAT_COMPLEX MPI_DATATYPE_NULL
#define MPI_CXX_DOUBLE_COMPLEX MPI_DATATYPE_NULL
#define MPI_CXX_LONG_DOUBLE_COMPLEX MPI_DATATYPE_NULL
// A rank has one thread, and a copy of the library is a rank's own: plain variables do, where a
// thousand copies would use up the thread-local storage that is set aside for fast access.
#define CHAMELEON_PER_THREAD
#define CHAMELEON_FAST_TLS

namespace chameleon::mpi {

inline constexpr bool kSimulated = true;
/// The root's own `root` on an intercommunicator: SMPI has none, its MPI_ROOT is rank 0.
inline constexpr int kRootOfIntercommunicator = INT32_MIN;

/// Nanoseconds of simulated time.
inline std::uint64_t simulated_ns() {
  return static_cast<std::uint64_t>(simgrid_get_clock() * 1e9);
}

/// Bytes of a received message.
inline std::int64_t status_bytes(const MPI_Status& status) { return status.count; }

/// SMPI does not look at handles either.
inline bool is_communicator(MPI_Comm /*comm*/, MPI_Comm /*own*/) { return true; }
inline bool is_datatype(MPI_Datatype /*type*/, MPI_Comm /*own*/) { return true; }

}  // namespace chameleon::mpi
