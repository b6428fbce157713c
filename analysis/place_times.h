// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The one way to the times of a trace: what streams (ranks, or their threads) spent at an event
/// after a predecessor. A distribution may hold the instances of several streams that are alike, or
/// of one for all that are like it. What a stream spent is then its *own* number of instances after
/// that predecessor times the mean. With full timing each stream has a distribution of its own.
/// Nothing else reads a node's times (tests/unit/test_one_resolver.py).

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "model/trace.h"

namespace chameleon::analysis {

/// Durations of one kind, of any streams, in ns.
struct Spent {
  double count = 0, sum_ns = 0;
  std::uint64_t least_ns = 0, most_ns = 0;
  std::map<std::uint8_t, double> bins;  ///< numbered as those of Histogram

  /// Adds `count` instances that are distributed like those of `like`.
  void add(const Histogram& like, double count);
  void add(const Spent& other);
  double mean_ns() const { return count > 0 ? sum_ns / count : 0; }
  /// As Histogram::quantile.
  double quantile_ns(double q) const;
};

struct SpentAt {
  Spent compute, communication;
  void add(const SpentAt& other) {
    compute.add(other.compute);
    communication.add(other.communication);
  }
};

/// One stream at an event after one predecessor.
struct PlaceTime {
  const Node& node;
  std::uint32_t stream = 0;
  std::uint64_t predecessor = 0;  ///< symbol; 0: none
  double events = 0;
  /// The distributions that these instances are like; null: no times were kept. They hold during
  /// the call, those with `shared` as long as the trace.
  const Durations* like = nullptr;
  bool shared = false;

  double compute_ns() const { return like == nullptr ? 0 : events * like->compute.mean(); }
  double call_ns() const { return like == nullptr ? 0 : events * like->communication.mean(); }
};

/// Calls f for each place of each stream in `streams`. O(nodes x streams), with full timing
/// O(events). Error: the trace is damaged.
Status each_place_time(const Trace& trace, const RankList& streams,
                       const std::function<void(const PlaceTime&)>& f);

/// The times of the streams in `streams` at each event node, all predecessors together.
class NodeTimes {
 public:
  NodeTimes() = default;
  /// Costs as each_place_time. Error: the trace is damaged.
  static Result<NodeTimes> make(const Trace& trace, const RankList& streams);
  /// Nothing of a loop, and where there are no times.
  const SpentAt& at(const Node& node) const;

 private:
  std::unordered_map<const Node*, SpentAt> nodes_;
};

}  // namespace chameleon::analysis
