// SPDX-License-Identifier: BSD-3-Clause
#include "tools/export/loop_rows.h"

#include <unordered_map>

#include "analysis/place_times.h"

namespace chameleon::tools {
namespace {

class LoopRows {
 public:
  explicit LoopRows(const std::vector<Node>& nodes, const RankList& streams) {
    add(nodes, streams, 0, 0);
  }

  void add(const analysis::PlaceTime& time) {
    const auto loop = loop_of_.find(&time.node);
    if (loop == loop_of_.end()) return;
    LoopRow& row = rows_[loop->second - 1];
    row.events += time.events;
    row.compute_ns += time.compute_ns();
    row.call_ns += time.call_ns();
  }

  /// With what is in the loops inside.
  std::vector<LoopRow> summed() {
    for (auto row = rows_.rbegin(); row != rows_.rend(); ++row) {
      if (row->parent == 0) continue;
      LoopRow& around = rows_[row->parent - 1];
      around.events += row->events;
      around.compute_ns += row->compute_ns;
      around.call_ns += row->call_ns;
    }
    return std::move(rows_);
  }

 private:
  void add(const std::vector<Node>& nodes, const RankList& around, std::size_t parent,
           unsigned depth) {
    for (const Node& node : nodes) {
      const RankList streams = node.ranks.empty() ? around : node.ranks.intersection(around);
      if (streams.empty()) continue;
      if (!node.is_loop()) {
        if (parent > 0) loop_of_.emplace(&node, parent);
        continue;
      }
      rows_.push_back({&node, parent, depth, streams});
      add(node.body, streams, rows_.size(), depth + 1);
    }
  }

  std::vector<LoopRow> rows_;
  std::unordered_map<const Node*, std::size_t> loop_of_;  ///< innermost, from 1
};

}  // namespace

Result<std::vector<LoopRow>> loop_rows(const Trace& trace, const RankList& streams) {
  LoopRows rows(trace.nodes, streams);
  const Status timed = analysis::each_place_time(
      trace, streams, [&](const analysis::PlaceTime& time) { rows.add(time); });
  if (!timed) return timed.error();
  return rows.summed();
}

}  // namespace chameleon::tools
