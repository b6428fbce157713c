// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Instances of communication patterns: segments (segments.h) of all streams that messages and
/// collectives join, in the order of the timeline (Alawneh & Hamou-Lhadj 2022, Table 3). An
/// instance is complete when its segments are closed and their messages and collectives matched.
/// Memory of the open segments and of the messages in flight; O(1) an operation, O(log n) to join.

#include <cstdint>
#include <functional>
#include <unordered_map>
#include <vector>

#include "analysis/delays.h"
#include "analysis/segments.h"
#include "analysis/timeline.h"
#include "analysis/wait_states.h"

namespace chameleon::analysis {

struct Segment {
  std::uint32_t stream = 0, rank = 0;
  std::uint64_t ordinal = 0;  ///< the n-th of its stream, from 0
  std::uint64_t context = 0;
  std::uint64_t path = 0;              ///< of its first call
  std::vector<std::uint64_t> symbols;  ///< packed, in the order they began
  std::uint64_t begin_ns = 0, end_ns = 0;
  std::vector<WaitSum> waits;  ///< a kind each, where one looked
};

struct PatternInstance {
  std::vector<Segment> segments;
  std::uint64_t begin_ns = 0, end_ns = 0;
  double bytes = 0;          ///< half of what was sent and received
  std::uint64_t events = 0;  ///< ends of messages, and calls of collectives
  bool whole = true;         ///< false: some message or collective lacks its others
  WaitSum wait;              ///< of the kind with the largest sum, where one looked
  Delay delay;               ///< behind the longest of these
};

struct InstanceFacts {
  std::uint64_t segments = 0, events = 0;
  std::uint64_t unmatched = 0;  ///< unmatched ends of messages and collectives
  std::uint64_t largest = 0;    ///< events of the largest instance
  std::uint64_t largest_segments = 0, largest_ranks = 0;  ///< of the same
};

class InstanceBuilder {
 public:
  using Opened = std::function<void(std::uint32_t stream)>;
  using Sink = std::function<void(PatternInstance&&)>;
  using Noted = std::function<void(const TimedEvent&, Segment&)>;

  /// `cut_at_collectives`: what all ranks wait for ends all segments, and nothing joins over it.
  InstanceBuilder(const Trace& trace, SplitRule rule, ContextOf context, bool cut_at_collectives,
                  Opened opened, Sink sink);

  /// The next event of a stream.
  void add(const TimedEvent& event);
  /// Is called with each event of a segment, and the segment.
  void note(Noted noted) { noted_ = std::move(noted); }
  /// All has been read: whatever is open ends.
  void finish();
  const InstanceFacts& facts() const { return facts_; }

  /// The events that follow count this many times.
  void take(std::uint64_t times) { times_ = times; }
  /// The open state, for RoundWatch. O(streams).
  void state(std::vector<std::uint64_t>& state);

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  struct Stream {
    explicit Stream(SplitRule rule) : segmenter(rule) {}
    Segmenter segmenter;
    std::uint32_t slot = kNone;  ///< of the open segment
    std::uint64_t segments = 0;
    std::uint64_t epoch = 0;  ///< collectives of all ranks so far
    std::uint64_t event = 0;  ///< number of the last that communicates
  };
  /// A segment of an instance that is not complete. The root's has what all of them add up to.
  struct Slot {
    Segment segment;
    std::uint32_t parent = 0;
    std::uint64_t epoch = 0, event = 0;  ///< of its stream, where it was opened
    std::vector<std::uint32_t> members;  ///< of a root: slots
    std::uint64_t pending = 0;           ///< likewise: open segments, unmatched ends
    double bytes = 0;
    std::uint64_t events = 0;
    bool whole = true;
  };
  struct Meeting {
    std::uint32_t slot = kNone, arrived = 0, expected = 0;
  };

  Stream& stream_of(std::uint32_t stream);
  std::uint64_t context_of(std::uint64_t path);
  std::uint32_t open(const TimedEvent& event, Stream& stream, std::uint64_t context);
  void close(Stream& stream);
  void begin(const TimedEvent& event, const Operation& operation, std::uint32_t slot);
  void message(std::uint64_t id, std::uint32_t slot);
  void meet(const TimedEvent& event, const Operation& operation, std::uint32_t slot);
  std::uint32_t expected(const TimedEvent& event, const Operation& operation) const;
  bool synchronizes(const RankOperations& at) const;
  std::uint32_t root(std::uint32_t slot);
  std::uint32_t join(std::uint32_t a, std::uint32_t b);
  void settle(std::uint32_t slot);
  void emit(std::uint32_t root);

  const Trace& trace_;
  SplitRule rule_;
  ContextOf context_;
  bool cut_at_collectives_;
  Opened opened_;
  Sink sink_;
  Noted noted_;
  RankList ranks_;
  std::vector<Stream> streams_;
  std::unordered_map<std::uint64_t, std::uint64_t> contexts_;  ///< by path
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> free_;
  std::unordered_map<std::uint64_t, std::uint32_t> messages_;  ///< one end, by message id
  std::unordered_map<CollectiveKey, Meeting, KeyHash> meetings_;
  InstanceFacts facts_;
  std::uint64_t times_ = 1;
};

}  // namespace chameleon::analysis
