// SPDX-License-Identifier: BSD-3-Clause
#include "chameleon/trace_reader.h"

#include <cstdio>
#include <unordered_map>

#include "analysis/communicators.h"
#include "format/file.h"
#include "model/time_code.h"
#include "model/view.h"

namespace chameleon::reader {
namespace {

/// Pieces of a loop's iteration counts that are summed up; a damaged trace may claim more.
constexpr std::uint64_t kMostSegments = 1U << 20;

Error error_of(const chameleon::Error& from, const std::string& path) {
  Error error;
  error.message = from.message;
  if (error.message.compare(0, path.size(), path) != 0) error.message = path + ": " + from.message;
  switch (from.kind) {
    case ErrorKind::kNotATrace: error.kind = Error::Kind::kNotATrace; break;
    case ErrorKind::kTruncated: error.kind = Error::Kind::kTruncated; break;
    case ErrorKind::kUnsupportedVersion: error.kind = Error::Kind::kUnsupportedVersion; break;
    case ErrorKind::kSystem: error.kind = Error::Kind::kSystem; break;
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

std::uint64_t iterations_of(const chameleon::Node& node, const RankList& ranks) {
  EndPointForm form{};
  const ValueSequence* counts = node.iterations.find(ranks.first(), form);
  if (counts == nullptr) return 0;
  std::uint64_t sum = 0, segments = 0;
  for (ValueSequence::Cursor cursor(*counts); !cursor.done() && segments < kMostSegments;
       ++segments) {
    const ValueSequence::Segment segment = cursor.segment();
    const auto start = static_cast<std::uint64_t>(segment.start);
    const auto stride = static_cast<std::uint64_t>(segment.stride);
    sum += start * segment.count + stride * (segment.count * (segment.count - 1) / 2);
    cursor.skip(segment.count);
  }
  return sum;
}

void add(Times& times, const Histogram& more) {
  if (more.empty()) return;
  times.min = times.count == 0 ? more.min() : std::min(times.min, more.min());
  times.max = std::max(times.max, more.max());
  times.count += more.count();
  if (__builtin_add_overflow(times.sum, more.sum(), &times.sum)) times.sum = UINT64_MAX;
}

/// Follows communicators and requests, by which end-points become ranks.
class Follower {
 public:
  Follower(const Trace& trace, std::uint32_t rank)
      : trace_(trace), communicators_(rank, std::max(trace.world_size, rank + 1)) {}

  void resolve(const CallDescription& call, const EventView& event, Event& out) {
    const Place place = place_of(call, event);
    for (std::size_t i = 0; i < call.fields.size(); ++i) {
      if (call.fields[i].stored != FieldKind::kEndPoint) continue;
      const EndPoint point = event.end_point(i);
      if (point.special() != 0)
        out.values[i] = -point.special();
      else if (point.form == EndPointForm::kRelative && place.size <= 0)
        out.values[i] = kNotKnown;
      else
        out.values[i] = point.rank(place.self, place.size);
    }
    if (const int request = field_index(call, "request"); request >= 0 && place.size > 0)
      requests_[value(event, request)] = place;
    if (const int message = field_index(call, "message"); message >= 0 && place.size > 0)
      messages_[value(event, message)] = place;
    if (Communicators::changed_by(call)) communicators_.apply(trace_, call, event);
  }

 private:
  struct Place {
    std::int32_t self = 0, size = 0;
  };
  using Places = std::unordered_map<std::int64_t, Place>;

  static std::int64_t value(const EventView& event, int field) {
    return event.values[static_cast<std::size_t>(field)];
  }
  static Place at(const Places& places, std::int64_t id) {
    const auto found = places.find(id);
    return found == places.end() ? Place{} : found->second;
  }

  Place place_of(const CallDescription& call, const EventView& event) const {
    for (std::size_t i = 0; i < call.fields.size(); ++i)
      if (call.fields[i].kind == "comm" && call.fields[i].stored == FieldKind::kPlain) {
        const Communicator* comm = communicators_.find(event.values[i]);
        return comm == nullptr ? Place{} : Place{comm->self, comm->peers().count};
      }
    if (const int message = field_index(call, "message"); message >= 0)
      return at(messages_, value(event, message));
    if (const int request = field_index(call, "request"); request >= 0)
      return at(requests_, value(event, request));
    const int requests = field_index(call, "array_of_requests");
    int index = field_index(call, "indx");
    if (index < 0) index = field_index(call, "index");
    if (requests < 0 || index < 0) return {};
    const auto slots = array_of(trace_, value(event, requests));
    const std::int64_t slot = value(event, index);
    if (slot < 0 || static_cast<std::uint64_t>(slot) >= slots.size()) return {};
    return at(requests_, slots[static_cast<std::size_t>(slot)]);
  }

  const Trace& trace_;
  Communicators communicators_;
  Places requests_, messages_;
};

OtherFact other_fact(const CarriedFact& from, std::int64_t value) {
  OtherFact fact{from.name, from.unit, from.is_text, 0, {}};
  if (from.is_text)
    fact.text = from.texts.at(static_cast<std::size_t>(value));
  else
    fact.number = value;
  return fact;
}

using InexactNodes = std::unordered_map<const chameleon::Node*, unsigned>;

/// Kinds in which a rank is inexact, of each node that is; loops' hold for their bodies.
void collect_inexact(const std::vector<chameleon::Node>& nodes, std::uint32_t rank, unsigned around,
                     InexactNodes& found) {
  for (const chameleon::Node& node : nodes) {
    const unsigned kinds = around | inexact_kinds(node.inexact, rank);
    if (kinds != 0) found.emplace(&node, kinds);
    collect_inexact(node.body, rank, kinds, found);
  }
}

}  // namespace

struct TraceReader::State {
  std::string path;
  Trace trace;
  Run run;
  std::vector<Call> calls;
  std::unordered_map<std::uint16_t, const Call*> call_by_id;
  std::vector<Module> modules;
  std::vector<Declaration> declarations;
  std::vector<Cluster> clusters;
  std::vector<Phase> phases;
  Markers markers;

  State(std::string path_, Trace trace_) : path(std::move(path_)), trace(std::move(trace_)) {
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
            const std::function<void(const Node&)>& f) const {
    for (const chameleon::Node& from : nodes) {
      const RankList& ranks = from.ranks.empty() ? around : from.ranks;
      Node node;
      node.is_loop = from.is_loop();
      node.depth = depth;
      node.ranks = ranks_of(ranks);
      for (const Inexact& entry : from.inexact) node.inexact |= entry.kinds;
      if (node.is_loop) {
        node.iterations = iterations_of(from, ranks);
      } else {
        const auto call = call_by_id.find(from.call);
        node.call = call == call_by_id.end() ? nullptr : call->second;
        node.path = from.path;
        for (const TimeEntry& entry : from.times) {
          add(node.compute, entry.compute);
          add(node.in_call, entry.communication);
        }
      }
      f(node);
      walk(from.body, ranks, depth + 1, f);
    }
  }
};

TraceReader::TraceReader(std::shared_ptr<const State> state) : state_(std::move(state)) {}

std::optional<TraceReader> TraceReader::open(const std::string& path, Error& error) {
  Result<Trace> trace = read_trace(path);
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

std::string TraceReader::site(std::uint64_t path) const {
  std::string first;
  for (const Frame& frame : frames(path)) {
    const auto module = state_->trace.modules.find(frame.module);
    const bool known = module != state_->trace.modules.end();
    std::string name = known ? module->second.path : text("module 0x%llx", frame.module);
    if (known) name.erase(0, name.rfind('/') + 1);
    std::string site = name + text("+0x%llx", frame.offset);
    if (name.rfind("libmpi", 0) != 0 && name.rfind("libchameleon", 0) != 0) return site;
    if (first.empty()) first = std::move(site);
  }
  return first.empty() ? text("path 0x%llx", path) : first;
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
  state_->walk(state_->trace.nodes, state_->trace.ranks, 0, f);
}

bool TraceReader::for_each_event(std::uint32_t stream, const std::function<bool(const Event&)>& f,
                                 Error& error) const {
  const Trace& trace = state_->trace;
  Result<RankView> view = RankView::make(trace, stream);
  if (!view) {
    error = error_of(view.error(), state_->path);
    return false;
  }
  InexactNodes inexact;
  collect_inexact(trace.nodes, stream, 0, inexact);
  Follower follower(trace, trace.rank_of(stream));
  EventView from;
  Event event;
  event.rank = trace.rank_of(stream);
  event.thread = trace.thread_of(stream);
  while (view->next(from)) {
    const CallDescription& call = trace.calls.at(from.node->call);
    ++event.number;
    event.call = state_->call_by_id.at(from.node->call);
    event.path = from.node->path;
    event.values = from.values;
    event.iteration = from.iteration;
    const auto kinds = inexact.find(from.node);
    event.inexact = kinds == inexact.end() ? 0 : kinds->second;
    event.compute_ns = event.call_ns = 0;
    const std::size_t fields = call.fields.size();
    if (fields >= 2 && call.fields[fields - 1].kind == "time") {
      event.compute_ns = decode_time(from.values[fields - 2]);
      event.call_ns = decode_time(from.values[fields - 1]);
    } else if (const TimeEntry* times = RankView::times(*from.node, from.predecessor, stream)) {
      event.compute_ns = static_cast<std::uint64_t>(times->compute.mean() + 0.5);
      event.call_ns = static_cast<std::uint64_t>(times->communication.mean() + 0.5);
    }
    follower.resolve(call, from, event);
    if (!f(event)) break;
  }
  return true;
}

}  // namespace chameleon::reader
