// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// A rank's events, whichever of its threads made them, as one sequence. Each thread's are
/// in its order. Between threads the order is the run's as far as what they share tells
/// (object_life.h); the rest is by the recorded times, which with histograms are means. A
/// rank of one thread is read as it is. O(depth) an event, and O(threads) where there are
/// several, O(log threads) where there are very many; each is read once before. Memory of the
/// folded size for each thread, and of the objects alive.

#include <cstdint>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

#include "analysis/object_life.h"
#include "analysis/stream_times.h"
#include "base/result.h"
#include "model/view.h"

namespace chameleon::analysis {

/// Recorded times of an event in ns; `shortest` is the least time in the call at this place, or 1.
/// Before it the stream waited at markers, after it had computed `ahead` of `compute`; single waits
/// are not kept, and this is their mean.
struct EventTimes {
  std::uint64_t compute = 0, communication = 0, shortest = 1;
  std::uint64_t waiting = 0, ahead = 0;
};
EventTimes times_of(const CallDescription& call, const EventView& event, const StreamTimes& times);

/// In which order the streams of a rank take turns: events of each, one after the other.
struct StreamTurn {
  std::uint32_t stream = 0;
  std::uint64_t events = 0;
};
using StreamOrder = std::vector<StreamTurn>;

class RankStreams {
 public:
  /// `plans`, `sums` (StreamTimes) and the trace must outlive this. Error: the trace is damaged.
  static Result<RankStreams> make(const Trace& trace, const std::vector<CallPlan>& plans,
                                  std::uint32_t rank, const OutlierSums* sums = nullptr);
  /// One stream alone.
  static Result<RankStreams> make_one(const Trace& trace, std::uint32_t stream,
                                      const OutlierSums* sums = nullptr);

  /// Events come in this order from here on, and what it does not have after it. It must outlive
  /// this.
  void follow(const StreamOrder& order) { order_ = &order; }
  /// The next event, or false at the end.
  bool next(EventView& event);
  /// What it does with objects; nothing where there is one stream.
  const ObjectUse& use() const { return use_; }

  std::uint32_t rank() const { return rank_; }
  bool several() const { return heads_.size() > 1; }
  /// Of a rank that has one stream: it may be watched and led over what it need not read.
  RankView& view() { return heads_.front().view; }
  const RankView& view() const { return heads_.front().view; }
  /// Of the present event: its stream, and its number there, from 1.
  std::uint32_t stream() const { return stream_; }
  std::uint64_t number() const { return number_; }

 private:
  /// The next event of a stream.
  struct Head {
    RankView view;
    EventView event;
    ObjectUse use;
    HandOvers handed;
    StreamTimes times;
    std::uint64_t end = 0;  ///< on the recorded times
    std::uint64_t number = 0;
    bool has = false;
  };

  RankStreams(const Trace& trace, std::uint32_t rank) : trace_(&trace), rank_(rank) {}
  Status add(std::uint32_t stream, const OutlierSums* sums);
  void fetch(Head& head);
  void fetch_event(Head& head);
  Head* in_order();
  Head* by_time();
  Head* by_turns();

  /// More have their turns in order; of these so many are looked at.
  static constexpr std::size_t kFewHeads = 64, kMostLooked = 1024;
  using Turn = std::tuple<std::uint64_t, std::uint64_t, std::size_t>;  ///< end, number, place
  Turn turn_of(const Head& head) const {
    return {head.end, head.number, static_cast<std::size_t>(&head - heads_.data())};
  }

  const Trace* trace_;
  std::uint32_t rank_ = 0, stream_ = 0;
  std::uint64_t number_ = 0;
  std::vector<Head> heads_;           ///< by stream
  std::set<Turn> turns_;              ///< of very many heads, those that have an event
  std::optional<ObjectRoles> roles_;  ///< where there are several
  ObjectLife life_;
  ObjectUse use_;
  const StreamOrder* order_ = nullptr;
  std::size_t turn_ = 0;
  std::uint64_t taken_ = 0;  ///< of the turn
};

}  // namespace chameleon::analysis
