// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/arrivals.h"

#include <algorithm>
#include <map>

#include "model/view.h"

namespace chameleon::analysis {
namespace {

using Arrivals = std::vector<Arrival>;

void add(Arrivals& arrivals, std::uint64_t predecessor, std::uint64_t count) {
  for (Arrival& present : arrivals)
    if (present.predecessor == predecessor) {
      present.count += count;
      return;
    }
  arrivals.push_back({predecessor, count});
}

std::uint64_t visits(const Arrivals& arrivals) {
  std::uint64_t sum = 0;
  for (const Arrival& one : arrivals) sum += one.count;
  return sum;
}

Error damaged(std::uint32_t stream) {
  return {ErrorKind::kCorrupt,
          "the trace is damaged: rank " + std::to_string(stream) +
              ": a loop's iteration counts do not cover its visits",
          0};
}

/// The last event of `nodes` that the stream executes; null: none.
const Node* last_event(const std::vector<Node>& nodes, std::uint32_t stream) {
  for (auto node = nodes.rbegin(); node != nodes.rend(); ++node) {
    if (!node->ranks.empty() && !node->ranks.contains(stream)) continue;
    if (!node->is_loop()) return &*node;
    if (const Node* last = last_event(node->body, stream)) return last;
  }
  return nullptr;
}

/// Streams with a visit of some loop that has no iterations.
RankList idle_streams(const std::vector<Node>& nodes, const RankList& around) {
  RankList idle;
  for (const Node& node : nodes) {
    if (!node.is_loop()) continue;
    const RankList& here = node.ranks.empty() ? around : node.ranks;
    node.iterations.for_each_group(
        here, [&](const RankList& group, EndPointForm, const ValueSequence& counts) {
          if (sum_iterations(counts).idle_visit) idle.merge(group);
        });
    idle.merge(idle_streams(node.body, here));
  }
  return idle;
}

/// The streams that come to a list of nodes, ascending, and after what.
struct Comers {
  std::vector<std::uint32_t> streams;
  std::vector<Arrivals> arrivals;
};

class Walk {
 public:
  explicit Walk(const ArrivalsDo& f) : f_(f) {}

  Status nodes(const std::vector<Node>& list, Comers& here) {
    for (const Node& node : list) {
      if (node.is_loop()) {
        if (const Status walked = loop(node, here); !walked) return walked;
        continue;
      }
      for (std::size_t i = 0; i < here.streams.size(); ++i) {
        if (!node.ranks.empty() && !node.ranks.contains(here.streams[i])) continue;
        f_(node, here.streams[i], here.arrivals[i]);
        here.arrivals[i] = {{node.symbol(), visits(here.arrivals[i])}};
      }
    }
    return Unit{};
  }

 private:
  Status loop(const Node& node, Comers& here) {
    Comers body;
    std::vector<std::size_t> places;  // in `here`
    for (std::size_t i = 0; i < here.streams.size(); ++i) {
      const std::uint32_t stream = here.streams[i];
      if (!node.ranks.empty() && !node.ranks.contains(stream)) continue;
      if (last_event(node.body, stream) == nullptr) continue;
      places.push_back(i);
      body.streams.push_back(stream);
    }
    Result<std::vector<std::uint64_t>> totals = iterations(node, body.streams, places, here);
    if (!totals) return totals.error();
    for (std::size_t i = 0; i < places.size(); ++i) {
      Arrivals& arrivals = here.arrivals[places[i]];
      const std::uint64_t times = visits(arrivals);
      const std::uint64_t last = last_event(node.body, body.streams[i])->symbol();
      Arrivals& inside = body.arrivals.emplace_back(std::move(arrivals));
      if ((*totals)[i] > times) add(inside, last, (*totals)[i] - times);
      arrivals = {{last, times}};
    }
    return nodes(node.body, body);
  }

  /// Of all visits together, for each of `streams`.
  static Result<std::vector<std::uint64_t>> iterations(const Node& loop,
                                                       const std::vector<std::uint32_t>& streams,
                                                       const std::vector<std::size_t>& places,
                                                       const Comers& here) {
    std::vector<std::uint64_t> totals(streams.size(), 0);
    const auto take = [&](std::size_t i, const ValueSequence& counts, const Iterations& sum) {
      if (sum.in_range && counts.size() == visits(here.arrivals[places[i]])) totals[i] = sum.total;
    };
    if (!loop.iterations.grouped()) {
      const Iterations sum = sum_iterations(loop.iterations.values());
      for (std::size_t i = 0; i < streams.size(); ++i) take(i, loop.iterations.values(), sum);
    } else {
      loop.iterations.for_each_group({}, [&](const RankList& of, EndPointForm, const auto& counts) {
        const Iterations sum = sum_iterations(counts);
        for (const RankList::Interval& interval : of.intervals())
          for (auto at = std::lower_bound(streams.begin(), streams.end(), interval.first);
               at != streams.end() && *at <= interval.last; ++at)
            take(static_cast<std::size_t>(at - streams.begin()), counts, sum);
      });
    }
    for (std::size_t i = 0; i < streams.size(); ++i)
      if (totals[i] == 0) return damaged(streams[i]);
    return totals;
  }

  const ArrivalsDo& f_;
};

/// By reading the stream's events.
Status read_arrivals(const Trace& trace, std::uint32_t stream, const ArrivalsDo& f) {
  Result<RankView> view = RankView::make(trace, stream);
  if (!view) return Error{view.error().kind, "the trace is damaged: " + view.error().message, 0};
  std::map<const Node*, Arrivals> all;
  EventView event;
  while (view->next(event)) add(all[event.node], event.predecessor, 1);
  for (const auto& [node, arrivals] : all) f(*node, stream, arrivals);
  return Unit{};
}

}  // namespace

Status each_arrival(const Trace& trace, const RankList& streams, const ArrivalsDo& f) {
  const RankList wanted = streams.intersection(trace.ranks);
  const RankList idle = idle_streams(trace.nodes, trace.ranks).intersection(wanted);
  Comers all;
  all.streams = wanted.minus(idle).ranks();
  all.arrivals.assign(all.streams.size(), {{0, 1}});
  if (const Status walked = Walk(f).nodes(trace.nodes, all); !walked) return walked;
  for (const std::uint32_t stream : idle.ranks())
    if (const Status read = read_arrivals(trace, stream, f); !read) return read;
  return Unit{};
}

}  // namespace chameleon::analysis
