// SPDX-License-Identifier: BSD-3-Clause
#include "chameleon/trace_reader.h"

#include <algorithm>
#include <cstdio>
#include <unordered_map>

#include "analysis/effort_error.h"
#include "analysis/follow.h"
#include "analysis/loop_frames.h"
#include "analysis/place_times.h"
#include "analysis/place_waits.h"
#include "format/file.h"

namespace chameleon::reader {
namespace {

Error error_of(const chameleon::Error& from, const std::string& path) {
  Error error;
  error.message = from.message;
  if (error.message.compare(0, path.size(), path) != 0) error.message = path + ": " + from.message;
  switch (from.kind) {
    case ErrorKind::kNotATrace: error.kind = Error::Kind::kNotATrace; break;
    case ErrorKind::kTruncated: error.kind = Error::Kind::kTruncated; break;
    case ErrorKind::kUnsupportedVersion: error.kind = Error::Kind::kUnsupportedVersion; break;
    case ErrorKind::kSystem: error.kind = Error::Kind::kSystem; break;
    case ErrorKind::kRefused: error.kind = Error::Kind::kTooLarge; break;
    case ErrorKind::kUsage: error.kind = Error::Kind::kUsage; break;
    default: error.kind = Error::Kind::kCorrupt;
  }
  return error;
}

Ranks ranks_of(const RankList& list) {
  Ranks ranks;
  for (const RankList::Interval& interval : list.intervals())
    ranks.push_back({interval.first, interval.last});
  return ranks;
}

std::string text(const char* format, std::uint64_t number) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, format, static_cast<unsigned long long>(number));
  return buffer;
}

/// To whole ns; sums of a damaged trace may be larger than any.
std::uint64_t rounded(double number) {
  constexpr double kMost = 9.2e18;
  return static_cast<std::uint64_t>(std::clamp(number, 0.0, kMost) + 0.5);
}

Times in_whole_ns(const Spent& spent) {
  return {rounded(spent.count), rounded(spent.sum_ns), spent.least_ns, spent.most_ns};
}

Took took(const IntervalTally& tally) {
  const auto over_ranks = [](const RankExtent& extent) {
    return OverRanks{extent.sum_ns, extent.least_ns, extent.most_ns, extent.least_rank,
                     extent.most_rank};
  };
  return {over_ranks(tally.compute), over_ranks(tally.communication), over_ranks(tally.busy),
          over_ranks(tally.waiting)};
}

EffortStratum stratum_of(const chameleon::EffortStratum& from) {
  EffortStratum stratum{
      from.medoid, from.size, from.deviation_ns, from.least_ns, from.most_ns, {}, {}, {}, {}};
  for (const EffortCell& cell : from.steps) {
    stratum.sum_ns.push_back(cell.sum_ns);
    stratum.deviations_ns.push_back(cell.deviation_ns);
  }
  for (const SampledRank& sampled : from.sampled) {
    stratum.sampled.push_back(sampled.rank);
    stratum.ns.push_back(sampled.ns);
  }
  return stratum;
}

EffortWindow effort_window_of(const chameleon::EffortWindow& from,
                              const Efforts::Settings& settings) {
  EffortWindow window;
  window.first_marker = from.first;
  window.last_marker = from.last;
  window.gap = gap_name(from.gap);
  window.ranks = from.ranks;
  for (const chameleon::EffortStep& step : from.steps)
    window.steps.push_back(
        {step.marker, step.sum_ns, step.deviation_ns, step.least_ns, step.most_ns});
  for (const chameleon::EffortStratum& stratum : from.strata)
    window.strata.push_back(stratum_of(stratum));
  const EffortEstimate all = window_estimate(from, settings);
  window.mean_ns = all.exact;
  window.estimate_ns = all.estimate;
  window.claimed_error_ns = all.claimed;
  window.unstratified = static_cast<std::uint32_t>(from.unstratified);
  window.strata_pay = from.strata_pay;
  window.length = static_cast<std::uint32_t>(settings.length);
  window.error = settings.error_ppm / 1e6;
  window.confidence = settings.confidence_ppm / 1e6;
  return window;
}

/// A partner as the header says: a rank of the communicator, or below 0.
std::int64_t value_of(const Partner& partner) {
  if (partner.special == Partner::kUnknown) return kNotKnown;
  return partner.special != 0 ? -partner.special : partner.rank;
}

OtherFact other_fact(const CarriedFact& from, std::int64_t value) {
  OtherFact fact{from.name, from.unit, from.is_text, 0, {}};
  if (from.is_text)
    fact.text = from.texts.at(static_cast<std::size_t>(value));
  else
    fact.number = value;
  return fact;
}

}  // namespace

struct TraceReader::State {
  std::string path;
  Trace trace;
  FollowPlan plan;
  Run run;
  std::vector<Call> calls;
  std::unordered_map<std::uint16_t, const Call*> call_by_id;
  std::vector<Module> modules;
  std::vector<Declaration> declarations;
  std::vector<Cluster> clusters;
  std::vector<Phase> phases;
  Markers markers;
  std::vector<Span> series;

  State(std::string path_, Trace trace_)
      : path(std::move(path_)), trace(std::move(trace_)), plan(trace) {
    describe_run();
    for (const auto& [id, from] : trace.calls) {
      Call& call = calls.emplace_back(Call{id, from.name, {}});
      for (const chameleon::Field& field : from.fields)
        call.fields.push_back({field.name, field.kind});
    }
    for (const Call& call : calls) call_by_id.emplace(call.id, &call);
    for (const auto& [id, module] : trace.modules)
      modules.push_back({id, module.build_id_hex, module.path});
    for (const chameleon::Declaration& declared : trace.declarations)
      declarations.push_back({declared.what, ranks_of(declared.ranks)});
    const OnlineFacts& online = trace.online;
    for (const chameleon::Cluster& cluster : online.clusters)
      clusters.push_back({cluster.call_path, cluster.lead, ranks_of(cluster.ranks)});
    constexpr const char* kStates[] = {"AT", "C", "L", "F"};
    for (const chameleon::Phase& phase : online.phases)
      phases.push_back(
          {kStates[phase.state & 3], phase.first, phase.markers, phase.changed, phase.end_ns});
    for (const SeriesSpan& span : trace.series.spans())
      series.push_back({span.first, span.intervals, span.end_ns, kStates[span.state & 3],
                        span.phase, took(span.all), span.slowest, took(span.worst)});
#define CHAMELEON_ONLINE_FACT(type, name, unit, join, since, meaning) markers.name = online.name;
#include "chameleon/facts.inc"
  }

  void describe_run() {
#define CHAMELEON_RUN_FACT(type, name, unit, join, since, meaning) run.name = trace.name;
#include "chameleon/facts.inc"
    for (const CarriedFact& fact : trace.carried)
      if (fact.of_run) run.other_facts.push_back(other_fact(fact, fact.values.front()));
    run.world_size = trace.world_size;
    run.complete = trace.complete;
    run.ranks = ranks_of(trace.ranks);
    run.threads = trace.threads;
  }

  void walk(const std::vector<chameleon::Node>& nodes, const RankList& around, unsigned depth,
            const NodeTimes* times, const std::function<void(const Node&)>& f) const {
    for (const chameleon::Node& from : nodes) {
      const RankList& ranks = from.ranks.empty() ? around : from.ranks;
      Node node;
      node.is_loop = from.is_loop();
      node.depth = depth;
      node.ranks = ranks_of(ranks);
      for (const Inexact& entry : from.inexact) node.inexact |= entry.kinds;
      if (node.is_loop) {
        node.iterations = iterations_of(from, ranks.first());
        node.place = loop_place(trace, from);
      } else {
        const auto call = call_by_id.find(from.call);
        node.call = call == call_by_id.end() ? nullptr : call->second;
        node.path = from.path;
        if (times != nullptr) {
          node.compute = in_whole_ns(times->at(from).compute);
          node.in_call = in_whole_ns(times->at(from).communication);
        }
      }
      f(node);
      walk(from.body, ranks, depth + 1, times, f);
    }
  }
};

TraceReader::TraceReader(std::shared_ptr<const State> state) : state_(std::move(state)) {}

std::optional<TraceReader> TraceReader::open(const std::string& path, Error& error,
                                             std::uint64_t most_bytes) {
  Result<Trace> trace =
      read_trace(path, nullptr, most_bytes == 0 ? default_read_limit() : most_bytes);
  if (!trace) {
    error = error_of(trace.error(), path);
    return std::nullopt;
  }
  return TraceReader(std::make_shared<const State>(path, std::move(*trace)));
}

const Run& TraceReader::run() const { return state_->run; }
const std::vector<Call>& TraceReader::calls() const { return state_->calls; }
const std::vector<Module>& TraceReader::modules() const { return state_->modules; }
const std::vector<Declaration>& TraceReader::declarations() const { return state_->declarations; }
const std::vector<Cluster>& TraceReader::clusters() const { return state_->clusters; }
const std::vector<Phase>& TraceReader::phases() const { return state_->phases; }
const Markers& TraceReader::markers() const { return state_->markers; }
const std::vector<Span>& TraceReader::series() const { return state_->series; }

std::vector<EffortWindow> TraceReader::efforts() const {
  std::vector<EffortWindow> windows;
  for (const chameleon::EffortWindow& window : state_->trace.efforts.windows())
    windows.push_back(effort_window_of(window, state_->trace.efforts.settings()));
  return windows;
}

std::vector<Total> TraceReader::totals() const {
  std::vector<Total> totals;
  for (const PhaseTotals::Entry& entry : state_->trace.totals.entries())
    for (const auto& [phase, spent] : entry.phases)
      totals.push_back(
          {ranks_of(entry.ranks), phase == PhaseTotals::kNoPhase ? -1 : static_cast<int>(phase),
           spent.compute, spent.point_to_point, spent.collective, spent.waiting, spent.tool});
  return totals;
}

std::vector<Outlier> TraceReader::outliers() const {
  std::vector<Outlier> outliers;
  for (const chameleon::Outlier& one : state_->trace.outliers.all())
    outliers.push_back({state_->trace.rank_of(one.stream), state_->trace.thread_of(one.stream),
                        one.event, one.in_call, one.begin_ns, one.ns, one.usual_ns});
  return outliers;
}

std::vector<PairAccount> TraceReader::pair_accounts() const {
  const Trace& trace = state_->trace;
  std::vector<PairAccount> accounts;
  for (const chameleon::PairAccount& one : trace.pair_accounts.all())
    accounts.push_back({one.source, trace.rank_of(one.stream), trace.thread_of(one.stream),
                        least_bytes(one), one.messages, one.ns, one.longest_ns, one.longest_event});
  return accounts;
}

std::vector<Wait> TraceReader::waits(Error& error) const {
  std::vector<Wait> rows;
  const Trace& trace = state_->trace;
  if (const auto lacks = lacks_times(trace)) {
    error = {Error::Kind::kUsage, state_->path + ": " + *lacks};
    return rows;
  }
  const Result<WaitReport> found = waits_of(trace);
  if (!found) {
    error = error_of(found.error(), state_->path);
    return rows;
  }
  for (const PlaceWait& place : found->places) {
    const WaitTimes& times = place.times;
    const auto ns = [&](WaitClass kind) { return rounded(times.at(kind)); };
    const auto call = state_->call_by_id.find(place.call);
    rows.push_back({place.stream, call == state_->call_by_id.end() ? nullptr : call->second,
                    place.path, rounded(times.events), rounded(times.call_ns),
                    ns(WaitClass::kLateSender), ns(WaitClass::kLateReceiver),
                    ns(WaitClass::kLateRoot), ns(WaitClass::kEarlyRoot), ns(WaitClass::kAllToAll),
                    ns(WaitClass::kBarrier), ns(WaitClass::kMarker), rounded(times.transfer_ns),
                    rounded(times.excess_ns())});
  }
  return rows;
}

std::vector<RankFacts> TraceReader::facts() const {
  std::vector<RankFacts> facts;
  for (const auto& [rank, from] : state_->trace.facts) {
    RankFacts& fact = facts.emplace_back();
    fact.rank = rank;
#define CHAMELEON_RANK_FACT(type, name, unit, join, since, meaning) fact.name = from.name;
#include "chameleon/facts.inc"
  }
  for (const CarriedFact& from : state_->trace.carried) {
    ValueSequence::Cursor value(from.values);
    auto fact = facts.begin();
    from.ranks.for_each([&](std::uint32_t rank) {
      while (fact != facts.end() && fact->rank < rank) ++fact;
      if (fact != facts.end() && fact->rank == rank)
        fact->others.push_back(other_fact(from, value.next()));
    });
  }
  return facts;
}

std::vector<Frame> TraceReader::frames(std::uint64_t path) const {
  std::vector<Frame> frames;
  if (const auto found = state_->trace.paths.find(path); found != state_->trace.paths.end())
    for (const chameleon::Frame& frame : found->second.frames)
      frames.push_back({frame.module, frame.offset});
  return frames;
}

std::optional<SourceLine> TraceReader::source(const Frame& frame) const {
  const auto found = state_->trace.sources.find(frame.offset);
  if (frame.module != 0 || found == state_->trace.sources.end()) return std::nullopt;
  const SourceFrame& at = found->second;
  return SourceLine{at.file, at.function, at.begin, at.line};
}

std::string TraceReader::site(std::uint64_t path) const {
  const auto found = state_->trace.paths.find(path);
  if (found == state_->trace.paths.end() || found->second.frames.empty())
    return text("path 0x%llx", path);
  const auto& frames = found->second.frames;
  if (is_interpreters_end(state_->trace, frames)) return kInterpretersEnd;
  return frame_text(state_->trace, frames[innermost_frame(state_->trace, frames)]);
}

std::string TraceReader::object_name(std::string_view kind, std::int64_t value) const {
  if (kind == "comm" && (value == 0 || value == 1))
    return value == 0 ? "MPI_COMM_WORLD" : "MPI_COMM_SELF";
  if (value == -1) return "null";
  const auto list = state_->trace.predefined.find(std::string(kind));
  if (value <= -2 && list != state_->trace.predefined.end())
    if (const auto place = static_cast<std::uint64_t>(-2 - value); place < list->second.size())
      return list->second[place].name;
  return std::string(kind) + " " + std::to_string(value);
}

const std::vector<std::int64_t>* TraceReader::array(std::int64_t key) const {
  const auto found = state_->trace.arrays.find(static_cast<std::uint64_t>(key));
  return found == state_->trace.arrays.end() ? nullptr : &found->second;
}

void TraceReader::for_each_node(const std::function<void(const Node&)>& f) const {
  const Trace& trace = state_->trace;
  const Result<NodeTimes> times = NodeTimes::make(trace, trace.ranks);
  state_->walk(trace.nodes, trace.ranks, 0, times ? &*times : nullptr, f);
}

bool TraceReader::for_each_event(std::uint32_t stream, const std::function<bool(const Event&)>& f,
                                 Error& error) const {
  const Trace& trace = state_->trace;
  Result<Follower> follower = Follower::of_stream(state_->plan, stream);
  if (!follower) {
    error = error_of(follower.error(), state_->path);
    return false;
  }
  FollowedEvent from;
  Event event;
  event.rank = trace.rank_of(stream);
  event.thread = trace.thread_of(stream);
  while (follower->next(from)) {
    event.number = from.number;
    event.call = state_->call_by_id.at(from.view.node->call);
    event.path = from.view.path;
    event.values = from.view.values;
    event.iteration = from.view.iteration;
    event.inexact = follower->inexact(from);
    const EventTimes times = follower->times(from);
    event.compute_ns = times.compute;
    event.call_ns = times.communication;
    event.waiting_ns = times.waiting;
    for (std::size_t i = 0; from.call != nullptr && i < event.values.size(); ++i)
      if (from.call->fields[i].stored == FieldKind::kEndPoint)
        event.values[i] = value_of(from.partner(i));
    if (!f(event)) break;
  }
  return true;
}

}  // namespace chameleon::reader
