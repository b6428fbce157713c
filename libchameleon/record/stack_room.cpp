// SPDX-License-Identifier: BSD-3-Clause
#include "record/stack_room.h"

#include <pthread.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

#include "record/aside.h"

extern "C" void* __libc_stack_end;

namespace chameleon::record {

CHAMELEON_PER_THREAD StackRoom t_stack_room;

namespace {

struct Stack {
  std::uintptr_t low = 0, high = 0;
};

/// The first thread's stack grows down to its limit, whatever is mapped or not. Without a limit the
/// kernel leaves more than this below it.
Stack of_first_thread() {
  constexpr rlim_t kUnlimited = rlim_t{1} << 40;
  rlimit limit{};
  const bool known = ::getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
  const auto high = reinterpret_cast<std::uintptr_t>(__libc_stack_end);
  return {high - std::min<rlim_t>(known ? limit.rlim_cur : kUnlimited, high), high};
}

Stack of_thread() {
  pthread_attr_t attributes;
  void* low = nullptr;
  std::size_t size = 0;
  if (::pthread_getattr_np(::pthread_self(), &attributes) != 0) return {};
  ::pthread_attr_getstack(&attributes, &low, &size);
  ::pthread_attr_destroy(&attributes);
  const auto begin = reinterpret_cast<std::uintptr_t>(low);
  return {begin, begin + size};
}

/// The first thread of a child made by fork may be any thread of its parent: there the stack
/// pointer is outside the stack, and nothing is known.
void look_up(StackRoom& room) {
  Stack stack;
  if (::getpid() == static_cast<pid_t>(::syscall(SYS_gettid)))
    stack = of_first_thread();
  else
    on_own_stack([&] { stack = of_thread(); });
  room.enough = stack.low + kRoomToRecord;
  room.span = stack.high > room.enough ? stack.high - room.enough : 0;
  room.is_known = true;
}

}  // namespace

std::size_t stack_left(std::uintptr_t stack_pointer) {
  StackRoom& room = t_stack_room;
  if (!room.is_known) look_up(room);
  const std::uintptr_t low = room.enough - kRoomToRecord;
  return stack_pointer > low && stack_pointer - low < room.span + kRoomToRecord
             ? stack_pointer - low
             : 0;
}

}  // namespace chameleon::record
