// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/timeline.h"

#include <algorithm>
#include <deque>
#include <set>

namespace chameleon::analysis {
namespace {

using Step = Operation::Kind;

/// Events a rank runs before the next one has its turn: bounds what is in flight.
constexpr int kTurn = 1024;
/// What did not match, by name.
constexpr std::size_t kMostNamed = 10;

/// Where and when something began that others wait for.
struct Begin {
  std::uint64_t ns = 0;
  std::uint32_t stream = 0;
  std::uint64_t event = 0;            ///< number in the stream
  std::uint64_t place = 0;            ///< with several threads: in the channel or among collectives
  std::int64_t bytes = kUnknownSize;  ///< of a message
};

/// Instead of a time: a message that was received, or is of a thread that has not come to it.
constexpr std::uint64_t kReceived = UINT64_MAX, kNotSent = UINT64_MAX - 1;

/// Messages of a channel that have been sent: begin of the send, by place in the channel.
struct Sent {
  std::deque<Begin> begins;
  std::uint64_t first = 0;
};

struct Meeting {
  std::uint32_t expected = 0, arrived = 0, left = 0;
  bool root_came = false;
  std::uint64_t last_ns = 0, root_ns = 0;
  std::vector<std::uint32_t> waiting;  ///< streams
};

/// A rank: its events come in one sequence, which its rows take apart again.
struct Rank {
  explicit Rank(RankOperations operations_) : operations(std::move(operations_)) {}

  RankOperations operations;
  std::vector<std::uint32_t> streams;
  /// By request: collectives; and whatever has requests, where another thread may complete it.
  std::unordered_map<std::uint64_t, Begin> begun;
  std::unordered_map<std::uint64_t, Begin> probed;               ///< likewise, by matched probe
  std::unordered_map<std::uint64_t, std::uint64_t> collectives;  ///< begun, by context
  bool excused = false;  ///< a receive was cancelled: which message it left is not told
};

/// A stream, which runs until it must wait. Of a rank with several, the row keeps its present
/// event while others have their turn, and those of its events that were read before their turn.
struct Row {
  Row(Rank& rank_, std::uint32_t stream_) : rank(&rank_), stream(stream_) {}

  Rank* rank;
  std::uint32_t stream;
  RankOperations::Present present;
  std::deque<RankOperations::Present> early;
  bool has_event = false, started = false, done = false, blocked = false, forced = false;
  double drift = 0;           ///< what to add to a ns of this rank's clock
  double owed = 0;            ///< of that, less than a ns not yet added
  std::uint64_t clock = 0;    ///< end of the last event
  std::uint64_t nominal = 0;  ///< the same without what causality moved
  std::uint64_t compute = 0, begin = 0;
  std::uint64_t cause = 0;  ///< earliest end so far of the present event
  bool waits = false;       ///< the present event waits for others
  std::size_t next = 0;     ///< operation of the event not yet dealt with
  std::vector<std::uint64_t> since;
  std::vector<std::uint32_t> from;
  std::vector<std::int64_t> sent;
  bool waits_on_channel = false;
  ChannelKey channel;
};

class Pass {
 public:
  Pass(const Trace& trace, const RankList& ranks,
       const std::function<void(const TimedEvent&)>& sink, bool compares)
      : trace_(trace), wanted_(ranks), sink_(sink), plan_(plan_trace(trace, compares)) {}

  Status prepare() {
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
    if (clocks_known(trace_)) align_clocks();
    return Unit{};
  }

  TimelineFacts run() {
    do {
      for (;;) {
        std::uint32_t stream = 0;
        if (!ready_.empty()) {
          stream = ready_.front();
          ready_.pop_front();
        } else if (!ready_by_time_.empty()) {
          stream = ready_by_time_.begin()->second;
          ready_by_time_.erase(ready_by_time_.begin());
        } else {
          break;
        }
        run_turn(row(stream));
      }
    } while (force_one());
    count_unreceived();
    for (const Rank& rank : ranks_)
      for (const auto& [call, count] : rank.operations.unmodelled())
        facts_.unmodelled[call] += count;
    return std::move(facts_);
  }

 private:
  void align_clocks() {
    std::int64_t first = INT64_MAX;
    for (const auto& [stream, facts] : trace_.facts)
      if (trace_.thread_of(stream) == 0) first = std::min(first, facts.clock_begin_ns);
    for (Row& row : rows_) {
      const auto facts = trace_.facts.find(trace_.rank_of(row.stream));  // a rank has one clock
      if (facts == trace_.facts.end()) continue;
      row.clock = row.nominal = static_cast<std::uint64_t>(facts->second.clock_begin_ns - first);
      row.drift = static_cast<double>(facts->second.clock_drift_ppb) * 1e-9;
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

  Row& row(std::uint32_t stream) { return rows_[static_cast<std::size_t>(index_[stream])]; }
  bool present(std::int64_t rank) const {
    return rank >= 0 && static_cast<std::size_t>(rank) < rank_index_.size() &&
           rank_index_[static_cast<std::size_t>(rank)] >= 0;
  }

  void run_turn(Row& row) {
    RankOperations& operations = row.rank->operations;
    const bool shared = row.rank->streams.size() > 1;
    if (shared) operations.swap(row.present);
    run_row(row);
    if (shared) operations.swap(row.present);
  }

  // Threads that share channels are matched in the order of time, event by event; else each
  // stream runs as far as it can.
  void make_ready(Row& row) {
    if (trace_.threads > 1)
      ready_by_time_.emplace(row.has_event ? row.begin : row.clock, row.stream);
    else
      ready_.push_back(row.stream);
  }

  void run_row(Row& row) {
    const bool by_time = trace_.threads > 1;
    for (int turn = 0; turn < kTurn; ++turn) {
      if (!row.has_event) {
        if (!fetch_event(row)) return;
        if (by_time) break;
      }
      if (!row.started) start_event(row);
      if (!resume(row)) {
        row.blocked = true;
        return;
      }
      end_event(row);
      if (by_time) break;
    }
    make_ready(row);
  }

  // What the rank's sequence has for others on the way is theirs to take up later.
  bool next_event(Row& row) {
    RankOperations& operations = row.rank->operations;
    if (!row.early.empty()) {
      operations.swap(row.early.front());
      row.early.pop_front();
      return true;
    }
    while (operations.next()) {
      if (operations.stream() == row.stream) return true;
      if (index_[operations.stream()] < 0) continue;
      RankOperations::Present read;
      operations.swap(read);
      this->row(read.stream).early.push_back(std::move(read));
    }
    return false;
  }

  bool fetch_event(Row& row) {
    if (!next_event(row)) {
      row.done = true;
      return false;
    }
    const RankOperations& operations = row.rank->operations;
    row.has_event = true;
    row.started = row.waits = false;
    row.next = 0;
    row.compute = aligned(row, operations.compute_ns());
    row.begin = row.clock + row.compute;
    row.cause = 0;
    row.since.assign(operations.operations().size(), row.begin);
    row.from.assign(operations.operations().size(), row.stream);
    row.sent.assign(operations.operations().size(), kUnknownSize);
    return true;
  }

  void start_event(Row& row) {
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

  // Places in channels and among collectives, in the order in which threads come to them here. A
  // completion has the place of what it completes, once that is begun, and a matched receive that
  // of its probe.
  void number_operations(Row& row) {
    RankOperations::Present present;
    row.rank->operations.swap(present);
    std::uint64_t collective = kLastNumber;
    if (present.has_matched) {
      const std::uint64_t place = receives_[present.matched.channel]++;
      if (row.rank->streams.size() > 1)
        row.rank->probed[present.matched.message] = {row.begin, row.stream, present.number, place};
    }
    for (Operation& operation : present.operations) {
      if (operation.kind == Step::kSend)
        operation.sequence = sends_[operation.channel]++;
      else if (operation.message != 0)
        continue;
      else if (operation.kind == Step::kPost && operation.sequence != kNoSequence)
        operation.sequence = receives_[operation.channel]++;
      else if (operation.kind == Step::kReceive && operation.request == 0)
        operation.sequence = receives_[operation.channel]++;
      else if (operation.kind == Step::kBegin && operation.number != kLastNumber)
        operation.number = collective = row.rank->collectives[operation.context]++;
      else if (operation.kind == Step::kEnd && operation.request == 0)
        operation.number = collective;
    }
    row.rank->operations.swap(present);
  }

  void take_place(Row& row, std::uint64_t place) {
    RankOperations::Present present;
    row.rank->operations.swap(present);
    Operation& operation = present.operations[row.next];
    (operation.kind == Step::kReceive ? operation.sequence : operation.number) = place;
    row.rank->operations.swap(present);
  }

  bool resume(Row& row) {
    const auto operations = row.rank->operations.operations();
    for (; row.next < operations.size(); ++row.next) {
      const Operation& operation = operations[row.next];
      Begin since{row.since[row.next], row.from[row.next]};
      const bool receives = operation.kind == Step::kReceive;
      if (!posted(row, operation)) return false;
      if (receives || operation.kind == Step::kEnd) {
        if (receives ? !take(row, operation, since) : !leave(row, operation, since)) return false;
        row.since[row.next] = since.ns;
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

  void end_event(Row& row) {
    const RankOperations& at = row.rank->operations;
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
    event.since_stream = row.from;
    event.sent_bytes = row.sent;
    sink_(event);
  }

  static Begin here(const Row& row) {
    return {row.begin, row.stream, row.rank->operations.number()};
  }

  void give_up(Row& row, const std::string& why) {
    row.forced = false;
    ++facts_.unmatched;
    name("deadlock", here(row), row.rank->operations.call().name, "never ends: " + why);
  }

  void name(const char* kind, const Begin& at, const std::string& call, const std::string& why) {
    if (facts_.first_unmatched.size() < kMostNamed)
      facts_.first_unmatched.push_back({kind, at.stream, at.event, call, why});
  }

  void count_unreceived() {
    for (const auto& [channel, sent] : sent_) {
      if (rank(channel.dest).excused) continue;
      std::uint64_t left = 0;
      const Begin* first = nullptr;
      for (const Begin& begin : sent.begins)
        if (begin.ns < kNotSent && left++ == 0) first = &begin;
      if (first == nullptr) continue;
      facts_.unreceived += left;
      name("unreceived", *first, "",
           std::to_string(left) + (left == 1 ? " message" : " messages") + " to world rank " +
               std::to_string(channel.dest) + " with tag " + std::to_string(channel.tag) +
               (left == 1 ? " is" : " are") + " never received (the first named)");
    }
  }

  static bool posts(const Operation& operation) {
    return operation.request != 0 &&
           (operation.kind == Step::kSend || operation.kind == Step::kPost ||
            operation.kind == Step::kBegin);
  }

  void note_posted(Row& row, const Operation& operation) {
    if (row.rank->streams.size() < 2 || !posts(operation)) return;
    Begin begun = here(row);
    begun.place = operation.kind == Step::kBegin ? operation.number : operation.sequence;
    row.rank->begun[operation.request] = begun;
    wake_threads(row);
  }

  // Those of the rank that wait for what another of its threads begins.
  void wake_threads(Row& row) {
    for (const std::uint32_t stream : row.rank->streams) {
      Row& other = this->row(stream);
      if (other.blocked && !other.waits_on_channel) wake(other);
    }
  }

  // What another thread posted completes after that.
  bool posted(Row& row, const Operation& operation) {
    if (row.rank->streams.size() < 2 || posts(operation)) return true;
    if (operation.request != 0 &&
        !begun(row, operation, row.rank->begun, operation.request, "its request is never posted"))
      return false;
    return operation.message == 0 || begun(row, operation, row.rank->probed, operation.message,
                                           "its message is never probed");
  }

  bool begun(Row& row, const Operation& operation, std::unordered_map<std::uint64_t, Begin>& among,
             std::uint64_t id, const char* why) {
    const auto found = among.find(id);
    if (found == among.end()) {
      if (!row.forced) {
        row.waits_on_channel = false;
        return false;
      }
      give_up(row, why);
      among[id] = here(row);
      among[id].place = kNoSequence;
      return true;
    }
    if (operation.kind == Step::kReceive || operation.kind == Step::kEnd)
      take_place(row, found->second.place);
    if (found->second.stream != row.stream) row.cause = std::max(row.cause, found->second.ns + 1);
    return true;
  }

  void deliver(const Operation& operation, Begin begin) {
    if (!present(operation.channel.dest)) return;
    Sent& sent = sent_[operation.channel];
    if (operation.sequence < sent.first) return;
    const auto at = static_cast<std::size_t>(operation.sequence - sent.first);
    // Threads that share a channel come to it in another order than they are read.
    if (sent.begins.size() <= at) sent.begins.resize(at + 1, {kNotSent});
    sent.begins[at] = begin;
    for (const std::uint32_t stream : rank(operation.channel.dest).streams) {
      Row& to = row(stream);
      if (to.blocked && to.waits_on_channel && to.channel == operation.channel) wake(to);
    }
  }

  bool take(Row& row, const Operation& operation, Begin& since) {
    if (!present(operation.channel.source)) return true;
    Sent& sent = sent_[operation.channel];
    const std::uint64_t at = operation.sequence - sent.first;
    if (operation.sequence < sent.first || at >= sent.begins.size() ||
        sent.begins[at].ns >= kNotSent) {
      if (row.forced) {
        give_up(row, "no message from world rank " + std::to_string(operation.channel.source) +
                         " with tag " + std::to_string(operation.channel.tag) + " is left for it");
        return true;
      }
      row.waits_on_channel = true;
      row.channel = operation.channel;
      return false;
    }
    since = sent.begins[at];
    sent.begins[at].ns = kReceived;
    while (!sent.begins.empty() && sent.begins.front().ns == kReceived) {
      sent.begins.pop_front();
      ++sent.first;
    }
    row.cause = std::max(row.cause, since.ns + 1);
    return true;
  }

  void arrive(Row& row, const Operation& operation) {
    if (operation.request != 0) row.rank->begun[operation.request] = here(row);
    const Communicator* comm = row.rank->operations.communicator();
    Meeting& meeting = meetings_[{operation.context, operation.number}];
    if (meeting.expected == 0)
      meeting.expected = std::max<std::uint32_t>(members(operation, comm), 1);
    ++meeting.arrived;
    meeting.last_ns = std::max(meeting.last_ns, row.begin);
    if (operation.root_world == row.rank->operations.rank()) {
      meeting.root_came = true;
      meeting.root_ns = row.begin;
    }
    if (meeting.arrived < meeting.expected &&
        !(meeting.root_came && operation.waits == Waits::kForRoot))
      return;
    for (const std::uint32_t stream : meeting.waiting) wake(this->row(stream));
    meeting.waiting.clear();
  }

  // Those who can come: the trace may hold some ranks only.
  std::uint32_t members(const Operation& operation, const Communicator* comm) const {
    if (all_here_ || comm == nullptr) return operation.members;
    std::uint32_t here = 0;
    for (const WorldRanks* ranks : {&comm->local, &comm->remote})
      for (std::int32_t i = 0; i < ranks->count; ++i) here += present((*ranks)[i]) ? 1 : 0;
    return here;
  }

  bool leave(Row& row, const Operation& operation, Begin& since) {
    if (operation.request != 0) {
      const auto begun = row.rank->begun.find(operation.request);
      if (begun != row.rank->begun.end()) {
        since = begun->second;
        row.rank->begun.erase(begun);
      }
    }
    const auto found = meetings_.find({operation.context, operation.number});
    if (found == meetings_.end()) return true;
    Meeting& meeting = found->second;
    const bool all = meeting.arrived >= meeting.expected;
    const bool is_root = operation.root_world == row.rank->operations.rank();
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
      give_up(row, "only " + std::to_string(meeting.arrived) + " of " +
                       std::to_string(meeting.expected) + " ranks make this collective call");
      ++facts_.unmatched_collectives;
      there = true;
    }
    if (!there) {
      if (operation.request != 0) row.rank->begun[operation.request] = since;
      meeting.waiting.push_back(row.stream);
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
    make_ready(row);
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
  Rank& rank(std::uint32_t rank) { return ranks_[static_cast<std::size_t>(rank_index_[rank])]; }

  std::deque<Rank> ranks_;
  std::deque<Row> rows_;
  std::vector<std::int64_t> index_;       ///< row of a stream, or -1
  std::vector<std::int64_t> rank_index_;  ///< the same of ranks
  bool all_here_ = false;
  std::deque<std::uint32_t> ready_;
  std::set<std::pair<std::uint64_t, std::uint32_t>> ready_by_time_;  ///< with several threads
  std::unordered_map<ChannelKey, std::uint64_t, KeyHash> sends_, receives_;  ///< likewise
  std::unordered_map<ChannelKey, Sent, KeyHash> sent_;
  std::unordered_map<CollectiveKey, Meeting, KeyHash> meetings_;
  TimelineFacts facts_;
};

}  // namespace

Result<TimelineFacts> run_timeline(const Trace& trace, const RankList& ranks,
                                   const std::function<void(const TimedEvent&)>& sink,
                                   bool compares) {
  Pass pass(trace, ranks, sink, compares);
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

}  // namespace chameleon::analysis
