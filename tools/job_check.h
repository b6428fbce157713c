// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Whether a launcher is of the program's MPI. A launcher of another one starts n programs that
/// find no job: each of them is a job of one rank, all of them succeed, and their results are those
/// of one rank. Seen beforehand if both are known, else by the traces that came.

#include <string>
#include <vector>

#include "base/rooms.h"

namespace chameleon::tools {

/// "mpich" or "openmpi" of a launcher that is of one MPI, by its name or by what `--version` says;
/// empty if it is of none (srun) or not known. `words` are the launcher and its options.
std::string family_of_launcher(const std::vector<std::string>& words);

/// One line if the program that `run` was given is itself a launcher, which `run` starts: each rank
/// would start a job of its own.
std::string launcher_as_program(const std::vector<std::string>& application);

/// One line if a launcher is of another MPI than the library with which the program is linked;
/// empty if that is not known.
std::string wrong_launcher(const std::vector<std::string>& words, const std::string& mpi_library);

/// The same by the traces of a run in which `ranks` were asked for (0: by the launcher's own
/// options, if by any): empty unless each of them is of a job of one rank.
std::string lone_ranks(const std::vector<std::string>& traces, int ranks,
                       const std::vector<std::string>& launcher);

}  // namespace chameleon::tools
