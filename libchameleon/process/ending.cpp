// SPDX-License-Identifier: BSD-3-Clause
#include "process/ending.h"

#include <stdlib.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <string>

#include "process/fatal_signals.h"
#include "process/fault.h"
#include "process/host_ranks.h"
#include "process/process_copy.h"
#include "process/say.h"
#include "process/stall.h"
#include "process/termination.h"
#include "process/tracer.h"
#include "record/aside.h"
#include "record/tool_gate.h"

namespace chameleon::process {
namespace {

/// The process whose tracer this is: a child made by fork has a copy of it.
pid_t g_process = 0;

/// When a process ends that left its part in MPI_Finalize.
std::atomic<std::int64_t> g_end_at{0};
/// Words were left that are of no use if the rank comes to its end.
std::atomic<bool> g_left_early{false};

/// The largest status that a parent sees.
constexpr int kMostOfPrograms = 255;

std::int64_t end_with_others(int patience) {
  note_words_left();
  return wait_for_host_ranks(patience);
}

std::int64_t leave_on_signal(const char* name) {
  ask_host_ranks();
  if (!g_tool_gate.close()) return end_with_others(0);
  Tracer* const tracer = present_tracer();  // nobody changes it any more
  if (tracer == nullptr) return g_end_at;
  if (tracer->recorder().close()) guarded([&] { tracer->leave_partial(name, true); });
  return end_with_others(kPatienceForOthersMs);
}

/// Another rank of the host ends: the launcher may end this one too, or not.
void answer() {
  g_left_early = true;
  leave_words_in_copy(kOtherEnded, false);
  note_words_left();
}

/// The rank ends in the midst of the program, by the calling thread. `all`: and the job with it.
/// The first one of a host says so.
void leave_here(const char* why, bool all) {
  Tracer* const tracer = present_tracer();
  if (tracer == nullptr) return;
  const bool first = all && ask_host_ranks();
  {
    const auto held = tracer->recorder().lock();  // other threads may be recording
    const bool recording = g_tracer.exchange(nullptr) != nullptr;
    const bool stopped = g_stopped.exchange(nullptr) != nullptr;
    if (!recording && !stopped) return;
    guarded([&] { tracer->leave_partial(why, !all, !all || first); });
  }
  end_with_others(all ? kPatienceForOthersMs : 0);
}

/// The program ends without MPI_Finalize, by exit() or from main. Nothing is left where exit() was
/// called from inside the tracer, as a handler of a signal may. A launcher lets the other ranks go
/// on if the status is 0.
void leave_on_exit(int status, void*) {
  if (g_process != ::getpid() || g_tool_gate.is_busy()) return;
  Tracer* const tracer = present_tracer();
  if (tracer == nullptr || !tracer->recorder().close()) return;
  forget_left_call(tracer->recorder(), present_registers().sp);
  // MPICH ends a job of one rank so; no program does with such a status inside of a call.
  const bool by_mpi = status > kMostOfPrograms && fail_pending(tracer->recorder(), status);
  g_tracer.store(nullptr);
  g_stopped.store(nullptr);
  if (status != 0) ask_host_ranks();
  const char* const why = by_mpi ? kFatalError : "exit() without MPI_Finalize";
  aside([&] { guarded([&] { tracer->leave_partial(why, !by_mpi); }); });
  g_end_at = end_with_others(kPatienceForOthersMs);
}

/// MPI may still be finalized, in a destructor of a library that comes after this one. What is
/// registered while destructors run is called behind all of them.
[[gnu::destructor]] void before_exit() {
  if (!kSimulated && present_tracer() != nullptr) ::on_exit(leave_on_exit, nullptr);
}

}  // namespace

void share_end(const Tracer& tracer, std::uint64_t job) {
  g_process = ::getpid();
  join_host_ranks(job);
  watch_termination({leave_on_signal, answer, look_for_stall, stall_look_ms(tracer)});
  watch_fatal_signals();
}

void end_sharing() { close_host_ranks(); }

void note_finished(const Tracer& tracer, bool whole) {
  if (!whole) {
    wait_for_look();
    g_end_at = end_with_others(kPatienceForOthersMs);
    return;
  }
  note_words_left();
  wait_for_look();
  if (!g_left_early && !has_stalled()) return;
  char path[4096];
  const int size =
      std::snprintf(path, sizeof path, "%s.rank%d", tracer.path().c_str(), tracer.rank());
  if (size < static_cast<int>(sizeof path)) ::unlink(path);
}

void abandon_tracer() {
  Tracer* const tracer = present_tracer();
  if (tracer == nullptr) return;
  forget_left_call(tracer->recorder(), present_registers().sp);
  aside([&] { leave_here("MPI_Abort", true); });
}

void leave_in_mpi(int code) {
  Tracer* const tracer = present_tracer();
  if (tracer == nullptr || g_process != ::getpid() || g_tool_gate.is_busy()) return;
  if (code != 0) fail_pending(tracer->recorder(), code);
  aside([&] { leave_here(kFatalError, true); });
}

void leave_at_exit(int status) {
  Tracer* const tracer = present_tracer();
  if (tracer == nullptr || g_process != ::getpid() || g_tool_gate.is_busy()) return;
  forget_left_call(tracer->recorder(), present_registers().sp);
  aside([&] { leave_here("_exit() without MPI_Finalize", status != 0); });
}

}  // namespace chameleon::process
