// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Which MPI program a command starts in the end, when the command itself is not one: a wrapper
/// (`env`, `timeout`, `nice`, `numactl`, `valgrind`, the dynamic loader), an interpreter, or a
/// script that names it. No list of wrappers: of the words that follow, the first that is a program
/// of MPI, or Python with mpi4py, is meant. If there is none, the text of shell scripts is read for
/// one, and that of scripts that it names. Nothing is run but Python, to ask where mpi4py is.
///
/// An answer may be wrong where a script decides by itself what to start: it chooses a default.
/// Looks into at most 100 files, 64 KiB of text each, and asks at most four interpreters.

#include <optional>
#include <string>
#include <vector>

#include "base/rooms.h"

namespace chameleon::tools {

struct StartedProgram {
  std::string program;                ///< path
  std::string module;                 ///< of Python: the file of mpi4py.MPI
  std::vector<std::string> settings;  ///< NAME=VALUE that the command adds on the way
};

/// `command` is a program with its arguments; `settings` are NAME=VALUE that it gets besides this
/// command's environment.
std::optional<StartedProgram> find_started(const std::vector<std::string>& command,
                                           const std::vector<std::string>& settings);

}  // namespace chameleon::tools
