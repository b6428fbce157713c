// SPDX-License-Identifier: BSD-3-Clause
#include "process/traced_rank.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

#include "process/fault.h"
#include "process/say.h"

namespace chameleon::process {
namespace {

/// A line of raw records for an election of leads: how, and this rank's signature.
void raw_election(std::FILE* file, const ClusterOptions& how, const SignatureVector& signature) {
  std::fprintf(file, "# elected %s %llu", cluster::options_text(how).c_str(),
               static_cast<unsigned long long>(signature.call_path));
  for (const SignatureVector::Summary& one : signature.parameters)
    std::fprintf(file, " %a %llu", one.mean, static_cast<unsigned long long>(one.exact));
  for (const std::uint64_t one : signature.mixed)
    std::fprintf(file, " %llu", static_cast<unsigned long long>(one));
  std::fputc('\n', file);
}

}  // namespace

ClosedInterval TracedRank::close_interval(bool elects) {
  const auto held = recorder_.lock();
  Streams& streams = recorder_.streams();
  ClosedInterval interval;
  interval.signature = streams.close_interval(recorder_.times().ns_per_tick(), elects);
  interval.threads = streams.count();
  interval.creates = streams.any(&RankTrace::interval_creates);
  interval.left_out = recorder_.pauses(Pause::kInterval);
  return interval;
}

void TracedRank::join() {
  guarded([&] {
    const auto held = recorder_.lock();
    recorder_.streams().join(recorder_.times().ns_per_tick());
  });
}

void TracedRank::drop() {
  guarded([&] {
    const auto held = recorder_.lock();
    recorder_.streams().drop(recorder_.times().ns_per_tick());
  });
}

History TracedRank::history() {
  const auto held = recorder_.lock();
  Streams& streams = recorder_.streams();
  return {streams.history(), !streams.any(&RankTrace::history_creates) && streams.count() == 1};
}

IntervalTimes TracedRank::interval_times() {
  const auto held = recorder_.lock();
  TimeAccount& times = recorder_.times();
  times.ns_per_tick();
  Stream* const own = recorder_.threaded() ? Streams::own() : nullptr;
  const Stream& stream = own != nullptr ? *own : recorder_.streams().first();
  const std::uint64_t computed = times.computed(stream, times.clock().now());
  const std::uint64_t called = stream.call_ticks;
  IntervalTimes interval;
  interval.compute = times.ns(computed - std::min(computed, computed_));
  interval.communication = times.ns(called - std::min(called, called_));
  interval.voting = times.ns(voting_.ticks);
  computed_ = computed;
  called_ = called;
  voting_.before = voting_.ticks;
  return interval;
}

void TracedRank::waited_beyond(std::uint64_t least) {
  const auto held = recorder_.lock();
  TimeAccount& times = recorder_.times();
  const std::uint64_t voted = times.ns(voting_.before);
  if (voted <= least) return;
  const double share = static_cast<double>(voted - least) / static_cast<double>(voted);
  times.waited(static_cast<std::uint64_t>(share * static_cast<double>(voting_.before)));
  report_.take_state_time(voting_.state, voted - least);
}

void TracedRank::note_election(const ClusterOptions& how, const SignatureVector& signature) {
  const auto held = recorder_.lock();
  if (std::FILE* const raw = recorder_.streams().first().raw) raw_election(raw, how, signature);
}

Share TracedRank::take_share(bool keeps) {
  give_back_space();
  const auto held = recorder_.lock();
  Share share = recorder_.take_share(keeps);
  if (recorder_.streams().any(&RankTrace::broken))
    throw std::bad_alloc();  // an earlier failure lost some of it
  return share;
}

Trace TracedRank::own_facts(bool lost_flush) {
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
  guarded([&] {
    report_.add_state_time(State::kFinalize, times.ns(times.clock().now() - times.ended()));
    budget_.watch_memory();
  });
}

bool TracedRank::failed() const { return has_fault(); }

void TracedRank::note_failure(Failure failure) { note_fault(failure); }

void TracedRank::reached(Stage stage, std::uint64_t marker) {
  budget_.set_marker(marker);
  const std::uint64_t now = recorder_.times().clock().now();
  if (stage == Stage::kVote)
    voting_.begun = now;
  else
    voting_.ticks = now - voting_.begun;
  g_door.set(stage == Stage::kVote ? Together::kVote : Together::kDecided);
}

bool TracedRank::takes_markers() {
  const auto held = recorder_.lock();
  const long thread = ::syscall(SYS_gettid);
  if (marker_thread_ == 0) marker_thread_ = thread;
  if (thread == marker_thread_) return true;
  second_thread_ = true;
  return false;
}

void TracedRank::spent_at_marker(std::uint64_t begin, State state) {
  guarded([&] {
    const auto held = recorder_.lock();
    TimeAccount& times = recorder_.times();
    const std::uint64_t spent = times.spent_at_marker(begin);
    // Computation goes on as if there had been no marker.
    if (!recorder_.threaded())
      recorder_.streams().first().last_exit += spent;
    else if (Stream* const own = Streams::own())
      own->last_exit += spent;
    report_.add_state_time(state, times.ns(spent));
    voting_.state = state;
    budget_.watch_memory();
  });
}

void TracedRank::say_line(const char* line) { say_plain("%s", line); }

}  // namespace chameleon::process
