// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// How much stack a call has left for the tool. Programs make MPI calls on the stacks of threads
/// that hold a few kilobytes, and on stacks that they have made themselves, as user-level threads
/// and coroutines have them: MPI gets by with less than recording takes. Where a thread runs on the
/// stack that it was started on, its bounds are looked up once, and a call costs two loads and a
/// comparison. Anywhere else nothing can be known: no room is left there. What the tool does
/// without room, it does on a stack of its own (aside.h).

#include <cstddef>
#include <cstdint>

#include "mpi/platform.h"

namespace chameleon::record {

/// Recording an event takes less.
inline constexpr std::size_t kRoomToRecord = 16U << 10;
/// All else: folding, which is recursive in the depth of loops, votes, flushes, the begin, the end.
inline constexpr std::size_t kRoomForAll = 256U << 10;

/// Of the stack that this thread was started on: from where on there is room, and up to its end.
struct StackRoom {
  std::uintptr_t enough = 0;
  std::uintptr_t span = 0;
  bool is_known = false;
};
extern CHAMELEON_PER_THREAD StackRoom t_stack_room CHAMELEON_FAST_TLS;

/// Bytes between `stack_pointer` and the end of its stack; 0 if that is not known.
std::size_t stack_left(std::uintptr_t stack_pointer);

/// Whether a call may be recorded where it was made.
[[gnu::always_inline]] inline bool has_room_to_record() {
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  if (here - t_stack_room.enough < t_stack_room.span) [[likely]]
    return true;
  return kSimulated || stack_left(here) >= kRoomToRecord;
}

}  // namespace chameleon::record
