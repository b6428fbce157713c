// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/work.h"

#include "model/view.h"

namespace chameleon::analysis {
namespace {

/// Of calls that stand in these nodes themselves, each made `times` times by each rank.
double calls_in(const std::vector<Node>& nodes, const RankList& ranks, double times) {
  double calls = 0;
  for (const Node& node : nodes)
    if (!node.is_loop())
      calls += times * static_cast<double>(
                           (node.ranks.empty() ? ranks : ranks.intersection(node.ranks)).size());
  return calls;
}

double calls_in_loops(const std::vector<Node>& nodes, const RankList& ranks) {
  double calls = 0;
  for (const Node& node : nodes) {
    if (!node.is_loop()) continue;
    const RankList mine = node.ranks.empty() ? ranks : ranks.intersection(node.ranks);
    node.iterations.for_each_group(
        mine, [&](const RankList& of, EndPointForm, const ValueSequence& counts) {
          calls += calls_in(node.body, of, static_cast<double>(sum_iterations(counts).total));
        });
    calls += calls_in_loops(node.body, mine);
  }
  return calls;
}

}  // namespace

double visited_events(const Trace& trace, const RankList& streams) {
  const RankList ranks = trace.ranks.intersection(streams);
  return calls_in(trace.nodes, ranks, 1) + calls_in_loops(trace.nodes, ranks);
}

}  // namespace chameleon::analysis
