// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The pass behind `run_timeline`: every stream is run until it must wait. Split over three files:
/// time and turns (timeline.cpp), what streams wait for (timeline_match.cpp), and iterations that
/// others stand for (timeline_rounds.cpp). Times are in ticks of 1/1024 ns: durations that a
/// stretch makes longer are the same whenever they come, and their sums are not off.

#include <algorithm>
#include <array>
#include <deque>
#include <optional>
#include <set>

#include "analysis/lower_ranks.h"
#include "analysis/steady_loops.h"
#include "analysis/timeline.h"

namespace chameleon::analysis {

namespace timeline {

using Step = Operation::Kind;

/// Events a rank runs before the next one has its turn: bounds what is in flight.
constexpr int kTurn = 1024;
/// What did not match, by name.
constexpr std::size_t kMostNamed = 10;
constexpr unsigned kTickBits = 10;
constexpr std::uint64_t kNs = 1U << kTickBits;
inline std::uint64_t in_ns(std::uint64_t ticks) { return (ticks + kNs / 2) / kNs; }
/// No time of a damaged trace is beyond.
constexpr double kMostTicks = 9.2e18, kMostNs = kMostTicks / kNs;
/// How often ranks may fail to come to the same place between iterations.
constexpr int kMostMissed = 16;
/// Instead of a time: a message that was received, or is of a thread that has not come to it.
constexpr std::uint64_t kReceived = UINT64_MAX, kNotSent = UINT64_MAX - 1;

using LaneTimes = std::array<std::uint64_t, kMostLanes>;

/// Where and when something began that others wait for.
struct Begin {
  std::uint64_t ns = 0;
  std::uint32_t stream = 0;
  std::uint64_t event = 0;            ///< number in the stream
  std::uint64_t place = 0;            ///< with several threads: in the channel or among collectives
  std::int64_t bytes = kUnknownSize;  ///< of a message
  std::uint64_t path = 0;             ///< of the event
  std::uint16_t call = 0;             ///< likewise
  std::uint64_t waited = 0;           ///< before it, at markers
  LaneTimes lanes{};                  ///< when it began in each
};

/// The one that came last, and when the last came in each lane.
inline Begin later(const Begin& a, const Begin& b) {
  Begin last = a.ns < b.ns ? b : a;
  for (std::size_t i = 0; i < kMostLanes; ++i) last.lanes[i] = std::max(a.lanes[i], b.lanes[i]);
  return last;
}

/// Messages of a channel that have been sent: begin of the send, by place in the channel.
struct Sent {
  std::deque<Begin> begins;
  std::uint64_t first = 0;
  std::vector<std::uint32_t> waiting;  ///< streams, for one that is not sent yet
};

struct Meeting {
  std::uint32_t expected = 0, arrived = 0, left = 0;
  bool root_came = false;
  Begin last, root;
  std::vector<std::uint32_t> waiting;  ///< streams
  LowerRanks<Begin> lower;             ///< if ranks wait for those before them
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
  ObjectLife life;                                               ///< with several streams
  std::uint64_t made_until = 0;  ///< when the last event that made objects could
  bool excused = false;          ///< a receive was cancelled: which message it left is not told
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
  double drift = 0;          ///< what to add to a ns of this rank's clock, the stretch included
  std::uint64_t clock = 0;   ///< end of the last event
  std::int64_t nominal = 0;  ///< the same without what causality moved
  std::uint64_t start = 0;   ///< when the clock began
  std::uint64_t later = 0;   ///< what was left out
  std::uint64_t compute = 0, begin = 0;
  std::uint64_t wait_begin = 0, wait = 0;  ///< at markers, before the present event
  std::uint64_t earliest = 0;              ///< end so far of the present event
  Cause cause;                             ///< what gave it
  std::uint64_t ready = 0;                 ///< when that came
  LaneTimes lane_clock{}, lane_begin{}, lane_cause{};
  RankView::Round round;                ///< to which the stream came and stops
  bool stops = false, goes_on = false;  ///< there; from there
  bool bound = false;                   ///< `nominal` gave the end of an event, or could have
  bool waits = false;                   ///< the present event waits for others
  std::size_t next = 0;                 ///< operation of the event not yet dealt with
  std::vector<std::uint64_t> since;
  std::vector<std::uint32_t> from;
  std::vector<std::int64_t> sent;
  bool waits_on_channel = false, waits_on_object = false;
  ChannelKey channel;
};

class Pass {
 public:
  Pass(const Trace& trace, const RankList& ranks,
       const std::function<void(const TimedEvent&)>& sink, bool compares, Network network,
       double stretch, std::span<const Lane> lanes = {}, const RoundWatch* watch = nullptr)
      : network_(network),
        lanes_(lanes),
        trace_(trace),
        wanted_(ranks),
        sink_(sink),
        watch_(watch),
        plan_(plan_trace(trace, compares)) {
    facts_.stretch = stretch;
  }

  Status prepare();
  TimelineFacts run();
  /// What each row's events come to as they are recorded, after a run.
  std::vector<std::uint64_t> recorded() const;
  std::vector<std::uint32_t> streams() const;  ///< of the rows
  /// Instead of the stretch of all, where it is not 0: of each row. Before `prepare`.
  void stretch_rows(std::vector<double> own) { own_stretch_ = std::move(own); }

 private:
  void align_clocks();
  double stretch_of(std::size_t row) const;
  /// A duration on a rank's clock, on the timeline.
  static std::uint64_t aligned(const Row& row, std::uint64_t ns);

  Row& row(std::uint32_t stream) { return rows_[static_cast<std::size_t>(index_[stream])]; }
  Rank& rank(std::uint32_t rank) { return ranks_[static_cast<std::size_t>(rank_index_[rank])]; }
  bool present(std::int64_t rank) const;

  void run_ready();
  void run_turn(Row& row);
  void make_ready(Row& row);
  void run_row(Row& row);
  bool next_event(Row& row);
  bool has_objects(Row& row);
  bool fetch_event(Row& row);
  void start_event(Row& row);
  void number_operations(Row& row);
  void take_place(Row& row, std::uint64_t place);
  bool resume(Row& row);
  void end_event(Row& row);
  void end_in_lanes(Row& row, std::uint64_t end);

  // Iterations that others stand for (timeline_rounds.cpp).
  struct Standing {
    RankView::Round round;
    std::uint64_t rounds = 0;  ///< since the first comparison
    std::uint64_t base = 0;    ///< the clock of the first row
    LaneTimes lane_base{};
    std::vector<std::uint64_t> state;
    std::vector<std::int64_t> behind;         ///< by row: clock without nominal
    std::vector<std::int64_t> nominal;        ///< likewise
    std::vector<RankOperations::Mark> marks;  ///< likewise
    std::uint64_t events = 0, moved = 0, unmatched = 0;
  };
  void watch_rounds();
  bool stops_at_round(Row& row);
  bool leave_round();
  bool all_at_one_round() const;
  void end_round();
  bool is_quiet() const;
  Standing standing() const;
  bool comes_again(const Standing& now) const;
  void compare_with(Standing now);
  void begin_comparing(Standing now, std::uint64_t until);
  std::uint64_t times_alike() const;
  void stand_for_rest(Standing now);
  std::uint64_t most_times(const Standing& now, std::uint64_t period, std::uint64_t ticks) const;
  void leave_out();

  // What streams wait for (timeline_match.cpp), and what did not come.
  static Begin here(const Row& row);
  void give_up(Row& row, const std::string& why);
  void name(const char* kind, const Begin& at, const std::string& call, const std::string& why,
            const FailedReceive& failed = {});
  void name_unreceived(const ChannelKey& channel, const Begin& first, std::uint64_t messages,
                       const FailedReceive& failed);
  void count_unreceived();
  static bool posts(const Operation& operation);
  void note_posted(Row& row, const Operation& operation);
  void wake_threads(Row& row);
  bool posted(Row& row, const Operation& operation);
  bool begun(Row& row, const Operation& operation, std::unordered_map<std::uint64_t, Begin>& among,
             std::uint64_t id, const char* why);
  void deliver(const Operation& operation, Begin begin);
  bool take(Row& row, const Operation& operation, Begin& since);
  void arrive(Row& row, const Operation& operation);
  std::uint32_t members(const Operation& operation, const Communicator* comm) const;
  Waits waits_in(const Operation& operation) const;
  bool leave(Row& row, const Operation& operation, Begin& since);
  void block(Row& row);
  void wake(Row& row);
  bool force_one();

  void wait_for(Row& row, const Begin& begin, Cause::Kind kind);

  Network network_;
  std::span<const Lane> lanes_;
  const Trace& trace_;
  const RankList& wanted_;
  const std::function<void(const TimedEvent&)>& sink_;
  const RoundWatch* watch_;
  TracePlan plan_;
  std::deque<Rank> ranks_;
  std::deque<Row> rows_;
  std::vector<std::int64_t> index_;       ///< row of a stream, or -1
  std::vector<std::int64_t> rank_index_;  ///< the same of ranks
  bool all_here_ = false;
  std::deque<std::uint32_t> ready_;
  std::set<std::pair<std::uint64_t, std::uint32_t>> ready_by_time_;  ///< with several threads
  /// Begins and places of the rows that are blocked, from when one had to go on regardless.
  std::optional<std::set<std::pair<std::uint64_t, std::int64_t>>> blocked_by_time_;
  std::unordered_map<ChannelKey, std::uint64_t, KeyHash> sends_, receives_;  ///< likewise
  std::unordered_map<ChannelKey, Sent, KeyHash> sent_;
  std::unordered_map<CollectiveKey, Meeting, KeyHash> meetings_;
  FailedReceives failed_;
  TimelineFacts facts_;
  std::vector<double> own_stretch_;  ///< by row

  bool stops_ = false;       ///< streams stop between iterations
  std::size_t stopped_ = 0;  ///< so many have
  int missed_ = 0;
  std::optional<Standing> before_;  ///< with which later ones are compared
  std::uint64_t compared_ = 0, compare_until_ = 1;
  std::uint64_t expected_ = 0, alike_ = 0;  ///< iterations that are alike, and how often they come
  std::uint64_t standing_left_ = 0, standing_times_ = 0;  ///< iterations that stand for others
  std::uint64_t period_ = 0;                              ///< how many they are
  std::uint64_t later_ = 0;                               ///< ticks left out
  LaneTimes lane_later_{};
};

}  // namespace timeline
}  // namespace chameleon::analysis
