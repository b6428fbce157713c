// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Determines the caller of a wrapper. Inside a call, MPI calls MPI_* itself (files, collectives on
/// top of others): those pass through. But functions of the program that MPI calls back (attribute
/// copies and deletions, operations, error handlers) make calls of their own, and one of them may
/// leave by longjmp, after which the program is no longer inside a call although no call returned.
/// The return address decides: calls from the MPI library's code are its own, all others are the
/// program's. Costs two comparisons, and only inside a call.

#include <cstdint>
#include <string_view>

#include "base/rooms.h"

namespace chameleon::intercept {

/// Addresses of a library's code, or of the program's.
struct LoadedCode {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
  bool program = false;
  bool holds(std::uintptr_t address) const { return address >= begin && address < end; }
};

/// The loaded segment that `address` is in; empty if there is none.
LoadedCode loaded_code(const void* address);

/// The MPI library's. Everything, where addresses do not tell: before tracing, with MPI linked
/// into the program itself, or with another tool that stands between MPI and us.
extern LoadedCode g_mpi_code;

/// Whether `site`, a return address, is in the MPI library.
inline bool called_by_mpi(const void* site) {
  return g_mpi_code.holds(reinterpret_cast<std::uintptr_t>(site));
}

/// Looks where MPI is, and whether another library took MPI functions before us. Once, when tracing
/// begins: a millisecond.
void look_around();

/// The declaration of what `look_around` found: "" or one sentence.
std::string_view other_tool();

}  // namespace chameleon::intercept
