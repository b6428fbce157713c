// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/place_waits.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/hash.h"
#include "base/time_between.h"

namespace chameleon::analysis {

const std::array<const char*, kWaitClasses> kWaitKeys = {
    "late_sender", "late_receiver", "late_root", "early_root", "all_to_all", "barrier", "marker"};
const std::array<const char*, kWaitClasses> kWaitWords = {
    "late sender", "late receiver", "late root", "early root", "N×N", "barrier", "marker"};

namespace {

/// Events of a stream whose waits may still be told, for receivers that come to them later.
constexpr std::size_t kRing = 64;
/// The best of all instances: no more of them took less.
constexpr double kBest = 0.1;
constexpr std::size_t kMarkerClass = static_cast<std::size_t>(WaitClass::kMarker);

WaitClass class_of(const WaitState& wait) {
  switch (wait.kind) {
    case WaitState::Kind::kLateSender: return WaitClass::kLateSender;
    case WaitState::Kind::kLateReceiver: return WaitClass::kLateReceiver;
    case WaitState::Kind::kLateRoot: return WaitClass::kLateRoot;
    case WaitState::Kind::kEarlyRoot: return WaitClass::kEarlyRoot;
    case WaitState::Kind::kLateMember: break;
  }
  return wait.at_barrier ? WaitClass::kBarrier : WaitClass::kAllToAll;
}

std::uint8_t size_class(std::int64_t bytes) {
  return static_cast<std::uint8_t>(std::bit_width(static_cast<std::uint64_t>(bytes)));
}

/// Recorded durations, of those of the timeline.
std::uint64_t recorded(std::uint64_t ns, double stretch) {
  return stretch > 0 ? static_cast<std::uint64_t>(static_cast<double>(ns) / stretch + 0.5) : ns;
}

void add_to(Histogram& all, std::uint64_t ns, std::uint64_t times) {
  if (times == 1) return all.add(ns);
  const auto value = static_cast<double>(ns);
  all.add(Histogram::Counted{times,
                             ns * times,
                             ns,
                             ns,
                             value * value * static_cast<double>(times),
                             {{Histogram::bin_of(ns), times}}});
}

/// The timeline may be stretched: its waits are no longer than the calls all the same.
void keep_within_calls(WaitTimes& times) {
  const double waited = times.in_calls_ns();
  if (waited <= times.call_ns) return;
  for (std::size_t i = 0; i < kMarkerClass; ++i)
    times.waited_ns[i] = std::floor(times.waited_ns[i] * times.call_ns / waited);
}

}  // namespace

double WaitTimes::in_calls_ns() const {
  double sum = 0;
  for (std::size_t i = 0; i < kMarkerClass; ++i) sum += waited_ns[i];
  return sum;
}

double WaitTimes::excess_ns() const { return std::max(call_ns - in_calls_ns() - transfer_ns, 0.0); }

void WaitTimes::add(const WaitTimes& other) {
  events += other.events;
  call_ns += other.call_ns;
  transfer_ns += other.transfer_ns;
  for (std::size_t i = 0; i < kWaitClasses; ++i) waited_ns[i] += other.waited_ns[i];
}

std::vector<PlaceWait> WaitReport::by_place() const {
  std::map<std::pair<std::uint64_t, std::uint16_t>, PlaceWait> sums;
  for (const PlaceWait& place : places) {
    const auto [sum, fresh] = sums.try_emplace({place.path, place.call}, place);
    if (!fresh) sum->second.times.add(place.times);
  }
  std::vector<PlaceWait> rows;
  for (const auto& [key, sum] : sums) rows.push_back(sum);
  std::stable_sort(rows.begin(), rows.end(), [](const PlaceWait& a, const PlaceWait& b) {
    return a.times.in_calls_ns() > b.times.in_calls_ns();
  });
  return rows;
}

PlaceWaits::PlaceWaits(const Trace& trace, std::function<void(const WaitSpan&)> watch)
    : trace_(trace), watch_(std::move(watch)), clock_error_ns_(clock_error(trace)) {}

PlaceWaits::Cell& PlaceWaits::cell(const Key& key) {
  if (streams_.size() <= key.stream) streams_.resize(key.stream + std::size_t{1});
  const std::uint64_t place = combine(combine(key.path, key.call), std::uint64_t{key.size});
  Cell*& found = streams_[key.stream].cells[place];
  if (found == nullptr) found = &cells_[key];
  return *found;
}

void PlaceWaits::add(const TimedEvent& event) {
  const RankOperations& at = *event.at;
  const std::uint8_t size = size_class(moved_bytes(at));
  const std::uint16_t call = at.event().node->call;
  Cell& cell = this->cell({event.stream(), call, size, at.event().path});
  cell.events += times_;
  cell.call_ns += times_ * at.communication_ns();
  cell.waited_ns[kMarkerClass] += times_ * time_between(event.wait_begin_ns, event.wait_end_ns);
  if (watch_ && event.waits())
    watch_({event.stream(), WaitClass::kMarker, event.wait_begin_ns, event.wait_end_ns});
  std::uint64_t waited = 0;
  states_.add(event, [&](const WaitState& wait) {
    if (wait.waiter == event.stream() && wait.at_event == at.number()) waited += wait.ns();
    told(wait);
  });
  std::uint64_t rest = at.communication_ns() - std::min(at.communication_ns(), waited);
  if (trace_.timing != "full") rest = std::min(rest, at.shortest_ns());
  Own& own = own_[{call, size}];
  add_to((4 * waited < at.communication_ns() ? own.unhindered : own.hindered), rest, times_);
}

void PlaceWaits::told(const WaitState& wait) {
  const WaitSpan span = uncovered(wait);
  if (span.end_ns <= span.begin_ns) return;
  if (watch_) watch_(span);
  const std::uint64_t ns = time_between(span.begin_ns, span.end_ns);
  Cell& cell = this->cell({wait.waiter, wait.at_call, size_class(wait.at_bytes), wait.at_path});
  cell.waited_ns[static_cast<std::size_t>(span.kind)] += times_ * ns;
  if (ns < clock_error_ns_) undecided_ns_ += times_ * ns;
}

/// What an event waits for one partner after it has waited for others.
WaitSpan PlaceWaits::uncovered(const WaitState& wait) {
  if (streams_.size() <= wait.waiter) streams_.resize(wait.waiter + std::size_t{1});
  std::vector<Covered>& ring = streams_[wait.waiter].covered;
  if (ring.empty()) ring.resize(kRing);
  Covered& covered = ring[wait.at_event % kRing];
  if (covered.event > wait.at_event) return {};  // so long after that it is not known any more
  if (covered.event < wait.at_event) covered = {wait.at_event, wait.begin_ns};
  const std::uint64_t from = std::max(covered.until_ns, wait.begin_ns);
  const std::uint64_t until = wait.cause.begin_ns;
  if (until <= from) return {};
  covered.until_ns = until;
  return {wait.waiter, class_of(wait), from, until};
}

WaitReport PlaceWaits::finish(const TimelineFacts& facts) {
  WaitReport found;
  found.run_ns = static_cast<double>(facts.end_ns);
  found.unmatched = facts.unmatched;
  found.clock_error_ns = clock_error_ns_;
  found.undecided_ns = static_cast<double>(recorded(undecided_ns_, facts.stretch));
  found.events = facts.events;
  found.at_once = facts.at_once;
  std::map<StreamPlace, WaitTimes> sums;
  for (const auto& [key, cell] : cells_) {
    WaitTimes times;
    times.events = static_cast<double>(cell.events);
    times.call_ns = static_cast<double>(cell.call_ns);
    for (std::size_t i = 0; i < kWaitClasses; ++i)
      times.waited_ns[i] = static_cast<double>(recorded(cell.waited_ns[i], facts.stretch));
    keep_within_calls(times);
    const Own& own = own_.at({key.call, key.size});
    const Histogram& like = own.unhindered.empty() ? own.hindered : own.unhindered;
    const double best = like.quantile(kBest) * times.events;
    times.transfer_ns = std::round(std::clamp(times.call_ns - times.in_calls_ns(), 0.0, best));
    sums[{key.stream, key.call, key.path}].add(times);
  }
  for (const auto& [key, times] : sums) {
    found.places.push_back({key, times});
    found.all.add(times);
  }
  return found;
}

std::uint64_t clock_error(const Trace& trace) {
  std::uint64_t most = 0;
  if (!clocks_known(trace)) return 0;
  for (const auto& [stream, facts] : trace.facts) most = std::max(most, facts.clock_error_ns);
  return most;
}

std::optional<std::string> lacks_times(const Trace& trace) {
  if (trace.threads > 1)
    return "ranks have up to " + std::to_string(trace.threads) +
           " threads, whose waits are not told apart";
  if (trace.timing == "none")
    return "it has no times: run again with CHAMELEON_TIMING=histogram or full";
  return std::nullopt;
}

Result<WaitReport> waits_of(const Trace& trace, Loops loops) {
  PlaceWaits waits(trace);
  RoundWatch watch;
  watch.state = [&](std::vector<std::uint64_t>& state) { state.push_back(waits.open()); };
  watch.take = [&](std::uint64_t times, double) { waits.take(times); };
  const Result<TimelineFacts> run = run_timeline(
      trace, trace.whole_ranks(), [&](const TimedEvent& event) { waits.add(event); }, false,
      Network::kRecorded, loops == Loops::kAtOnce ? &watch : nullptr);
  if (!run) return run.error();
  return waits.finish(*run);
}

}  // namespace chameleon::analysis
