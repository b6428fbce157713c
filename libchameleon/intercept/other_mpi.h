// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// A process of another MPI than the tracer's, in which the tracer was preloaded all the same: its
/// MPI functions, and those of the MPI library that it brings, come first in the order in which
/// the loader looks, and take handles of another shape. So everybody's imports of MPI functions
/// are given back to the MPI that the program is linked with, and one line says that it runs
/// untraced. Done when the tracer is loaded, for programs; in MPI_Init, for what was loaded since
/// (extension modules of interpreters). Libraries loaded still later find the tracer's functions
/// first: they then go on to the other MPI.
///
/// But where libchameleon.so itself was preloaded, and the library for the program's MPI is beside
/// it, the process starts again (execve) with that one preloaded instead, before `main`.
/// Constructors of the program's libraries run twice. Not without /proc, nor under Valgrind.

#include "base/rooms.h"

namespace chameleon::intercept {

/// Where `function` (MPI_Init or MPI_Init_thread) is in the other MPI, after imports were given
/// back; null where there is no other.
void* in_other_mpi(const char* function);

/// All wrappers go on to this library's functions from now on (wrappers.cpp).
void go_elsewhere(void* library);

}  // namespace chameleon::intercept
