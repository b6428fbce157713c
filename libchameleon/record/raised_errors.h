// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Errors that MPI gave to an error handler of the program. The handler may turn them into
/// MPI_SUCCESS, although the call did nothing and set none of its outputs: then the error, not what
/// the call returned, says what happened. The program's handlers therefore get a function of the
/// tool's own before them, which notes the error and calls the handler with all it was given. There
/// are `kMostHandlers` of these; handlers beyond them are called directly, and errors that they
/// hide are not seen. Cost: for a call, a store to a variable of the thread and a load of it.

#include <cstddef>

#include "mpi/platform.h"

namespace chameleon::record {

inline constexpr std::size_t kMostHandlers = 64;

/// The first error since a call began on this thread; 0: none.
extern CHAMELEON_PER_THREAD int t_raised CHAMELEON_FAST_TLS;

/// The function to give to MPI in place of an error handler of the program.
void* noting_handler(void* handler);

/// A call begins. What was raised before it may be of a call that was not recorded.
inline void forget_raised_error() { t_raised = 0; }

/// What became of a call that returned this.
inline int outcome(int code) { return code != 0 ? code : t_raised; }

}  // namespace chameleon::record
