// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The times of one stream, by event node and predecessor: those of its class in the trace's table
/// of times, or, where a trace has none (before format 1.4), those of the nodes. Beside it nothing
/// else reads either (tests/unit/test_one_resolver.py). O(1) a look-up, or O(entries) of a node.

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <unordered_map>

#include "model/trace.h"
#include "model/view.h"

namespace chameleon::analysis {

/// Means of one event of a stream, which has no times of its own without full timing.
struct MeanTimes {
  double compute_ns = 0, communication_ns = 0;
  std::uint64_t least_communication_ns = 0;
};

/// Of one event of a stream: what it waited before it at markers, on average.
struct MeanWait {
  double ns = 0;
  double ahead_ns = 0;  ///< of the compute time before the event, what came before the waiting
};

/// What outliers have of the distributions that they are in, by place and class of streams.
/// O(outliers), once for a trace.
class OutlierSums {
 public:
  /// Computing, and in calls.
  struct Apart {
    std::array<double, 2> events{}, ns{}, usual_ns{};

    /// The mean of the others, of the distribution that all are in. Where the others are lost in
    /// the rounding of its sum: what is usual beside the outliers.
    double mean_of_others(const Histogram& all, bool in_call) const;
  };

  explicit OutlierSums(const Trace& trace);
  const Apart* find(const Place& place, std::uint32_t time_class) const;

 private:
  std::map<std::pair<Place, std::uint32_t>, Apart> apart_;
  const TimeTable* table_;
};

class StreamTimes {
 public:
  /// The trace, and what is given with it, must outlive it. Without `sums`, outliers are events
  /// like others.
  StreamTimes(const Trace& trace, std::uint32_t stream, const OutlierSums* sums = nullptr);

  /// What the stream's instances after that predecessor are like; it holds as long as the trace.
  /// Null: not known.
  const Durations* after(const Node& node, std::uint64_t predecessor) const;
  /// The same after any; it holds as long as this. Null: no times were kept.
  const Durations* after_any(const Node& node) const;
  /// What the trace's table of times has for the stream at a place; null: nothing.
  const Durations* at(const Place& place) const;
  /// How far the stream's means may be from these, relative to its own (TimeClass).
  double spread() const;
  /// After that predecessor; if no time after it is known, after any.
  std::optional<MeanTimes> means(const Node& node, std::uint64_t predecessor) const;
  /// Of one event: its own time where it is an outlier, else the mean of the others at its place.
  std::optional<MeanTimes> of(const EventView& event) const;
  /// Over the run they add up to what the stream's facts say it waited.
  MeanWait wait(const Place& place) const;

 private:
  Durations gather(const Node& node) const;
  void spread_waits(const Trace& trace);

  const TimeTable* table_ = nullptr;  ///< null: times are the nodes'
  std::uint32_t stream_, class_ = ClassTimes::kAll;
  std::map<Place, MeanWait> waits_;
  std::span<const Outlier> outliers_;
  const OutlierSums* sums_ = nullptr;
  mutable std::unordered_map<const Node*, Durations> after_any_;  ///< once asked
};

}  // namespace chameleon::analysis
