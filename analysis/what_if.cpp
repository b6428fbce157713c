// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/what_if.h"

#include <algorithm>
#include <map>
#include <memory>
#include <unordered_map>

#include "analysis/place_times.h"
#include "analysis/placement.h"

namespace chameleon::analysis {
namespace {

/// What all ranks would compute before an event after another if they were balanced.
class Balance {
 public:
  void add(const Node& node, std::uint64_t predecessor, std::uint32_t rank, double events,
           double ns) {
    Sum& place = places_[combine(node.symbol(), predecessor)];
    place.events += events;
    place.ns += ns;
    place.by_rank[rank] += events;
  }

  void finish(std::uint32_t ranks) {
    std::map<std::uint32_t, double> computes;
    double all = 0;
    for (auto& [key, place] : places_) {
      place.mean = place.events > 0 ? place.ns / place.events : 0;
      for (const auto& [rank, events] : place.by_rank) computes[rank] += place.mean * events;
      place.by_rank.clear();
      all += place.ns;
    }
    for (const auto& [rank, ns] : computes)
      if (ns > 0) factors_[rank] = all / std::max<double>(ranks, 1) / ns;
  }

  /// Instead of what the rank computed before this event; less than 0: not known.
  double ns(const RankOperations& at) const {
    const auto place = places_.find(combine(at.event().node->symbol(), at.event().predecessor));
    if (place == places_.end()) return -1;
    const auto factor = factors_.find(at.rank());
    return place->second.mean * (factor == factors_.end() ? 1 : factor->second);
  }

 private:
  struct Sum {
    double events = 0, ns = 0, mean = 0;
    std::map<std::uint32_t, double> by_rank;  ///< events
  };
  std::unordered_map<std::uint64_t, Sum> places_;
  std::unordered_map<std::uint32_t, double> factors_;
};

using Window = std::pair<std::uint64_t, std::uint64_t>;

bool holds(const std::optional<Window>& window, std::uint64_t begin_ns) {
  return !window || (begin_ns >= window->first && begin_ns < window->second);
}

Result<std::shared_ptr<const Balance>> balance_of(const Trace& trace,
                                                  const std::optional<Window>& window) {
  const auto balance = std::make_shared<Balance>();
  const RankList ranks = trace.whole_ranks();
  if (window) {
    const Result<TimelineFacts> run = run_timeline(trace, ranks, [&](const TimedEvent& event) {
      if (holds(window, event.begin_ns))
        balance->add(*event.at->event().node, event.at->event().predecessor, event.rank(), 1,
                     static_cast<double>(event.at->compute_ns()));
    });
    if (!run) return run.error();
  } else {
    const Status read = each_place_time(trace, ranks, [&](const PlaceTime& place) {
      balance->add(place.node, place.predecessor, place.stream, place.events, place.compute_ns());
    });
    if (!read) return read.error();
  }
  balance->finish(static_cast<std::uint32_t>(ranks.size()));
  return std::shared_ptr<const Balance>(balance);
}

Lane::Changed then(Lane::Changed first, Lane::Changed second) {
  if (!first) return second;
  return [first = std::move(first), second = std::move(second)](const RankOperations& at,
                                                                std::uint64_t begin, double ns) {
    return second(at, begin, first(at, begin, ns));
  };
}

Lane::Changed balanced(std::shared_ptr<const Balance> balance, std::optional<Window> window) {
  return [=](const RankOperations& at, std::uint64_t begin, double ns) {
    if (!holds(window, begin)) return ns;
    const double mean = balance->ns(at);
    if (mean < 0) return ns;
    // The timeline is stretched to the length of the run, and ranks' clocks are.
    const auto recorded = static_cast<double>(at.compute_ns());
    return recorded > 0 ? mean * (ns / recorded) : mean;
  };
}

Result<Lane> lane_of(const Trace& trace, const Scenario& scenario) {
  Lane lane;
  for (const Assumption& change : scenario) {
    const double factor = change.factor;
    const Lane::Changed divided = [factor](const RankOperations&, std::uint64_t, double ns) {
      return ns / factor;
    };
    switch (change.kind) {
      case Assumption::Kind::kNetwork: lane.transfer = then(lane.transfer, divided); break;
      case Assumption::Kind::kSpeed:
        lane.compute = then(lane.compute, [factor, is_in = change.is_in](const RankOperations& at,
                                                                         std::uint64_t, double ns) {
          return is_in(at.event().path) ? ns / factor : ns;
        });
        break;
      case Assumption::Kind::kRanksPerNode: {
        const auto placement = Placement::make(trace, static_cast<std::uint32_t>(factor));
        if (!placement) return placement.error();
        lane.transfer = then(lane.transfer, [placed = *placement](const RankOperations& at,
                                                                  std::uint64_t, double ns) {
          return placed->transfer_ns(at, ns);
        });
        break;
      }
      case Assumption::Kind::kBalance: {
        const auto balance = balance_of(trace, change.within_ns);
        if (!balance) return balance.error();
        lane.compute = then(lane.compute, balanced(*balance, change.within_ns));
      }
    }
  }
  return lane;
}

}  // namespace

Result<WhatIf> what_if(const Trace& trace, const std::vector<Scenario>& scenarios) {
  WhatIf found;
  for (std::size_t next = 0; next < scenarios.size() || found.run_ns == 0;) {
    std::vector<Lane> lanes(1);
    for (; next < scenarios.size() && lanes.size() < kMostLanes; ++next) {
      Result<Lane> lane = lane_of(trace, scenarios[next]);
      if (!lane) return lane.error();
      lanes.push_back(std::move(*lane));
    }
    const Result<TimelineFacts> run = run_lanes(trace, lanes);
    if (!run) return run.error();
    found.run_ns = static_cast<double>(run->end_ns);
    found.model_ns = static_cast<double>(run->lane_ends_ns.front());
    found.unmatched = run->unmatched;
    found.events = run->events;
    found.at_once = run->at_once;
    for (std::size_t i = 1; i < lanes.size(); ++i)
      found.predicted_ns.push_back(found.model_ns > 0
                                       ? found.run_ns * static_cast<double>(run->lane_ends_ns[i]) /
                                             found.model_ns
                                       : 0);
    if (found.run_ns == 0) break;
  }
  return found;
}

}  // namespace chameleon::analysis
