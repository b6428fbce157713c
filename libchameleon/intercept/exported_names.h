// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Calls that no preload comes before: of a library that is loaded with RTLD_DEEPBIND, which looks
/// in the MPI library that it is linked with before it looks anywhere else, and of functions that
/// are looked up in the MPI library itself (dlsym), as interpreters do. So what the MPI library
/// exports as MPI_X is the tracer's MPI_X from the time when the tracer is loaded: its table of
/// names is changed, in memory. PMPI_X, which the tracer calls, stays MPI's own. Its code is not
/// changed. Costs a fraction of a millisecond and some pages of memory in each process; where the
/// system refuses to make the table writable, such calls are not traced.

#include <string_view>

#include "base/rooms.h"

namespace chameleon::intercept {

/// For the MPI library of this soname, if the tracer comes before it.
void lead_names_here(std::string_view mpi);

}  // namespace chameleon::intercept
