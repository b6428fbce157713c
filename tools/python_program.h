// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Programs in Python: which MPI they will load. The interpreter is not linked with MPI, but its
/// module mpi4py is. Only the interpreter knows where mpi4py is (environments, search paths), so
/// this asks it, without loading MPI. Cost: 20 to 50 ms. A shim of a version manager, a script that
/// is called `python3`, is asked as well.

#include <string>
#include <vector>

#include "base/rooms.h"

namespace chameleon::tools {

/// Whether a path is that of a Python interpreter: python, python3, python3.11.
bool names_python(const std::string& program);

/// The file of the interpreter's module mpi4py.MPI, or an empty string. `settings` are NAME=VALUE
/// that the interpreter gets besides this command's environment.
std::string find_mpi4py(const std::string& interpreter, const std::vector<std::string>& settings);

}  // namespace chameleon::tools
