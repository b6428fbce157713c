// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Programs in Python: which MPI they will load. The interpreter is not linked with MPI, but its
/// module mpi4py is. Only the interpreter knows where mpi4py is (environments, search paths), so
/// this asks it, without loading MPI. Cost: 20 to 50 ms.

#include <string>
#include <vector>

#include "program_file.h"

namespace chameleon::tools {

/// Completes the diagnosis of a program that is not linked with MPI: if it is a Python interpreter,
/// or a script for one, and the interpreter has mpi4py, adds the MPI that mpi4py is linked with.
/// `settings` are NAME=VALUE that the interpreter gets besides this command's environment.
void diagnose_python(const std::string& tracer, const std::vector<std::string>& settings,
                     Diagnosis& diagnosis);

}  // namespace chameleon::tools
