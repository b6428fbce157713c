// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Programs in Python: which MPI they will load. An interpreter is not linked with MPI, its module
/// mpi4py is; where that lies only the interpreter itself knows (environments, search paths), so it
/// is asked, without loading MPI. 20 to 50 ms.

#include <string>
#include <vector>

#include "program_file.h"

namespace chameleon::tools {

/// Completes what is known of a program that is not linked with MPI: if it is an interpreter of
/// Python, or a script for one, and that has mpi4py, then by the MPI that mpi4py is linked with.
/// `settings` are NAME=VALUE that the interpreter gets besides this command's environment.
void diagnose_python(const std::string& tracer, const std::vector<std::string>& settings,
                     Diagnosis& diagnosis);

}  // namespace chameleon::tools
