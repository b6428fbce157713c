// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Where the tool does what is not recording one more call as it did the last: beginning and
/// ending, votes, flushes, folding a full log, events never seen before on a small stack. That is
/// done *aside*: with floating point as the tool needs it and the program's left as it was
/// (base/float_environment.h), with the program's `errno` left as it was, and on a stack of the
/// tool's own where the program's has too little room, or where that cannot be known.
///
/// Stacks of the tool's own have 4 MiB of address space, of which what is used becomes resident,
/// and a page below that nobody may touch. There are as many as there were threads that needed one
/// at a time, sixteen at most. Where none can be had, work is done on the program's. On one of them
/// already, work goes on there. A thread is not cancelled while it is on one: the C library takes
/// any other stack than the thread's for one that is left. Exceptions of the work pass on; what is
/// below the tool on the program's stack can be unwound through (call paths, debuggers).

#include <cerrno>
#include <exception>
#include <type_traits>
#include <utility>

#include "base/float_environment.h"
#include "mpi/platform.h"
#include "record/stack_room.h"

namespace chameleon::record {

/// Calls function(argument), which throws nothing, on a stack of the tool's own if one can be had.
void call_on_own_stack(void (*function)(void*), void* argument);

/// Whether one is to be had at present.
bool has_own_stack();

/// Runs work() there.
template <class Work>
void on_own_stack(Work&& work) {
  struct Job {
    std::remove_reference_t<Work>& work;
    std::exception_ptr thrown;
  } job{work, nullptr};
  const auto run = [](void* given) {
    auto& mine = *static_cast<Job*>(given);
    try {
      mine.work();
    } catch (...) {
      mine.thrown = std::current_exception();
    }
  };
  call_on_own_stack(run, &job);
  if (job.thrown) std::rethrow_exception(std::move(job.thrown));
}

/// The program's floating point and `errno`, while the tool works.
class ProgramState {
 public:
  ProgramState() : errno_(errno) {}
  ~ProgramState() { errno = errno_; }
  ProgramState(const ProgramState&) = delete;
  ProgramState& operator=(const ProgramState&) = delete;

 private:
  int errno_;
  UsualFloats floats_;
};

/// Runs work() aside.
template <class Work>
[[gnu::noinline]] void aside(Work&& work) {
  if constexpr (kSimulated) {  // ranks are coroutines, whose stacks are the simulator's
    work();
  } else {
    const ProgramState kept;
    const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
    if (stack_left(here) >= kRoomForAll)
      work();
    else
      on_own_stack(work);
  }
}

/// Runs a part of recording a call: where the call was made if there is `room`, else aside.
template <class Part>
[[gnu::always_inline]] inline void in_room(bool room, Part part) {
  if (!room) [[unlikely]]
    return aside(part);
  const UsualSse floats;
  part();
}

}  // namespace chameleon::record
