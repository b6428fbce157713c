// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// libunwind asks the kernel whether memory may be read by writing it to a pipe, which it opens at
/// its first use: two descriptors among the program's, which the program may close. If it opens
/// something there itself, libunwind would write to that, and read from it. So its imports of the C
/// library's functions are changed: its pipe is out of the way (base/own_descriptor.h), and is used
/// only while it is that pipe.

#include "base/rooms.h"

namespace chameleon::intercept {

/// Loads libunwind for call paths, if it can be loaded, before it is used.
void ready_unwinder();

}  // namespace chameleon::intercept
