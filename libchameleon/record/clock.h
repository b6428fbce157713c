// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Time stamps of the traced process: x86's time-stamp counter where it is
/// invariant, else the monotonic clock; the simulator's under SMPI. A tick is
/// turned into nanoseconds with a factor measured over the run so far (at least a
/// millisecond). What it shows on different ranks is compared by clock_fit.h.

#include <time.h>
#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#include <x86intrin.h>
#endif

#include <cstdint>

#include "base/time_between.h"
#include "mpi/platform.h"

namespace chameleon::record {

/// Two clocks at one instant.
struct ClockPair {
  std::uint64_t tick = 0, ns = 0;
};

/// Reads both. A thread that is preempted between two readings would take them for one instant, by
/// milliseconds: the ticks are read before and after, and of several tries that with the shortest
/// time between counts. One try is enough where nothing happens.
template <class Tick, class Ns>
ClockPair read_both(Tick tick, Ns ns) {
  constexpr int kTries = 16;
  constexpr std::uint64_t kUndisturbed = 1000;  // ticks
  ClockPair best;
  std::uint64_t least = UINT64_MAX;
  for (int i = 0; i < kTries && least > kUndisturbed; ++i) {
    const std::uint64_t before = tick(), time = ns(), after = tick();
    if (after - before >= least) continue;
    least = after - before;
    best = {before + least / 2, time};
  }
  return best;
}

class Clock {
 public:
  /// With `counter`: where it is invariant.
  explicit Clock(bool counter = true)
      : has_counter_(counter && !kSimulated && invariant_counter()),
        first_(has_counter_ ? read_both(Clock::counter, monotonic) : ClockPair()) {}

  std::uint64_t now() const { return has_counter_ ? counter() : monotonic(); }

  /// Nanoseconds per tick, measured from the clock's making to this call.
  double ns_per_tick() const {
    if (!has_counter_) return 1.0;
    ClockPair here = read_both(counter, monotonic);
    while (here.ns < first_.ns + 1'000'000) here = read_both(counter, monotonic);
    const std::uint64_t ticks = time_between(first_.tick, here.tick);
    return ticks == 0 ? 1.0 : static_cast<double>(here.ns - first_.ns) / static_cast<double>(ticks);
  }

  static std::uint64_t monotonic() {
    if constexpr (kSimulated) return simulated_ns();
    timespec time{};
    clock_gettime(CLOCK_MONOTONIC, &time);
    return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000ULL +
           static_cast<std::uint64_t>(time.tv_nsec);
  }

 private:
#if defined(__x86_64__) || defined(__i386__)
  static std::uint64_t counter() { return __rdtsc(); }
  static bool invariant_counter() {
    unsigned a = 0, b = 0, c = 0, d = 0;
    return __get_cpuid(0x80000007, &a, &b, &c, &d) != 0 && (d & (1U << 8)) != 0;
  }
#else
  static std::uint64_t counter() { return 0; }
  static bool invariant_counter() { return false; }
#endif

  bool has_counter_;
  ClockPair first_;  ///< when it was made
};

}  // namespace chameleon::record
