// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The last resort of a replay from which operations were left out: ends the job when a rank has
/// made no progress for too long. A thread that looks at a counter a few times a second.

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>

#include "base/rooms.h"

namespace chameleon::replay {

class Watchdog {
 public:
  /// Watches `progress` until destroyed; when it stands still for `patience` seconds, says so in
  /// one line and ends the process with status 1, on which launchers end the job.
  Watchdog(int rank, const std::atomic<std::uint64_t>& progress, double patience);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;

 private:
  void watch(int rank, const std::atomic<std::uint64_t>& progress, double patience);

  std::mutex mutex_;
  std::condition_variable over_;
  bool ends_ = false;
  std::thread thread_;
};

}  // namespace chameleon::replay
