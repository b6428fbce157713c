// SPDX-License-Identifier: BSD-3-Clause
#include "record/stack_room.h"

#include <sys/resource.h>

#include "callpath/stack_bounds.h"

extern "C" void* __libc_stack_end;

namespace chameleon::record {

CHAMELEON_PER_THREAD StackRoom t_stack_room;

namespace {

/// The first thread's stack grows down to its limit, whatever is mapped or not.
std::uintptr_t limited(const callpath::StackBounds::Range& range) {
  rlimit limit{};
  if (!range.holds(reinterpret_cast<std::uintptr_t>(__libc_stack_end)) ||
      ::getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
      limit.rlim_cur >= range.high - range.low)
    return range.low;
  return range.high - limit.rlim_cur;
}

}  // namespace

std::size_t stack_left(std::uintptr_t stack_pointer) {
  StackRoom& known = t_stack_room;
  std::uintptr_t low = known.enough - kRoomToRecord;
  if (known.span == 0 || stack_pointer < low || stack_pointer - low > known.span + kRoomToRecord) {
    const callpath::StackBounds::Range range = callpath::readable_around(stack_pointer);
    low = range.high == 0 ? 0 : limited(range);
    const std::uintptr_t high = range.high == 0 ? UINTPTR_MAX : range.high;
    known.enough = low + kRoomToRecord;
    known.span = high > known.enough ? high - known.enough : 0;
  }
  return stack_pointer > low ? stack_pointer - low : 0;
}

}  // namespace chameleon::record
