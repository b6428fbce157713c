// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/timeline.h"

#include <algorithm>
#include <deque>

namespace chameleon {
namespace {

using Kind = Operation::Kind;

/// Events a rank runs before the next one has its turn: bounds what is in flight.
constexpr int kTurn = 1024;

/// Messages of a channel that have been sent: begin of the send, by place in the channel.
struct Sent {
  std::deque<std::uint64_t> begins;  ///< UINT64_MAX: received
  std::uint64_t first = 0;
};

struct Meeting {
  std::uint32_t expected = 0, arrived = 0, left = 0;
  bool root_came = false;
  std::uint64_t last_ns = 0, root_ns = 0;
  std::vector<std::uint32_t> waiting;
};

struct Row {
  explicit Row(RankOperations operations_) : operations(std::move(operations_)) {}

  RankOperations operations;
  bool has_event = false, done = false, blocked = false, forced = false;
  double drift = 0;           ///< what to add to a ns of this rank's clock
  double owed = 0;            ///< of that, less than a ns not yet added
  std::uint64_t clock = 0;    ///< end of the last event
  std::uint64_t nominal = 0;  ///< the same without what causality moved
  std::uint64_t compute = 0, begin = 0;
  std::uint64_t cause = 0;    ///< earliest end so far of the present event
  bool waits = false;         ///< the present event waits for others
  std::size_t next = 0;       ///< operation of the event not yet dealt with
  std::vector<std::uint64_t> since;
  bool waits_on_channel = false;
  ChannelKey channel;
  std::unordered_map<std::uint64_t, std::uint64_t> begun;  ///< collectives, by request
};

class Pass {
 public:
  Pass(const Trace& trace, const RankList& ranks,
       const std::function<void(const TimedEvent&)>& sink)
      : trace_(trace), wanted_(ranks), sink_(sink), plan_(plan_trace(trace)) {}

  Status prepare() {
    std::uint32_t world = trace_.world_size;
    for (const RankList::Interval& interval : trace_.ranks.intervals())
      world = std::max(world, interval.last + 1);
    index_.assign(world, -1);
    for (const std::uint32_t rank : trace_.ranks.ranks()) {
      Result<RankOperations> operations = RankOperations::make(trace_, plan_, rank);
      if (!operations) return operations.error();
      index_[rank] = static_cast<std::int64_t>(rows_.size());
      rows_.emplace_back(std::move(*operations));
      ready_.push_back(rank);
    }
    if (clocks_known(trace_)) align_clocks();
    return Unit{};
  }

  TimelineFacts run() {
    do {
      while (!ready_.empty()) {
        const std::uint32_t rank = ready_.front();
        ready_.pop_front();
        run_rank(row(rank));
      }
    } while (force_one());
    for (const Row& row : rows_)
      for (const auto& [call, count] : row.operations.unmodelled())
        facts_.unmodelled[call] += count;
    return std::move(facts_);
  }

 private:
  void align_clocks() {
    std::int64_t first = INT64_MAX;
    for (const auto& [rank, facts] : trace_.facts) first = std::min(first, facts.clock.begin_ns);
    for (const auto& [rank, facts] : trace_.facts) {
      if (!present(rank)) continue;
      row(rank).clock = row(rank).nominal = static_cast<std::uint64_t>(facts.clock.begin_ns - first);
      row(rank).drift = static_cast<double>(facts.clock.drift_ppb) * 1e-9;
    }
  }

  /// A duration on a rank's clock, on rank 0's.
  static std::uint64_t aligned(Row& row, std::uint64_t ns) {
    if (row.drift == 0) return ns;
    row.owed += row.drift * static_cast<double>(ns);
    const auto whole = static_cast<std::int64_t>(row.owed);
    const std::int64_t sum = static_cast<std::int64_t>(ns) + whole;
    if (sum < 0) return ns;
    row.owed -= static_cast<double>(whole);
    return static_cast<std::uint64_t>(sum);
  }

  Row& row(std::uint32_t rank) { return rows_[static_cast<std::size_t>(index_[rank])]; }
  bool present(std::int64_t rank) const {
    return rank >= 0 && static_cast<std::size_t>(rank) < index_.size() &&
           index_[static_cast<std::size_t>(rank)] >= 0;
  }

  void run_rank(Row& row) {
    for (int turn = 0; turn < kTurn; ++turn) {
      if (!row.has_event && !begin_event(row)) return;
      if (!resume(row)) {
        row.blocked = true;
        return;
      }
      end_event(row);
    }
    ready_.push_back(row.operations.rank());
  }

  bool begin_event(Row& row) {
    if (!row.operations.next()) {
      row.done = true;
      return false;
    }
    row.has_event = true;
    row.waits = false;
    row.next = 0;
    row.compute = aligned(row, row.operations.compute_ns());
    row.begin = row.clock + row.compute;
    row.cause = 0;
    row.since.assign(row.operations.operations().size(), row.begin);
    // What this rank gives to others is there before it waits itself.
    for (const Operation& operation : row.operations.operations()) {
      if (operation.kind == Kind::kSend) deliver(operation, row.begin);
      if (operation.kind == Kind::kBegin) arrive(row, operation);
    }
    return true;
  }

  bool resume(Row& row) {
    const auto operations = row.operations.operations();
    for (; row.next < operations.size(); ++row.next) {
      const Operation& operation = operations[row.next];
      std::uint64_t& since = row.since[row.next];
      if (operation.kind == Kind::kReceive) {
        if (!take(row, operation, since)) return false;
        row.waits = true;
      } else if (operation.kind == Kind::kEnd) {
        if (!leave(row, operation, since)) return false;
        row.waits = true;
      }
    }
    return true;
  }

  void end_event(Row& row) {
    const RankOperations& at = row.operations;
    const std::uint64_t time = std::max<std::uint64_t>(aligned(row, at.communication_ns()), 1);
    row.nominal += row.compute + time;
    std::uint64_t end = row.begin + time;
    // A rank that is late makes up in what waits: it would have waited less.
    if (row.waits && row.nominal < end)
      end = std::max(row.nominal, row.begin + std::min(time, at.shortest_ns()));
    if (row.cause > end) {
      end = row.cause;
      ++facts_.moved;
    }
    row.clock = end;
    row.has_event = row.forced = false;
    ++facts_.events;
    facts_.end_ns = std::max(facts_.end_ns, end);
    if (!wanted_.contains(at.rank())) return;
    TimedEvent event;
    event.at = &at;
    event.begin_ns = row.begin;
    event.end_ns = end;
    event.since_ns = row.since;
    sink_(event);
  }

  void deliver(const Operation& operation, std::uint64_t begin) {
    if (!present(operation.channel.dest)) return;
    sent_[operation.channel].begins.push_back(begin);
    Row& to = row(operation.channel.dest);
    if (to.blocked && to.waits_on_channel && to.channel == operation.channel) wake(to);
  }

  bool take(Row& row, const Operation& operation, std::uint64_t& since) {
    if (!present(operation.channel.source)) return true;
    Sent& sent = sent_[operation.channel];
    const std::uint64_t at = operation.sequence - sent.first;
    if (operation.sequence < sent.first || at >= sent.begins.size()) {
      if (row.forced) {
        row.forced = false;
        ++facts_.unmatched;
        return true;
      }
      row.waits_on_channel = true;
      row.channel = operation.channel;
      return false;
    }
    since = sent.begins[at];
    sent.begins[at] = UINT64_MAX;
    while (!sent.begins.empty() && sent.begins.front() == UINT64_MAX) {
      sent.begins.pop_front();
      ++sent.first;
    }
    row.cause = std::max(row.cause, since + 1);
    return true;
  }

  void arrive(Row& row, const Operation& operation) {
    if (operation.request != 0) row.begun[operation.request] = row.begin;
    const Communicator* comm = row.operations.communicator();
    Meeting& meeting = meetings_[{operation.context, operation.number}];
    if (meeting.expected == 0)
      meeting.expected = std::max<std::uint32_t>(members(operation, comm), 1);
    ++meeting.arrived;
    meeting.last_ns = std::max(meeting.last_ns, row.begin);
    if (operation.root_world == row.operations.rank()) {
      meeting.root_came = true;
      meeting.root_ns = row.begin;
    }
    if (meeting.arrived < meeting.expected &&
        !(meeting.root_came && operation.waits == Waits::kForRoot))
      return;
    for (const std::uint32_t rank : meeting.waiting) wake(this->row(rank));
    meeting.waiting.clear();
  }

  // Those who can come: the trace may hold some ranks only.
  std::uint32_t members(const Operation& operation, const Communicator* comm) const {
    if (rows_.size() == index_.size() || comm == nullptr) return operation.members;
    std::uint32_t here = 0;
    for (const WorldRanks* ranks : {&comm->local, &comm->remote})
      for (std::int32_t i = 0; i < ranks->count; ++i) here += present((*ranks)[i]) ? 1 : 0;
    return here;
  }

  bool leave(Row& row, const Operation& operation, std::uint64_t& since) {
    if (operation.request != 0) {
      since = row.begun[operation.request];
      row.begun.erase(operation.request);
    }
    const auto found = meetings_.find({operation.context, operation.number});
    if (found == meetings_.end()) return true;
    Meeting& meeting = found->second;
    const bool all = meeting.arrived >= meeting.expected;
    const bool is_root = operation.root_world == row.operations.rank();
    bool there = true;
    std::uint64_t cause = 0;
    switch (operation.waits) {
      case Waits::kForAll:
        there = all;
        cause = meeting.last_ns;
        break;
      case Waits::kForRoot:
        there = meeting.root_came || all;
        cause = meeting.root_ns;
        break;
      case Waits::kRootForAll:
        there = all || !is_root;
        cause = is_root ? meeting.last_ns : 0;
        break;
      case Waits::kForNobody: break;
    }
    if (!there && row.forced) {
      row.forced = false;
      ++facts_.unmatched;
      there = true;
    }
    if (!there) {
      if (operation.request != 0) row.begun[operation.request] = since;
      meeting.waiting.push_back(row.operations.rank());
      row.waits_on_channel = false;
      return false;
    }
    if (cause > 0) row.cause = std::max(row.cause, cause + 1);
    if (++meeting.left >= meeting.expected) meetings_.erase(found);
    return true;
  }

  void wake(Row& row) {
    if (!row.blocked) return;
    row.blocked = false;
    ready_.push_back(row.operations.rank());
  }

  // The earliest of those that wait goes on without what it waits for.
  bool force_one() {
    Row* earliest = nullptr;
    for (Row& row : rows_)
      if (row.blocked && (earliest == nullptr || row.begin < earliest->begin)) earliest = &row;
    if (earliest == nullptr) return false;
    earliest->forced = true;
    wake(*earliest);
    return true;
  }

  const Trace& trace_;
  const RankList& wanted_;
  const std::function<void(const TimedEvent&)>& sink_;
  TracePlan plan_;
  std::deque<Row> rows_;
  std::vector<std::int64_t> index_;
  std::deque<std::uint32_t> ready_;
  std::unordered_map<ChannelKey, Sent, KeyHash> sent_;
  std::unordered_map<CollectiveKey, Meeting, KeyHash> meetings_;
  TimelineFacts facts_;
};

}  // namespace

Result<TimelineFacts> run_timeline(const Trace& trace, const RankList& ranks,
                                   const std::function<void(const TimedEvent&)>& sink) {
  Pass pass(trace, ranks, sink);
  if (const Status ready = pass.prepare(); !ready) return ready.error();
  return pass.run();
}

std::string timeline_text(const Trace& trace) {
  if (trace.timing == "none") return "no times recorded: only the order of events is meant";
  const std::string clocks = clocks_known(trace) ? ", clocks of ranks aligned" : "";
  if (trace.timing == "full")
    return "times as recorded (full timing)" + clocks +
           ", moved where an effect would precede its cause";
  return "times reconstructed from histograms (means)" + clocks +
         ", moved where an effect would precede its cause";
}

std::uint64_t message_id(const Operation& operation) {
  return combine(KeyHash{}(operation.channel), operation.sequence);
}

}  // namespace chameleon
