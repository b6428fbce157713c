// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/work.h"

#include <algorithm>

#include "model/view.h"

namespace chameleon::analysis {
namespace {

double count(const RankList& ranks) { return static_cast<double>(ranks.size()); }

/// How often a loop is iterated.
struct Rounds {
  std::vector<std::pair<RankList, double>> by_ranks;
  double all = 0;   ///< of all ranks together
  double most = 0;  ///< of one

  Rounds(const Node& loop, const RankList& ranks) {
    loop.iterations.for_each_group(
        ranks, [&](const RankList& of, EndPointForm, const ValueSequence& counts) {
          RankList mine = of.intersection(ranks);
          const auto each = static_cast<double>(sum_iterations(counts).total);
          all += count(mine) * each;
          most = std::max(most, each);
          by_ranks.emplace_back(std::move(mine), each);
        });
  }
  explicit Rounds(const RankList& ranks) : all(count(ranks)), most(1) {
    by_ranks.emplace_back(ranks, 1);
  }
};

class Visits {
 public:
  explicit Visits(const VisitedDo& f) : f_(f) {}

  void visit(const std::vector<Node>& nodes, const RankList& ranks, const Rounds& rounds) {
    for (const Node& node : nodes) {
      const RankList mine = node.ranks.empty() ? ranks : ranks.intersection(node.ranks);
      if (mine.empty()) continue;
      if (node.is_loop())
        visit(node.body, mine, Rounds(node, mine));
      else
        f_(node, count(mine), node.ranks.empty() ? rounds.all : executions(mine, rounds));
    }
  }

 private:
  double executions(const RankList& mine, const Rounds& rounds) {
    looks_ += rounds.by_ranks.size();
    if (rounds.by_ranks.size() == 1 || looks_ > kMostLooks) return count(mine) * rounds.most;
    double events = 0;
    for (const auto& [of, each] : rounds.by_ranks) events += count(of.intersection(mine)) * each;
    return events;
  }

  /// Groups looked at; from then on it is the most that may be.
  static constexpr std::size_t kMostLooks = 10'000'000;

  const VisitedDo& f_;
  std::size_t looks_ = 0;
};

}  // namespace

void each_visited(const Trace& trace, const RankList& streams, const VisitedDo& f) {
  const RankList ranks = trace.ranks.intersection(streams);
  Visits(f).visit(trace.nodes, ranks, Rounds(ranks));
}

double visited_events(const Trace& trace, const RankList& streams) {
  double all = 0;
  each_visited(trace, streams, [&](const Node&, double, double events) { all += events; });
  return all;
}

}  // namespace chameleon::analysis
