// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The times of calls with the ranks on other nodes: a given number on each, in the order of their
/// numbers. The times of messages within a node and between nodes come from the trace: the median
/// of calls that send or receive them, by powers of two of their bytes, without waits. A message
/// that changes between the two becomes longer or shorter by the ratio; collectives stay as they
/// are. One run of the timeline; O(messages) an event.

#include <map>
#include <memory>
#include <vector>

#include "analysis/timeline.h"
#include "model/histogram.h"

namespace chameleon::analysis {

class Placement {
 public:
  /// Error kUsage: the trace has no messages within a node, or none between nodes; or it is
  /// damaged.
  static Result<std::shared_ptr<const Placement>> make(const Trace& trace,
                                                       std::uint32_t ranks_per_node);

  /// Instead of these ns of an event, which are without its waits.
  double transfer_ns(const RankOperations& at, double ns) const;
  /// The factor of the time of a message of this size from or to within a node; 1:
  /// unknown.
  double ratio(bool to_within, std::int64_t bytes) const;

 private:
  Placement(const Trace& trace, std::uint32_t ranks_per_node);
  bool within_now(std::int64_t a, std::int64_t b) const;
  bool within_then(std::int64_t a, std::int64_t b) const;
  void learn(const TimedEvent& event);

  std::uint32_t ranks_per_node_;
  std::vector<std::uint32_t> node_;  ///< by rank, in the trace
  /// By whether it is within a node, and by power of two.
  std::map<std::pair<bool, int>, Histogram> times_;
};

}  // namespace chameleon::analysis
