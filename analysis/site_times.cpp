// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/site_times.h"

#include "analysis/operations.h"

namespace chameleon::analysis {

Status each_rank_time(const Trace& trace, const RankList& streams,
                      const std::function<void(const RankTime&)>& f) {
  if (trace.timing == "full") {
    const TracePlan plan = plan_trace(trace);
    const RankList ranks = trace.ranks_of(streams);
    for (const std::uint32_t rank : ranks.ranks()) {
      Result<RankOperations> at = RankOperations::make(trace, plan, rank);
      if (!at) return at.error();
      while (at->next())
        if (streams.contains(at->stream()))
          f({*at->event().node, at->stream(), at->event().predecessor, 1,
             static_cast<double>(at->compute_ns()), static_cast<double>(at->communication_ns())});
    }
    return Unit{};
  }
  const std::function<void(const std::vector<Node>&, const RankList&)> walk =
      [&](const std::vector<Node>& nodes, const RankList& around) {
        for (const Node& node : nodes) {
          const RankList& here = node.ranks.empty() ? around : node.ranks;
          if (node.is_loop()) {
            walk(node.body, here);
            continue;
          }
          for_each_rank_time(
              node, here, streams, [&](std::uint32_t rank, const TimeEntry* entry, double count) {
                if (entry == nullptr)
                  f({node, rank, 0, count, 0, 0});
                else
                  f({node, rank, entry->predecessor, count, count * entry->compute.mean(),
                     count * entry->communication.mean()});
              });
        }
      };
  walk(trace.nodes, trace.ranks);
  return Unit{};
}

}  // namespace chameleon::analysis
