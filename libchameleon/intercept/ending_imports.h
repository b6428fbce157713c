// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Where a rank ends without a call that has a wrapper. An error that MPI does not forgive ends the
/// job inside of MPI, which says so to the process manager: by its import of PMI_Abort, PMI2_Abort
/// or PMIx_Abort, or, as MPICH with its own, by writing "cmd=abort" to a socket. Programs end by
/// their import of _exit. These imports lead here first, where the rank's last words are left
/// (process/ending.h), and then do what they did. No error handler is set: the message, the status
/// and what the program asks of its communicators are as without the tracer.

#include "base/rooms.h"

namespace chameleon::intercept {

/// In every library that is loaded now.
void redirect_endings();

}  // namespace chameleon::intercept
