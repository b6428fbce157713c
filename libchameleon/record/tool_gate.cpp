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

void ToolGate::stop() {
  if (phase_.load(std::memory_order_relaxed) != CollectivePhase::kNothing && !shut_.load()) return;
  busy_.store(false, std::memory_order_release);
  for (;;) pause_ms(1000);  // the process is about to end
}

void prepare_tool_gate() { membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED); }

}  // namespace chameleon::record
