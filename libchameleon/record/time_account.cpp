// SPDX-License-Identifier: BSD-3-Clause
#include "record/time_account.h"

namespace chameleon::record {

double TimeAccount::ns_per_tick() {
  const double ratio = clock_.ns_per_tick();
  ns_per_tick_.store(ratio, std::memory_order_relaxed);
  return ratio;
}

std::uint64_t TimeAccount::elapsed_ns() {
  ns_per_tick();
  const std::uint64_t now = ns(since_start(clock_.now()));
  std::uint64_t most = most_elapsed_ns_.load(std::memory_order_relaxed);
  while (most < now && !most_elapsed_ns_.compare_exchange_weak(most, now)) {
  }
  return std::max(most, now);
}

std::uint64_t TimeAccount::run_ns() {
  if (end_ == 0) return elapsed_ns();
  ns_per_tick();
  return ns(since_start(end_));
}

std::uint64_t TimeAccount::spent_at_marker(std::uint64_t begin) {
  const std::uint64_t spent = time_between(begin, clock_.now());
  marker_ticks_ += spent;
  return spent;
}

std::uint64_t TimeAccount::spent_at_calls(const Stream& stream) const {
  const std::uint64_t calls = stream.trace.all_events() + stream.trace.polls();
  const auto unseen = static_cast<std::int64_t>(calls) * unseen_ticks_ / kRehearsed;
  const auto all = static_cast<std::int64_t>(stream.tool_ticks) + unseen;
  return static_cast<std::uint64_t>(std::max<std::int64_t>(all, 0));
}

std::uint64_t TimeAccount::computed(const Stream& stream, std::uint64_t now) const {
  const std::uint64_t other =
      stream.call_ticks + stream.tool_ticks + marker_ticks_ + waiting_ticks_ + other_ticks_;
  return time_between(other, since_start(now));
}

TimeSpent TimeAccount::spent(Streams& streams) {
  ns_per_tick();
  std::uint64_t events = 0;
  streams.for_each([&](const Stream& stream) { events += spent_at_calls(stream); });
  return {ns(since_start(clock_.now())), ns(events), ns(marker_ticks_), ns(other_ticks_)};
}

}  // namespace chameleon::record
