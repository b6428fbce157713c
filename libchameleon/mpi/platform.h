// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// What differs between an MPI of processes and SimGrid's SMPI, where every rank is a coroutine of
/// one process with its own copy of the program (and so of this library) and time is the
/// simulator's. SMPI builds define CHAMELEON_SMPI; what MPI objects look like stands in handles.h.
/// Nothing here costs anything at run time.

#include <mpi.h>

#include <cstdint>

#include "base/rooms.h"

#ifdef CHAMELEON_SMPI
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
#else
#define CHAMELEON_PER_THREAD constinit thread_local
#define CHAMELEON_FAST_TLS [[gnu::tls_model("initial-exec")]]
#endif

namespace chameleon::mpi {

#ifdef CHAMELEON_SMPI
inline constexpr bool kSimulated = true;
/// What the root gives as `root` on an intercommunicator: SMPI has none, its MPI_ROOT is rank 0.
inline constexpr int kRootOfIntercommunicator = INT32_MIN;

/// Nanoseconds of simulated time.
inline std::uint64_t simulated_ns() {
  return static_cast<std::uint64_t>(simgrid_get_clock() * 1e9);
}
#else
inline constexpr bool kSimulated = false;
inline constexpr int kRootOfIntercommunicator = MPI_ROOT;

inline std::uint64_t simulated_ns() { return 0; }
#endif

}  // namespace chameleon::mpi
