// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Slack (total float of the critical path method, Kelley 1961): how much later a call could have
/// begun without the run ending later, all else being as it was. On the critical path it is
/// nothing.
///
/// The events of a timeline are kept, and gone through backwards: a call may begin as late as what
/// it keeps others from allows, and as what follows on its own stream. Iterations that stand for
/// others are gone through again until slacks repeat, or some ten million events and
/// `kFewestPasses` passes were gone through: what slacks are then holds for the rest. Waiting at
/// markers counts as computing, so that slacks are too small rather than too large where ranks
/// waited there.
///
/// O(1) an event and operation, in memory too: some 90 bytes, twice that while it grows. Nothing is
/// said beyond `kMostEvents` events, or `kMostEdges` times as many operations.

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/stream_place.h"
#include "analysis/timeline.h"

namespace chameleon::analysis {

/// Of calls, in ns.
struct Slack {
  std::uint64_t events = 0;
  std::uint64_t least_ns = UINT64_MAX;
  double sum_ns = 0;

  double mean_ns() const { return events > 0 ? sum_ns / static_cast<double>(events) : 0; }
  void add(std::uint64_t ns, std::uint64_t times);
  void add(const Slack& other);
};

struct PlaceSlack : StreamPlace {
  Slack slack;
};

class SlackBuilder {
 public:
  static constexpr std::size_t kMostEvents = std::size_t{1} << 21;
  static constexpr std::size_t kMostEdges = 4;
  static constexpr std::uint64_t kFewestPasses = 4;

  explicit SlackBuilder(std::size_t most_events = kMostEvents) : most_(most_events) {}

  /// The next event of a stream, in any order that a timeline gives.
  void add(const TimedEvent& event);
  /// The events that follow come so many times.
  void take(std::uint64_t times);
  /// By stream, call and path; nothing if there were too many events.
  std::optional<std::vector<PlaceSlack>> finish();

 private:
  /// What an operation has to do with other streams.
  struct Edge {
    enum class Kind : std::uint8_t { kSends, kReceives, kComes, kLeaves };
    std::uint64_t id = 0;  ///< of the message or the collective
    std::int32_t self = -1;
    Kind kind = Kind::kSends;
    Waits waits = Waits::kForAll;
    bool is_root = false;
  };
  struct Event {
    std::uint64_t begin_ns = 0, end_ns = 0;
    std::uint64_t start_ns = 0;  ///< when nothing had to be waited for any more
    std::uint32_t stream = 0, place = 0;
    std::uint32_t first_edge = 0, edges = 0;
  };
  /// Events that come as often.
  struct Block {
    std::uint64_t times = 1;
    std::vector<Event> events;
    std::vector<Edge> edges;
  };
  /// How late those may go on who wait in a collective.
  struct Meeting {
    std::uint64_t latest = UINT64_MAX;
    std::map<std::int32_t, std::uint64_t> of_rank;  ///< where each waits for the ranks before it
  };

  std::uint32_t place_of(const StreamPlace& place);
  static std::vector<std::uint32_t> backwards(const Block& block);
  void pass(const Block& block, const std::vector<std::uint32_t>& order, std::uint64_t times);
  void end(const Block& block, const Event& event);
  void begin(const Block& block, const Event& event, std::uint64_t times);
  void go_through(const Block& block);

  std::size_t most_, events_ = 0, edges_ = 0;
  bool too_many_ = false;
  std::deque<Block> blocks_{1};
  std::map<StreamPlace, std::uint32_t> place_;
  std::vector<PlaceSlack> slacks_;                             ///< by place
  std::vector<std::uint64_t> slack_;                           ///< by stream: of what follows
  std::unordered_map<std::uint64_t, std::uint64_t> receives_;  ///< by message: latest start
  std::unordered_map<std::uint64_t, Meeting> meetings_;        ///< by collective
};

}  // namespace chameleon::analysis
