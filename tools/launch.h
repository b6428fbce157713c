// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Starting MPI jobs: finds what was installed or built beside the command,
/// and runs a launcher in the foreground, passing on signals and its status.

#include <string>
#include <string_view>
#include <vector>

#include "base/rooms.h"

namespace chameleon::tools {

/// libchameleon.so: $CHAMELEON_LIBRARY, ../lib*/ of the command, or its build tree; or empty.
std::string find_tracer();
/// chameleon-replay, or the one for another MPI ("openmpi"), chameleon-replay-openmpi: beside the
/// command, in ../libexec/chameleon/, or its build tree; or empty.
std::string find_replayer(const std::string& mpi);

/// The launcher of the MPI that has this soname: mpiexec.openmpi or mpiexec.mpich, or else mpiexec.
std::string default_launcher(std::string_view mpi_library);

/// The words of a launcher option, or of MPICH's default without one.
std::vector<std::string> launcher_words(const std::string& option);

/// Whether this is NAME=VALUE, and `env` does not take it for an option of its own.
bool is_setting(const std::string& text);

/// `LAUNCHER [-n N] env SETTING... PROGRAM...`: the form every launcher takes,
/// and in which the launcher itself does not get the settings.
std::vector<std::string> launch_line(const std::string& launcher, int ranks,
                                     const std::vector<std::string>& settings,
                                     const std::vector<std::string>& program);

/// Runs it and waits; signals that end the command go to the launcher. Its
/// exit status, 128 + signal if one ended it, 127 if it could not be started.
int launch(std::string_view verb, const std::vector<std::string>& line);

}  // namespace chameleon::tools
