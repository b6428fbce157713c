// SPDX-License-Identifier: BSD-3-Clause
// stand_still: progress for a second, then none; the watchdog must end the process only then.
#include <chrono>
#include <cstdio>
#include <thread>

#include "replay/watchdog.h"

int main() {
  using namespace std::chrono_literals;
  std::atomic<std::uint64_t> progress{0};
  chameleon::replay::Watchdog watchdog(3, progress, 0.5);
  for (int i = 0; i < 10; ++i) {
    std::this_thread::sleep_for(100ms);
    ++progress;
  }
  std::puts("moved");
  std::fflush(stdout);
  std::this_thread::sleep_for(20s);
}
