// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Numbers of the threads that call MPI: the lowest that no living thread has, from a thread's
/// first question on. A number is free again when its thread ends, so that programs whose threads
/// come and go have as many streams as threads at a time. The mutex is taken once a thread.

#include <cstdint>

#include "base/rooms.h"

namespace chameleon::record {

/// The calling thread's number; `ended` is called when it ends, on that thread.
std::uint32_t take_thread_number(void (*ended)());

}  // namespace chameleon::record
