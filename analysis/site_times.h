// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// How often each stream (a rank's, or one of its threads') executed an event, and after
/// which predecessor. Histograms may hold the instances of one stream for all that are
/// like it, so that what a stream spent is its executions times the mean, shared among
/// predecessors as counted.

#include <functional>

#include "base/result.h"
#include "model/trace.h"

namespace chameleon::analysis {

/// Calls f(rank, entry or null, executions) for the ranks in `wanted` of an event node executed
/// by `here`. O(ranks x entries).
inline void for_each_rank_time(
    const Node& node, const RankList& here, const RankList& wanted,
    const std::function<void(std::uint32_t, const TimeEntry*, double)>& f) {
  if (node.params.empty()) return;
  node.params.front().for_each_group(here, [&](const RankList& group, EndPointForm,
                                               const ValueSequence& values) {
    const auto executions = static_cast<double>(values.size());
    for (const std::uint32_t rank : group.intersection(here).intersection(wanted).ranks()) {
      double counted = 0;
      const auto of_rank = [&](const TimeEntry& entry) {
        return entry.communication.count() > 0 &&
               (entry.ranks.empty() || entry.ranks.contains(rank));
      };
      for (const TimeEntry& entry : node.times)
        if (of_rank(entry)) counted += static_cast<double>(entry.communication.count());
      if (counted <= 0) {
        f(rank, nullptr, executions);
        continue;
      }
      for (const TimeEntry& entry : node.times)
        if (of_rank(entry))
          f(rank, &entry, executions * static_cast<double>(entry.communication.count()) / counted);
    }
  });
}

/// What a stream spent at an event node after one predecessor: calls, ns before them, ns inside.
struct RankTime {
  const Node& node;
  std::uint32_t stream = 0;
  std::uint64_t predecessor = 0;  ///< symbol; 0: none, or no times
  double events = 0, compute_ns = 0, call_ns = 0;
};

/// Calls f for everything the streams in `streams` spent: from the folded form, or event by event
/// with full timing. O(nodes x ranks), or O(events). Error: the trace is damaged.
Status each_rank_time(const Trace& trace, const RankList& streams,
                      const std::function<void(const RankTime&)>& f);

}  // namespace chameleon::analysis
