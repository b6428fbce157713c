// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Functions of MPI that a program may call and the tracer does not know, because they are newer
/// than the table (mpi_calls.txt). Such calls go to MPI as they would without the tracer.

#include <string>
#include <string_view>

#include "base/rooms.h"

namespace chameleon::intercept {

/// Functions MPI_* that the program and its libraries, but not MPI's own, import by now and that no
/// wrapper is there for: in alphabetical order, with commas. Those that convert handles are left
/// out. O(imports), some 0.1 ms.
std::string untraced_functions();

}  // namespace chameleon::intercept
