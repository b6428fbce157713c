// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The libraries that can be preloaded: libchameleon.so and, beside it, one for each other family
/// of MPIs, libchameleon-NAME.so. A library is for the MPI with which it is linked.

#include <string>
#include <vector>

#include "base/rooms.h"

namespace chameleon::tools {

struct Runtime {
  std::string path;
  std::string mpi_library;  ///< soname: "libmpich.so.12"
};

/// The implementation that a library of this name belongs to, or null.
const char* mpi_of(const std::string& library);

/// "mpich", which its ABI is of too, "openmpi", or "abi", the standard one, by the name of a
/// library; or an empty string.
std::string family_of(const std::string& library);

/// The MPI library that a file is linked with, or an empty string.
std::string mpi_of_file(const std::string& path);

/// `tracer`, the path of libchameleon.so or empty, and those beside it. The first is there in any
/// case: without a file it is for Debian's MPICH.
std::vector<Runtime> runtimes(const std::string& tracer);

}  // namespace chameleon::tools
