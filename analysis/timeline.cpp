// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include "analysis/run_length.h"
#include "analysis/timeline_pass.h"

namespace chameleon::analysis {
namespace timeline {

Status Pass::prepare() {
  facts_.lane_ends_ns.assign(lanes_.size(), 0);
  std::uint32_t world = trace_.world_size;
  for (const RankList::Interval& interval : trace_.ranks.intervals())
    world = std::max(world, interval.last + 1);
  index_.assign(world, -1);
  const RankList whole = trace_.whole_ranks();
  for (const std::uint32_t rank : whole.ranks()) {
    Result<RankOperations> operations = RankOperations::make(trace_, plan_, rank);
    if (!operations) return operations.error();
    ranks_.emplace_back(std::move(*operations));
    Rank& made = ranks_.back();
    made.streams = trace_.threads > 1 ? trace_.streams_of(rank) : std::vector{rank};
    for (const std::uint32_t stream : made.streams) {
      index_[stream] = static_cast<std::int64_t>(rows_.size());
      rows_.emplace_back(made, stream);
      make_ready(rows_.back());
    }
    rank_index_.resize(rank + std::size_t{1}, -1);
    rank_index_[rank] = static_cast<std::int64_t>(ranks_.size()) - 1;
  }
  all_here_ = whole.size() >= trace_.world_size;
  for (std::size_t i = 0; i < rows_.size(); ++i) rows_[i].drift = stretch_of(i) - 1;
  if (clocks_known(trace_)) align_clocks();
  if (watch_ != nullptr) watch_rounds();
  return Unit{};
}

double Pass::stretch_of(std::size_t row) const {
  return row < own_stretch_.size() && own_stretch_[row] > 0 ? own_stretch_[row] : facts_.stretch;
}

std::vector<std::uint64_t> Pass::recorded() const {
  std::vector<std::uint64_t> ns;
  for (const Row& row : rows_) {
    const std::uint64_t until = static_cast<std::uint64_t>(row.nominal) + row.later;
    ns.push_back((until - std::min(until, row.start)) / kNs);
  }
  return ns;
}

TimelineFacts Pass::run() {
  do run_ready();
  while (leave_round() || force_one());
  count_unreceived();
  facts_.end_ns = in_ns(facts_.end_ns + later_);
  for (std::size_t i = 0; i < lanes_.size(); ++i)
    facts_.lane_ends_ns[i] = in_ns(facts_.lane_ends_ns[i] + lane_later_[i]);
  for (const Rank& rank : ranks_)
    for (const auto& [call, count] : rank.operations.unmodelled()) facts_.unmodelled[call] += count;
  return std::move(facts_);
}

void Pass::run_ready() {
  for (;;) {
    std::uint32_t stream = 0;
    if (!ready_.empty()) {
      stream = ready_.front();
      ready_.pop_front();
    } else if (!ready_by_time_.empty()) {
      stream = ready_by_time_.begin()->second;
      ready_by_time_.erase(ready_by_time_.begin());
    } else {
      return;
    }
    run_turn(row(stream));
  }
}

std::vector<std::uint32_t> Pass::streams() const {
  std::vector<std::uint32_t> streams;
  for (const Row& row : rows_) streams.push_back(row.stream);
  return streams;
}

namespace {

/// What rank 0's clock showed when a rank continued after MPI_Init and the tool's start.
std::int64_t continued_ns(const RankFacts& facts) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 60;
  return facts.clock_begin_ns + static_cast<std::int64_t>(std::min(facts.startup_ns, kMost));
}

}  // namespace

void Pass::align_clocks() {
  std::int64_t first = INT64_MAX;
  for (const auto& [stream, facts] : trace_.facts)
    if (trace_.thread_of(stream) == 0) first = std::min(first, continued_ns(facts));
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    Row& row = rows_[i];
    const auto facts = trace_.facts.find(trace_.rank_of(row.stream));  // a rank has one clock
    if (facts == trace_.facts.end()) continue;
    const auto behind = static_cast<double>(continued_ns(facts->second) - first);
    row.clock = row.start =
        static_cast<std::uint64_t>(std::min(behind * facts_.stretch * kNs, kMostTicks));
    row.nominal = static_cast<std::int64_t>(row.clock);
    const double drift = static_cast<double>(facts->second.clock_drift_ppb) * 1e-9;
    row.drift = (1 + drift) * stretch_of(i) - 1;
    row.lane_clock.fill(row.clock);
  }
}

std::uint64_t Pass::aligned(const Row& row, std::uint64_t ns) {
  const double ticks = static_cast<double>(ns) * (1 + row.drift) * kNs;
  if (!(ticks < kMostTicks)) return static_cast<std::uint64_t>(kMostTicks);
  if (row.drift == 0) return ns * kNs;
  return static_cast<std::uint64_t>(std::max(ticks, 0.0) + 0.5);
}

bool Pass::present(std::int64_t rank) const {
  return rank >= 0 && static_cast<std::size_t>(rank) < rank_index_.size() &&
         rank_index_[static_cast<std::size_t>(rank)] >= 0;
}

void Pass::run_turn(Row& row) {
  RankOperations& operations = row.rank->operations;
  const bool shared = row.rank->streams.size() > 1;
  if (shared) operations.swap(row.present);
  run_row(row);
  if (shared) operations.swap(row.present);
}

// Threads that share channels are matched in the order of time, event by event; else each
// stream runs as far as it can.
void Pass::make_ready(Row& row) {
  if (trace_.threads > 1)
    ready_by_time_.emplace(row.has_event ? row.begin : row.clock, row.stream);
  else
    ready_.push_back(row.stream);
}

void Pass::run_row(Row& row) {
  const bool by_time = trace_.threads > 1;
  for (int turn = 0; turn < kTurn; ++turn) {
    if (!row.has_event) {
      if (stops_ && stops_at_round(row)) return;
      if (!fetch_event(row)) return;
      if (by_time) break;
    }
    if (!row.started && !has_objects(row)) {
      block(row);
      return;
    }
    if (!row.started) start_event(row);
    if (!resume(row)) {
      block(row);
      return;
    }
    end_event(row);
    if (by_time) break;
  }
  make_ready(row);
}

// What the rank's sequence has for others on the way is theirs to take up later.
bool Pass::next_event(Row& row) {
  RankOperations& operations = row.rank->operations;
  if (!row.early.empty()) {
    operations.swap(row.early.front());
    row.early.pop_front();
    return true;
  }
  while (operations.next()) {
    if (operations.followed().failed()) failed_.note(operations.followed(), operations.rank());
    if (operations.stream() == row.stream) return true;
    if (index_[operations.stream()] < 0) continue;
    RankOperations::Present read;
    operations.swap(read);
    this->row(read.at.stream).early.push_back(std::move(read));
  }
  return false;
}

namespace {

/// Of the compute time before an event, what came before its waiting; both grow alike.
std::uint64_t ahead_of_wait(const RankOperations& operations, std::uint64_t compute) {
  const std::uint64_t whole = operations.compute_ns(), ahead = operations.ahead_ns();
  if (ahead >= whole) return compute;
  const double share = static_cast<double>(ahead) / static_cast<double>(whole);
  return std::min(static_cast<std::uint64_t>(share * static_cast<double>(compute) + 0.5), compute);
}

}  // namespace

bool Pass::fetch_event(Row& row) {
  if (!next_event(row)) {
    row.done = true;
    return false;
  }
  const RankOperations& operations = row.rank->operations;
  row.has_event = true;
  row.started = row.waits = false;
  row.next = 0;
  row.compute = aligned(row, operations.compute_ns());
  row.wait = aligned(row, operations.waiting_ns());
  row.wait_begin = row.clock + ahead_of_wait(operations, row.compute);
  row.begin = row.clock + row.compute + row.wait;
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    auto compute = static_cast<double>(row.compute) / kNs;
    if (lanes_[i].compute) compute = lanes_[i].compute(operations, row.begin / kNs, compute);
    row.lane_begin[i] = row.lane_clock[i] + static_cast<std::uint64_t>(compute * kNs + 0.5);
  }
  row.earliest = row.ready = 0;
  row.cause = Cause();
  row.lane_cause.fill(0);
  row.since.assign(operations.operations().size(), in_ns(row.begin));
  row.from.assign(operations.operations().size(), row.stream);
  row.sent.assign(operations.operations().size(), kUnknownSize);
  return true;
}

// What another thread makes is used after that, where an order is sought and not just times.
bool Pass::has_objects(Row& row) {
  if (network_ != Network::kSynchronous || row.rank->streams.size() < 2 || row.forced) return true;
  if (!row.rank->operations.followed().uses.needs.empty())
    row.begin = std::max(row.begin, row.rank->made_until);
  row.waits_on_channel = false;
  row.waits_on_object = !row.rank->life.may_go(row.rank->operations.followed().uses);
  return !row.waits_on_object;
}

void Pass::start_event(Row& row) {
  row.started = true;
  if (trace_.threads > 1) number_operations(row);
  const RankOperations& operations = row.rank->operations;
  if (operations.matched() != nullptr) wake_threads(row);
  // What this thread gives to others is there before it waits itself.
  for (const Operation& operation : operations.operations()) {
    if (operation.kind == Step::kSend) {
      Begin begin = here(row);
      begin.bytes = operation.capacity;
      deliver(operation, begin);
    }
    if (operation.kind == Step::kBegin) arrive(row, operation);
    if (operation.kind == Step::kCancelled) row.rank->excused = true;
    note_posted(row, operation);
  }
}

bool Pass::resume(Row& row) {
  const auto operations = row.rank->operations.operations();
  for (; row.next < operations.size(); ++row.next) {
    const Operation& operation = operations[row.next];
    Begin since{row.begin, row.from[row.next]};
    const bool receives = operation.kind == Step::kReceive;
    if (!posted(row, operation)) return false;
    if (receives || operation.kind == Step::kEnd) {
      if (receives ? !take(row, operation, since) : !leave(row, operation, since)) return false;
      row.since[row.next] = in_ns(since.ns);
      row.from[row.next] = since.stream;
      row.waits = true;
    }
    row.sent[row.next] = since.bytes;
    if (row.rank->streams.size() > 1 && !posts(operation)) {
      row.rank->begun.erase(operation.request);
      row.rank->probed.erase(operation.message);
    }
  }
  return true;
}

void Pass::end_event(Row& row) {
  const RankOperations& at = row.rank->operations;
  const std::uint64_t time = std::max(aligned(row, at.communication_ns()), kNs);
  row.nominal = static_cast<std::int64_t>(static_cast<std::uint64_t>(row.nominal) + row.compute +
                                          row.wait + time);
  std::uint64_t end = row.begin + time;
  // A rank that is late makes up in what waits: it would have waited less.
  const auto on_time = static_cast<std::uint64_t>(std::max<std::int64_t>(row.nominal, 0));
  if (row.waits && on_time < end) end = std::max(on_time, row.begin + kNs);
  if (network_ == Network::kIdeal) {
    end = std::max(row.begin, row.earliest > 0 ? row.earliest - kNs : 0);
  } else if (row.earliest > end) {
    end = row.earliest;
    ++facts_.moved;
  } else if (row.waits && end > row.begin + kNs) {
    row.bound = true;
  }
  end_in_lanes(row, end);
  row.clock = end;
  row.has_event = row.forced = false;
  if (network_ == Network::kSynchronous && !at.followed().uses.makes.empty())
    row.rank->made_until = std::max(row.rank->made_until, std::max(row.begin, row.ready) + kNs);
  if (network_ == Network::kSynchronous && row.rank->streams.size() > 1 &&
      row.rank->life.pass(at.followed().uses))
    for (const std::uint32_t stream : row.rank->streams)
      if (Row& other = this->row(stream); other.waits_on_object && other.blocked) {
        other.waits_on_object = false;
        wake(other);
      }
  ++facts_.events;
  facts_.end_ns = std::max(facts_.end_ns, end);
  if (!wanted_.contains(at.rank())) return;
  TimedEvent event;
  event.at = &at;
  event.later_ns = in_ns(later_);
  event.begin_ns = in_ns(row.begin);
  event.end_ns = in_ns(end);
  event.end_rest = static_cast<std::uint32_t>((end + kNs / 2) % kNs);
  event.wait_begin_ns = in_ns(row.wait_begin);
  event.wait_end_ns = in_ns(row.wait_begin + row.wait);
  event.since_ns = row.since;
  event.since_stream = row.from;
  event.sent_bytes = row.sent;
  event.cause = row.cause;
  event.cause.is_later = row.ready > row.begin;
  sink_(event);
}

void Pass::end_in_lanes(Row& row, std::uint64_t end) {
  const std::uint64_t ready = std::max(row.begin, row.ready);
  const double transfer = end > ready ? static_cast<double>(end - ready) / kNs : 0;
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    double takes = transfer;
    if (lanes_[i].transfer)
      takes = lanes_[i].transfer(row.rank->operations, row.begin / kNs, transfer);
    row.lane_clock[i] = std::max(row.lane_begin[i], row.lane_cause[i]) +
                        static_cast<std::uint64_t>(takes * kNs + 0.5);
    facts_.lane_ends_ns[i] = std::max(facts_.lane_ends_ns[i], row.lane_clock[i]);
  }
}

void Pass::wait_for(Row& row, const Begin& begin, Cause::Kind kind) {
  if (begin.ns + kNs > row.earliest) {
    row.earliest = begin.ns + kNs;
    row.ready = begin.ns;
    row.cause = {kind,       begin.stream,    begin.event,        begin.path,
                 begin.call, in_ns(begin.ns), in_ns(begin.waited)};
  }
  for (std::size_t i = 0; i < lanes_.size(); ++i)
    row.lane_cause[i] = std::max(row.lane_cause[i], begin.lanes[i]);
}

Begin Pass::here(const Row& row) {
  const RankOperations& at = row.rank->operations;
  Begin begin{row.begin, row.stream, at.number()};
  begin.path = at.event().path;
  begin.call = at.event().node->call;
  begin.waited = row.wait;
  begin.lanes = row.lane_begin;
  return begin;
}

void Pass::give_up(Row& row, const std::string& why) {
  row.forced = false;
  ++facts_.unmatched;
  name("deadlock", here(row), row.rank->operations.call().name, "never ends: " + why);
}

void Pass::name(const char* kind, const Begin& at, const std::string& call, const std::string& why,
                const FailedReceive& failed) {
  if (facts_.first_unmatched.size() < kMostNamed)
    facts_.first_unmatched.push_back({kind, at.stream, at.event, call, why, failed});
}

bool Pass::posts(const Operation& operation) {
  return operation.request != 0 &&
         (operation.kind == Step::kSend || operation.kind == Step::kPost ||
          operation.kind == Step::kBegin);
}

}  // namespace timeline

namespace {

using timeline::kMostNs;

/// When the last rank came to MPI_Finalize, on the timeline, which is without the tool's own work;
/// 0: not known.
std::uint64_t end_of_run(const Trace& trace) {
  if (trace.timing == "none") return 0;
  if (!trace.complete) return run_length_ns(trace);
  const bool aligned = clocks_known(trace);
  double first = kMostNs, last = 0;
  for (const auto& [stream, facts] : trace.facts) {
    if (trace.thread_of(stream) != 0) continue;
    if (facts.run_ns <= facts.tool_ns) return 0;
    const double begin = aligned ? static_cast<double>(timeline::continued_ns(facts)) : 0;
    const double drift = aligned ? static_cast<double>(facts.clock_drift_ppb) * 1e-9 : 0;
    first = std::min(first, begin);
    last = std::max(last, begin + static_cast<double>(facts.run_ns - facts.tool_ns) * (1 + drift));
  }
  return static_cast<std::uint64_t>(std::clamp(last - first, 0.0, kMostNs));
}

}  // namespace

namespace {

/// Times of single instances lack the tool's work in each call, and before format 1.9 are rounded:
/// over many of them ranks would drift apart. Each rank's own run time says by how much. 0: it does
/// not.
std::vector<double> own_stretches(const Trace& trace, const std::vector<std::uint64_t>& recorded,
                                  const std::vector<std::uint32_t>& streams) {
  constexpr double kMost = 1.0 / 64;
  std::vector<double> own(recorded.size(), 0);
  if (trace.timing != "full" || trace.threads > 1 || !trace.complete) return own;
  for (std::size_t i = 0; i < own.size(); ++i) {
    const auto facts = trace.facts.find(streams[i]);
    if (facts == trace.facts.end() || recorded[i] == 0) continue;
    const RankFacts& of = facts->second;
    const double measured = static_cast<double>(of.run_ns) - static_cast<double>(of.tool_ns);
    const double stretch = measured / static_cast<double>(recorded[i]);
    if (std::abs(stretch - 1) < kMost) own[i] = stretch;
  }
  return own;
}

Result<TimelineFacts> run_both(const Trace& trace, const RankList& ranks,
                               const std::function<void(const TimedEvent&)>& sink, bool compares,
                               Network network, std::span<const Lane> lanes,
                               const RoundWatch* watch, Loops loops) {
  static const RoundWatch kNobody;
  double stretch = 1;
  std::vector<double> own;
  if (const std::uint64_t ends = end_of_run(trace); ends > 0 && !compares) {
    const RankList nobody;
    const std::function<void(const TimedEvent&)> ignore = [](const TimedEvent&) {};
    timeline::Pass ahead(trace, nobody, ignore, compares, Network::kRecorded, 1, {},
                         loops == Loops::kAtOnce ? &kNobody : nullptr);
    if (const Status ready = ahead.prepare(); !ready) return ready.error();
    const TimelineFacts first = ahead.run();
    own = own_stretches(trace, ahead.recorded(), ahead.streams());
    if (first.end_ns > 0) stretch = static_cast<double>(ends) / static_cast<double>(first.end_ns);
  }
  timeline::Pass pass(trace, ranks, sink, compares, network, stretch, lanes, watch);
  pass.stretch_rows(std::move(own));
  if (const Status ready = pass.prepare(); !ready) return ready.error();
  return pass.run();
}

}  // namespace

Result<TimelineFacts> run_timeline(const Trace& trace, const RankList& ranks,
                                   const std::function<void(const TimedEvent&)>& sink,
                                   bool compares, Network network, const RoundWatch* watch) {
  return run_both(trace, ranks, sink, compares, network, {}, watch, Loops::kAtOnce);
}

Result<TimelineFacts> run_facts(const Trace& trace, Network network, Loops loops) {
  static const RoundWatch kNobody;
  return run_both(
      trace, RankList(), [](const TimedEvent&) {}, false, network, {},
      loops == Loops::kAtOnce ? &kNobody : nullptr, loops);
}

Result<TimelineFacts> run_lanes(const Trace& trace, std::span<const Lane> lanes, Loops loops) {
  static const RoundWatch kNobody;
  return run_both(
      trace, RankList(), [](const TimedEvent&) {}, false, Network::kRecorded,
      lanes.first(std::min(lanes.size(), kMostLanes)), loops == Loops::kAtOnce ? &kNobody : nullptr,
      loops);
}

std::string timeline_text(const Trace& trace) {
  if (trace.timing == "none") return "no times recorded: only the order of events is meant";
  const std::string clocks = clocks_known(trace) ? ", clocks of ranks aligned" : "";
  if (trace.timing == "full")
    return "times as recorded (full timing)" + clocks +
           ", moved where an effect would precede its cause";
  const std::size_t own = trace.outliers.all().size();
  const std::string outliers =
      own == 0 ? "" : ", those of " + std::to_string(own) + " outliers as recorded";
  return "times reconstructed from histograms (means)" + outliers + clocks +
         ", moved where an effect would precede its cause";
}

std::uint64_t message_id(const Operation& operation) {
  return combine(KeyHash{}(operation.channel), operation.sequence);
}

}  // namespace chameleon::analysis
