// SPDX-License-Identifier: BSD-3-Clause
#include "record/tool_gate.h"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

namespace chameleon::record {
namespace {

void pause_ms(long ms) {
  const timespec time{ms / 1000, (ms % 1000) * 1'000'000};
  ::nanosleep(&time, nullptr);
}

long membarrier(int command) { return ::syscall(SYS_membarrier, command, 0, 0); }

/// Every thread sees what was stored before, and what it stored is seen.
void see_everywhere() {
  if (membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) != 0) pause_ms(50);
}

}  // namespace

ToolGate g_tool_gate;

bool ToolGate::close() {
  constexpr int kPatience = 1000, kMost = 10'000;  // ms
  const auto patience = [](CollectivePhase together) {
    switch (together) {
      case CollectivePhase::kVote: return 200;
      case CollectivePhase::kCast: return 400;  // Open MPI kills a second after SIGTERM
      case CollectivePhase::kFlush:
      case CollectivePhase::kLastMerge: return 5000;
      case CollectivePhase::kLeaves: return 60'000;
      default: return kPatience;
    }
  };
  const auto busy = [&] { return busy_.load(std::memory_order_acquire); };
  const auto together = [&] { return phase_.load(std::memory_order_acquire); };
  ends_.store(true);
  closed_.store(true);
  see_everywhere();
  std::uint32_t round = rounds_.load();
  for (int i = 0, all = 0;
       (busy() || together() != CollectivePhase::kNothing) && i < patience(together()) &&
       (all < kMost || together() == CollectivePhase::kLeaves);
       ++i, ++all) {
    pause_ms(1);
    if (const std::uint32_t now = rounds_.load(std::memory_order_relaxed); now != round) {
      round = now;
      i = 0;
    }
  }
  shut_.store(true);
  see_everywhere();
  for (int i = 0; i < kPatience; ++i, pause_ms(1))
    if (!busy()) return true;
  return false;
}

bool ToolGate::hold() {
  constexpr int kPatience = 1000;  // ms
  if (held_.exchange(true)) return false;
  if (closed_.exchange(true)) return held_.store(false), false;
  see_everywhere();
  for (int i = 0; i < kPatience; ++i, pause_ms(1))
    if (!is_busy()) return true;
  let_go();
  return false;
}

void ToolGate::let_go() {
  closed_.store(false);
  held_.store(false);
  if (ends_.load()) closed_.store(true);
}

/// A thread that is held goes on when it is let go. Else the process is about to end.
void ToolGate::stop() {
  for (;;) {
    const bool held = held_.load();
    if (!held && phase_.load(std::memory_order_relaxed) != CollectivePhase::kNothing &&
        !shut_.load())
      return;
    busy_.store(false, std::memory_order_release);
    do {
      pause_ms(held ? 1 : 1000);
    } while (!held || held_.load());
    busy_.store(true);
    see_everywhere();
    if (!closed_.load()) return;
  }
}

void prepare_tool_gate() { membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED); }

}  // namespace chameleon::record
