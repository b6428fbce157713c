// SPDX-License-Identifier: BSD-3-Clause
#include "record/time_account.h"

namespace chameleon::record {

double TimeAccount::ns_per_tick() {
  const double ratio = clock_.ns_per_tick();
  ns_per_tick_.store(ratio, std::memory_order_relaxed);
  return ratio;
}

std::uint64_t TimeAccount::elapsed_ns() {
  return static_cast<std::uint64_t>(static_cast<double>(clock_.now() - start_) * ns_per_tick());
}

std::uint64_t TimeAccount::run_ns() {
  if (end_ == 0) return elapsed_ns();
  return static_cast<std::uint64_t>(static_cast<double>(end_ - start_) * ns_per_tick());
}

std::uint64_t TimeAccount::spent_at_marker(std::uint64_t begin) {
  const std::uint64_t spent = clock_.now() - begin;
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
  return now - start_ - std::min(now - start_, other);
}

TimeSpent TimeAccount::spent(Streams& streams) {
  ns_per_tick();
  std::uint64_t events = other_ticks_;
  streams.for_each([&](const Stream& stream) { events += spent_at_calls(stream); });
  return {ns(clock_.now() - start_), ns(events), ns(marker_ticks_)};
}

}  // namespace chameleon::record
