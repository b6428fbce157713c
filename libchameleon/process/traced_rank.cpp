// SPDX-License-Identifier: BSD-3-Clause
#include "process/traced_rank.h"

#include "process/fault.h"
#include "process/say.h"

namespace chameleon::process {
ClosedInterval TracedRank::close_interval(bool elects) {
  const auto held = recorder_.lock();
  Streams& streams = recorder_.streams();
  ClosedInterval interval;
  interval.signature = record::close_interval(recorder_, elects);
  interval.threads = streams.count();
  interval.creates = streams.any(&RankTrace::interval_creates);
  interval.left_out = recorder_.pauses(Pause::kInterval);
  const Stream& marking = marking_stream(streams, recorder_.threaded());
  interval.site_ns = recorder_.times().ns(marking.trace.interval().site_ticks);
  return interval;
}

void TracedRank::join() {
  guarded([&] {
    const auto held = recorder_.lock();
    end_interval(recorder_, true);
  });
}

void TracedRank::drop() {
  guarded([&] {
    const auto held = recorder_.lock();
    end_interval(recorder_, false);
  });
}

History TracedRank::history() {
  const auto held = recorder_.lock();
  Streams& streams = recorder_.streams();
  return {streams.history(), !streams.any(&RankTrace::history_creates) && streams.count() == 1};
}

Share TracedRank::take_share(bool keeps) {
  give_back_space();
  const auto held = recorder_.lock();
  Share share = recorder_.take_share(keeps);
  pieces_.take(share);
  if (recorder_.streams().any(&RankTrace::broken))
    throw std::bad_alloc();  // an earlier failure lost some of it
  return share;
}

Trace TracedRank::own_facts(bool lost_flush) {
  report_.set_energy(markers_.energy());
  return report_.trace(lost_flush, clock_fit_.clock());
}

// What it takes to measure the scale would be in each reading of the clock.
std::int64_t TracedRank::clock_ns() {
  if (scale_ == 0) scale_ = recorder_.times().ns_per_tick();
  return recorder_.times().local_ns(scale_);
}

void TracedRank::compared(const ClockSample& sample) {
  scale_ = 0;
  guarded([&] { clock_fit_.add(sample); });
}

void TracedRank::merged() {
  TimeAccount& times = recorder_.times();
  if (times.ended() == 0) return;
  markers_.spent_at_end(time_between(times.ended(), times.clock().now()));
}

bool TracedRank::failed() const { return has_fault(); }

void TracedRank::note_failure(Failure failure) { note_fault(failure); }

void TracedRank::say_line(const char* line) { say_plain("%s", line); }

}  // namespace chameleon::process
