// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// How much stack a call has left for the tool. Programs make MPI calls on the stacks of threads
/// that hold a few kilobytes: MPI gets by with less than recording takes, so where little is left
/// a call passes straight through and is counted (the trace declares it). The bounds of a thread's
/// stack are looked up at its first call; a call costs two loads and a comparison. Stacks that a
/// program makes within other memory (the heap) have no bounds that could be seen.

#include <cstddef>
#include <cstdint>

#include "mpi/platform.h"

namespace chameleon::record {

/// Recording an event takes less; so do finding the bounds and a call path.
inline constexpr std::size_t kRoomToRecord = 16U << 10;
/// Folding an interval log, which is recursive in the depth of loops.
inline constexpr std::size_t kRoomToFold = 256U << 10;

/// Of the stack last seen by this thread: from where on there is room, and up to its end.
struct StackRoom {
  std::uintptr_t enough = 0;
  std::uintptr_t span = 0;
};
extern CHAMELEON_PER_THREAD StackRoom t_stack_room CHAMELEON_FAST_TLS;

/// Bytes between `stack_pointer` and the end of its stack; a lot if that is not known.
std::size_t stack_left(std::uintptr_t stack_pointer);

/// Whether a call may be recorded.
[[gnu::always_inline]] inline bool has_room_to_record() {
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  if (here - t_stack_room.enough < t_stack_room.span) [[likely]]
    return true;
  return kSimulated || stack_left(here) >= kRoomToRecord;
}

}  // namespace chameleon::record
