// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/stretch_places.h"

#include <algorithm>
#include <map>

#include "analysis/follow.h"

namespace chameleon::analysis {
namespace {

constexpr std::uint64_t kMostEvents = 2'000'000;
constexpr std::size_t kMostRanks = 8;

/// Calls f(symbol, begin, end) for the events of a rank, in ns since its first; the end of the
/// last. 0: there are too many.
template <class F>
Result<double> each_event(const FollowPlan& plan, std::uint32_t rank, F f) {
  Result<Follower> follower = Follower::of_stream(plan, rank);
  if (!follower) return follower.error();
  FollowedEvent event;
  double clock = 0;
  for (std::uint64_t count = 0; follower->next(event); ++count) {
    if (count >= kMostEvents) return 0.0;
    const EventTimes spent = follower->times(event);
    const double begin = clock;
    clock += static_cast<double>(spent.compute + spent.waiting + spent.communication);
    f(event.view.node->symbol(), begin, clock);
  }
  return clock;
}

}  // namespace

Result<StretchPlaces> places_in(const Trace& trace, const std::vector<SlowSteps>& stretches) {
  StretchPlaces places(stretches.size());
  if (trace.series.empty() || trace.threads > 1) return places;
  std::map<std::uint32_t, std::vector<std::size_t>> by_rank;
  for (std::size_t i = 0; i < stretches.size(); ++i) {
    const RankList& ranks = stretches[i].ranks.empty() ? trace.ranks : stretches[i].ranks;
    if (!ranks.empty()) by_rank[ranks.first()].push_back(i);
  }
  const FollowPlan plan(trace);
  const auto length = static_cast<double>(trace.series.spans().back().end_ns);
  std::size_t read = 0;
  for (const auto& [rank, of_rank] : by_rank) {
    if (!trace.ranks.contains(rank) || ++read > kMostRanks) continue;
    const Result<double> all = each_event(plan, rank, [](std::uint64_t, double, double) {});
    if (!all) return all.error();
    if (*all <= 0 || length <= 0) continue;
    const double scale = length / *all;
    for (const std::size_t i : of_rank) places[i].emplace();
    const Result<double> again =
        each_event(plan, rank, [&](std::uint64_t symbol, double begin, double end) {
          for (const std::size_t i : of_rank) {
            const auto from = static_cast<double>(stretches[i].begin_ns);
            const auto until = static_cast<double>(stretches[i].end_ns);
            const double room =
                std::max(until - from, 0.0) / static_cast<double>(2 * stretches[i].intervals()) +
                length / 100;
            if (end * scale >= from - room && begin * scale <= until + room)
              places[i]->insert(symbol);
          }
        });
    if (!again) return again.error();
  }
  return places;
}

}  // namespace chameleon::analysis
