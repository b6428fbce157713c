// SPDX-License-Identifier: BSD-3-Clause
#include "process/rank_markers.h"

#include <algorithm>
#include <utility>

#include "process/fault.h"

namespace chameleon::process {
namespace {

/// A line of raw records for an election of leads: how, and this rank's signature.
void raw_election(std::FILE* file, const ClusterOptions& how, const SignatureVector& signature) {
  std::fprintf(file, "# elected %s %llu", cluster::options_text(how).c_str(),
               static_cast<unsigned long long>(signature.call_path));
  for (const SignatureVector::Summary& one : signature.parameters)
    std::fprintf(file, " %a %llu", one.mean, static_cast<unsigned long long>(one.exact));
  const auto numbers = [file](const auto& all) {
    for (const std::uint64_t one : all)
      std::fprintf(file, " %llu", static_cast<unsigned long long>(one));
  };
  numbers(signature.mixed);
  if (how.equality == cluster::Equality::kXor) numbers(signature.xored);
  std::fputc('\n', file);
}

/// The same of an effort window.
void raw_efforts(std::FILE* file, const cluster::EffortOptions& how, std::uint64_t first,
                 const cluster::RankEfforts& efforts) {
  std::fprintf(file, "# efforts %llu %s", static_cast<unsigned long long>(first),
               cluster::effort_text(how).c_str());
  for (const cluster::StepEffort& step : efforts)
    std::fprintf(file, " %llu %llu", static_cast<unsigned long long>(step.marker),
                 static_cast<unsigned long long>(step.ns));
  std::fputc('\n', file);
}

std::uint64_t ns_of(double seconds) {
  return static_cast<std::uint64_t>(1e9 * std::max(seconds, 0.0));
}

}  // namespace

void RankMarkers::reached(Stage stage, std::uint64_t marker) {
  budget_.set_marker(marker);
  const std::uint64_t now = recorder_.times().clock().now();
  switch (stage) {
    case Stage::kMarker:
      marker_begun_ = now;
      end_interval();
      voting_.decided = false;
      energy_.enter();
      return note_in_raw(marker);
    case Stage::kVote:
      voting_.begun = now;
      voting_.waited = waits_.voting;
      return g_tool_gate.set(CollectivePhase::kVote);
    case Stage::kDecided:
      voting_.present.ticks += time_between(voting_.begun, now);
      voting_.present.idle += waits_.voting - voting_.waited;
      // Later votes of a marker are about whether all ranks are there.
      if (!std::exchange(voting_.decided, true)) {
        ++voting_.votes;
        if (waits_.voting > voting_.waited) {
          ++voting_.late;
          report_.count_late_vote();
        }
      }
      return g_tool_gate.set(CollectivePhase::kDecided);
    case Stage::kDone:
      g_tool_gate.set(CollectivePhase::kNothing);
      return g_tool_gate.enter();  // if the process is about to end, it casts no further vote
  }
}

bool RankMarkers::begin_round() { return g_tool_gate.begin_round(); }

void RankMarkers::end_rounds() { g_tool_gate.end_rounds(); }

void RankMarkers::end_interval() {
  interval_end_ = recorder_.times().clock().now();
  voting_.before = voting_.present;
  voting_.present.ticks = 0;
  voting_.present.idle = 0;
}

void RankMarkers::note_in_raw(std::uint64_t marker) {
  const auto held = recorder_.lock();
  if (std::FILE* const raw = recorder_.streams().first().raw)
    std::fprintf(raw, "# marker %llu\n", static_cast<unsigned long long>(marker));
}

IntervalTimes RankMarkers::interval_times() {
  const auto held = recorder_.lock();
  TimeAccount& times = recorder_.times();
  times.ns_per_tick();
  if (interval_end_ == 0) end_interval();
  const std::uint64_t end = std::exchange(interval_end_, 0);
  const Stream& stream = marking();
  const record::IntervalTicks ticks =
      accounts_.intervals.close({times.since_start(end), times.computed(stream, end),
                                 stream.call_ticks, stream.collective_ticks, stream.effort_ticks});
  IntervalTimes interval;
  interval.compute = times.ns(ticks.computed);
  interval.communication = times.ns(ticks.called);
  interval.voting = times.ns(voting_.before.ticks);
  interval.effort_calls = times.ns(ticks.effort);
  SpentTimes spent;
  spent.compute = ticks.computed;
  spent.collective = ticks.collective;
  spent.point_to_point = ticks.called - ticks.collective;
  spent.tool = ticks.tool;
  // After votes have stopped nobody asks for what was told.
  told_[std::min(told_count_, kMostUndecided - 1)] = {voting_.before, spent};
  told_count_ = std::min(told_count_ + 1, kMostUndecided);
  return interval;
}

StepTimes RankMarkers::step_times() {
  const auto held = recorder_.lock();
  const TimeAccount& times = recorder_.times();
  const std::uint64_t now = times.clock().now();
  const Stream& stream = marking();
  const record::IntervalTicks ticks = accounts_.steps.close(
      {times.since_start(now), times.computed(stream, now), stream.call_ticks, 0, 0});
  return {times.ns(ticks.computed), times.ns(ticks.called)};
}

void RankMarkers::waited_beyond(std::uint64_t least) {
  const auto held = recorder_.lock();
  TimeAccount& times = recorder_.times();
  const Told told = told_.front();
  std::move(told_.begin() + 1, told_.end(), told_.begin());
  told_count_ -= told_count_ == 0 ? 0 : 1;
  spent_ = told.spent;
  const std::uint64_t voted = times.ns(told.voting.ticks);
  if (voted <= least) return;
  const double share = static_cast<double>(voted - least) / static_cast<double>(voted);
  const auto waited = static_cast<std::uint64_t>(share * static_cast<double>(told.voting.ticks));
  times.waited(waited);
  spent_.waiting = std::min(waited, spent_.tool);
  spent_.tool -= spent_.waiting;
  report_.take_state_time(told.voting.state, voted - least, ns_of(told.voting.idle));
  marking().trace.book().waited({voted - least, 1, times.ns(told.voting.ahead)});
}

// One or two may be late for the program's start, or for another job on the machine.
bool RankMarkers::waits_often() const {
  return voting_.late >= 3 && 100 * voting_.late > voting_.votes;
}

Stream& RankMarkers::marking() { return marking_stream(recorder_.streams(), recorder_.threaded()); }

void RankMarkers::led_to(State state) {
  guarded([&] {
    const auto held = recorder_.lock();
    TimeAccount& times = recorder_.times();
    before_ = {times.ns(time_between(marker_begun_, times.clock().now())),
               ns_of(waits_.voting + waits_.working), state};
    report_.add_state_time(state, before_.ns, before_.idle_ns);
  });
}

void RankMarkers::belongs_to(std::uint32_t phase) {
  guarded([&] { report_.add_phase_time(phase, spent_); });
}

void RankMarkers::note_election(const ClusterOptions& how, const SignatureVector& signature) {
  const auto held = recorder_.lock();
  if (std::FILE* const raw = recorder_.streams().first().raw) raw_election(raw, how, signature);
}

void RankMarkers::note_efforts(const cluster::EffortOptions& how, std::uint64_t first,
                               const cluster::RankEfforts& efforts) {
  const auto held = recorder_.lock();
  if (std::FILE* const raw = recorder_.streams().first().raw) raw_efforts(raw, how, first, efforts);
}

bool RankMarkers::takes_markers() {
  const auto held = recorder_.lock();
  static CHAMELEON_PER_THREAD char own = 0;
  const void* const thread = &own;
  if (marker_thread_ == nullptr) marker_thread_ = thread;
  if (thread == marker_thread_) return true;
  second_thread_ = true;
  return false;
}

void RankMarkers::spent(std::uint64_t begin, State state) {
  guarded([&] {
    const auto held = recorder_.lock();
    TimeAccount& times = recorder_.times();
    energy_.leave();
    const std::uint64_t spent = times.spent_at_marker(begin);
    Stream& stream = marking();
    voting_.present.ahead = stream.computed_until(begin);
    // Computation goes on as if there had been no marker.
    if (!recorder_.threaded() || Streams::own() != nullptr) stream.last_exit += spent;
    const world::WaitAccount waited = std::exchange(waits_, {});
    const std::uint64_t ns = times.ns(spent), idle = ns_of(waited.voting + waited.working);
    const auto before = std::exchange(before_, {});
    report_.add_state_time(state, time_between(before.ns, ns), time_between(before.idle_ns, idle));
    voting_.present.state = before.state.value_or(state);
    budget_.watch_memory();
  });
}

// Votes there are about which ranks have come: what they wait for is the program.
void RankMarkers::spent_at_end(std::uint64_t ticks) {
  guarded([&] {
    const world::WaitAccount waited = std::exchange(waits_, {});
    const std::uint64_t ns = recorder_.times().ns(ticks);
    report_.add_state_time(State::kFinalize, time_between(ns_of(waited.voting), ns),
                           ns_of(waited.working));
    budget_.watch_memory();
    energy_.leave();
    energy_.end();
  });
}

}  // namespace chameleon::process
