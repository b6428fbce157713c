// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/place_times.h"

#include <algorithm>

#include "analysis/arrivals.h"
#include "analysis/stream_times.h"
#include "model/view.h"

namespace chameleon::analysis {
namespace {

/// Each event of a stream has its own times.
Status each_full_time(const Trace& trace, std::uint32_t stream,
                      const std::function<void(const PlaceTime&)>& f) {
  Result<RankView> view = RankView::make(trace, stream);
  if (!view) return Error{view.error().kind, "the trace is damaged: " + view.error().message, 0};
  std::map<std::pair<const Node*, std::uint64_t>, Durations> places;
  EventView event;
  while (view->next(event)) {
    const auto call = trace.calls.find(event.node->call);
    const std::size_t fields = event.values.size();
    if (fields < 2 || call == trace.calls.end() || call->second.fields.size() != fields) continue;
    const std::span<const Field> described = call->second.fields;
    if (!is_time(described.back())) continue;
    Durations& place = places[{event.node, event.predecessor}];
    place.compute.add(time_ns(described[fields - 2], event.values[fields - 2]));
    place.communication.add(time_ns(described[fields - 1], event.values[fields - 1]));
  }
  for (const auto& [at, durations] : places)
    f({*at.first, stream, at.second, static_cast<double>(durations.compute.count()), &durations,
       false});
  return Unit{};
}

}  // namespace

void Spent::add(const Histogram& like, double instances) {
  if (like.empty() || instances <= 0) return;
  least_ns = count > 0 ? std::min(least_ns, like.min()) : like.min();
  most_ns = std::max(most_ns, like.max());
  count += instances;
  sum_ns += instances * like.mean();
  const double each = instances / static_cast<double>(like.count());
  for (const auto& [bin, number] : like.bins()) bins[bin] += each * static_cast<double>(number);
}

void Spent::add(const Spent& other) {
  if (other.count <= 0) return;
  least_ns = count > 0 ? std::min(least_ns, other.least_ns) : other.least_ns;
  most_ns = std::max(most_ns, other.most_ns);
  count += other.count;
  sum_ns += other.sum_ns;
  for (const auto& [bin, number] : other.bins) bins[bin] += number;
}

double Spent::quantile_ns(double q) const {
  const auto lowest = static_cast<double>(least_ns), highest = static_cast<double>(most_ns);
  if (q <= 0) return lowest;
  double left = q * count;
  for (const auto& [bin, here] : bins) {
    if (left <= here) {
      const double low = std::max(lowest, static_cast<double>(Histogram::bin_low(bin)));
      const double high = std::min(highest, static_cast<double>(Histogram::bin_low(bin + 1U)));
      return low + (high - low) * left / here;
    }
    left -= here;
  }
  return highest;
}

Status each_place_time(const Trace& trace, const RankList& streams,
                       const std::function<void(const PlaceTime&)>& f) {
  if (trace.timing == "full") {
    for (const std::uint32_t stream : streams.intersection(trace.ranks).ranks())
      if (const Status read = each_full_time(trace, stream, f); !read) return read;
    return Unit{};
  }
  std::unordered_map<std::uint32_t, StreamTimes> times;
  streams.intersection(trace.ranks).for_each([&](std::uint32_t stream) {
    times.try_emplace(stream, trace, stream);
  });
  return each_arrival(
      trace, streams,
      [&](const Node& node, std::uint32_t stream, std::span<const Arrival> arrivals) {
        const StreamTimes& mine = times.at(stream);
        for (const Arrival& one : arrivals) {
          const Durations* const like = mine.after(node, one.predecessor);
          f({node, stream, one.predecessor, static_cast<double>(one.count),
             like != nullptr ? like : mine.after_any(node), like != nullptr});
        }
      });
}

Result<NodeTimes> NodeTimes::make(const Trace& trace, const RankList& streams) {
  NodeTimes times;
  // Of distributions that streams share, bins are looked at once.
  std::map<std::pair<const Node*, const Durations*>, std::size_t> known;
  std::vector<PlaceTime>
      shared;  // in the order of the nodes, so that sums are always rounded alike
  const auto add = [&](const Node& node, const Durations& like, double events) {
    SpentAt& at = times.nodes_[&node];
    at.compute.add(like.compute, events);
    at.communication.add(like.communication, events);
  };
  const Status read = each_place_time(trace, streams, [&](const PlaceTime& time) {
    if (time.like == nullptr) return;
    if (!time.shared) return add(time.node, *time.like, time.events);
    const auto [place, added] = known.try_emplace({&time.node, time.like}, shared.size());
    if (added)
      shared.push_back(time);
    else
      shared[place->second].events += time.events;
  });
  if (!read) return read.error();
  for (const PlaceTime& time : shared) add(time.node, *time.like, time.events);
  return times;
}

const SpentAt& NodeTimes::at(const Node& node) const {
  static const SpentAt kNothing;
  const auto found = nodes_.find(&node);
  return found == nodes_.end() ? kNothing : found->second;
}

}  // namespace chameleon::analysis
