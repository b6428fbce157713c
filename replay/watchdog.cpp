// SPDX-License-Identifier: BSD-3-Clause
#include "replay/watchdog.h"

#include <unistd.h>

#include <chrono>
#include <cstdio>

namespace chameleon::replay {

Watchdog::Watchdog(int rank, const std::atomic<std::uint64_t>& progress, double patience)
    : thread_([this, rank, &progress, patience] { watch(rank, progress, patience); }) {}

Watchdog::~Watchdog() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  over_.notify_all();
  thread_.join();
}

void Watchdog::watch(int rank, const std::atomic<std::uint64_t>& progress, double patience) {
  using Clock = std::chrono::steady_clock;
  std::uint64_t last = progress.load(std::memory_order_relaxed);
  auto since = Clock::now();
  std::unique_lock lock(mutex_);
  while (!over_.wait_for(lock, std::chrono::milliseconds(200), [this] { return ends_; })) {
    const std::uint64_t now = progress.load(std::memory_order_relaxed);
    if (now != last) {
      last = now;
      since = Clock::now();
    }
    if (std::chrono::duration<double>(Clock::now() - since).count() < patience) continue;
    std::fprintf(stderr, "replay: rank %d gives up: no progress for %.0f s at event %llu\n", rank,
                 patience, static_cast<unsigned long long>(now));
    std::fflush(stderr);
    ::_exit(1);
  }
}

}  // namespace chameleon::replay
