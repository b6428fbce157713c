// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Last words from a copy of the process, made as fork() makes it, but without the program's
/// handlers of fork(), and without a signal to the program when it ends. Threads are held at the
/// gate while the copy is made, so that what the tool knows is whole; locks of others may be held
/// in it for ever, so that it takes memory from the kernel alone. It writes to no descriptor but
/// its own file, and a clock ends it after some seconds.
///
/// Cost: pages of the process's tables, some 10 ms for each GB that it has.

#include "base/rooms.h"

namespace chameleon::process {

/// Returns when the copy has left the rank's words, or could not. `last`: the process itself is
/// about to end. Only system calls are made in the process itself: a handler of a signal may call
/// it. False if there are no words.
bool leave_words_in_copy(const char* why, bool last);

}  // namespace chameleon::process
