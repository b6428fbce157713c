// SPDX-License-Identifier: BSD-3-Clause
#include "replay/pace.h"

#include <sched.h>

#include <cerrno>
#include <ctime>

namespace chameleon::replay {
namespace {

/// Sleeps shorter than this cost more than they last.
constexpr double kShortestSleep = 100'000;

/// A sleeper is woken late, by this much or less; the rest is waited for awake, giving way to
/// others, so that ranks that wait for each other do not add up their lateness.
constexpr double kWakeEarly = 200'000;

void sleep_until(std::int64_t ns) {
  const timespec until{static_cast<std::time_t>(ns / 1'000'000'000), ns % 1'000'000'000};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr) == EINTR) {
  }
}

}  // namespace

std::int64_t Pace::now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

void Pace::settle() {
  if (compute_ == Compute::kNone) return;
  const std::int64_t time = now();
  owed_ -= static_cast<double>(time - since_);
  spend(idle_, Compute::kSleep, spend(owed_, compute_, time));
}

/// Spends what is owed from `begin` on; gives when that is done.
std::int64_t Pace::spend(double& owed, Compute how, std::int64_t begin) {
  std::int64_t time = begin;
  const double least = how == Compute::kSleep ? kShortestSleep : 0;
  if (owed <= least) return time;
  const std::int64_t end = begin + static_cast<std::int64_t>(owed);
  if (how == Compute::kSleep) {
    if (owed > kWakeEarly) sleep_until(end - static_cast<std::int64_t>(kWakeEarly));
    for (time = now(); time < end; time = now()) sched_yield();
  } else {
    while (time < end) time = now();
  }
  owed -= static_cast<double>(time - begin);
  return time;
}

}  // namespace chameleon::replay
