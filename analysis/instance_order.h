// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Puts instances of communication patterns in one order (Table 4 of Alawneh & Hamou-Lhadj 2022):
/// that of each stream's program, and of those whose turn may come, the one that began first, then
/// that of the lowest stream. An instance goes out when the next segment of every stream is known.
/// If too many wait for a stream without segments, the known ones decide. O(segments log n);
/// memory of the instances that wait.

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <set>
#include <tuple>
#include <vector>

#include "analysis/instances.h"

namespace chameleon::analysis {

class InstanceOrder {
 public:
  using Sink = std::function<void(const PatternInstance&)>;
  /// All streams that will be named, and who takes the instances.
  InstanceOrder(const RankList& streams, Sink sink);

  /// A stream has opened its next segment.
  void opened(std::uint32_t stream);
  /// A stream has no more segments.
  void ended(std::uint32_t stream);
  void completed(PatternInstance&& instance);
  /// All streams have ended and all instances are complete.
  void finish();

  /// The waiting segments, for RoundWatch. O(segments that wait).
  void state(std::vector<std::uint64_t>& state) const;

  /// Instances that came out against the order of some stream, because others left no choice.
  std::uint64_t cycles() const { return cycles_; }

 private:
  static constexpr std::size_t kMostWaiting = std::size_t{1} << 18;

  struct Waiting {
    PatternInstance instance;
    std::size_t behind = 0;  ///< streams in which others come first
    bool out = false;
  };
  using Key = std::tuple<std::uint64_t, std::uint32_t, std::uint64_t, Waiting*>;
  struct Stream {
    std::deque<std::shared_ptr<Waiting>> queue;  ///< null: not complete
    std::uint64_t first = 0;                     ///< ordinal of the front
    bool named = false, ended = false;
    bool blocks() const { return queue.empty() ? named && !ended : queue.front() == nullptr; }
  };

  static Key key(Waiting& waiting) {
    const Segment& first = waiting.instance.segments.front();
    return {waiting.instance.begin_ns, first.stream, first.ordinal, &waiting};
  }
  Stream& at(std::uint32_t stream);
  void drain();
  Waiting* forced();
  void put_out(Waiting& waiting);
  void advance(Stream& stream);

  Sink sink_;
  std::vector<Stream> streams_;
  std::size_t blocking_ = 0;  ///< streams whose next segment is not known
  std::size_t waiting_ = 0;
  std::set<Key> ready_;
  std::set<Key> in_front_;  ///< of some stream: ready, or waiting for others
  std::uint64_t cycles_ = 0;
};

}  // namespace chameleon::analysis
