// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Called before call paths need libunwind: it is then to be loaded and made ready, by the room
/// that knows how to change what libraries import. Null: nothing is done.

#include "base/rooms.h"

namespace chameleon::process {

extern void (*g_ready_unwinder)();

}  // namespace chameleon::process
