// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Memory that ends before an untouchable page, so that a call that reads or writes beyond
/// its buffer ends the replay with one line and not with a wrong result. A mapping each: for tests
/// of what the replay gives its calls, in which time does not count.

#include <cstdint>

#include "base/rooms.h"

namespace chameleon::replay {

/// Null if there is none. Aligned as well as the size is, to 64 bytes at most.
char* take_guarded(std::uint64_t bytes);
/// Ends the process if `checked` and something was written before it.
void give_back_guarded(char* data, std::uint64_t bytes, bool checked);

/// From here on a fault of memory is shown with the rank, and with the event and the call that
/// were named last.
void tell_faults(std::uint32_t rank);
void name_event(std::uint64_t number, const char* call);

}  // namespace chameleon::replay
