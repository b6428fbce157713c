// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/place_times.h"

#include <algorithm>

#include "analysis/arrivals.h"
#include "model/time_code.h"
#include "model/view.h"

namespace chameleon::analysis {
namespace {

bool holds(const TimeEntry& entry, std::uint32_t stream) {
  return entry.communication.count() > 0 && (entry.ranks.empty() || entry.ranks.contains(stream));
}

const TimeEntry* entry_after(const Node& node, std::uint64_t predecessor, std::uint32_t stream) {
  for (const TimeEntry& entry : node.times)
    if (entry.predecessor == predecessor && holds(entry, stream)) return &entry;
  return nullptr;
}

/// Each event of a stream has its own times.
Status each_full_time(const Trace& trace, std::uint32_t stream,
                      const std::function<void(const PlaceTime&)>& f) {
  Result<RankView> view = RankView::make(trace, stream);
  if (!view) return Error{view.error().kind, "the trace is damaged: " + view.error().message, 0};
  std::map<std::pair<const Node*, std::uint64_t>, Durations> places;
  EventView event;
  while (view->next(event)) {
    Durations& place = places[{event.node, event.predecessor}];
    const std::size_t fields = event.values.size();
    if (fields < 2) continue;
    place.compute.add(decode_time(event.values[fields - 2]));
    place.communication.add(decode_time(event.values[fields - 1]));
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
  return each_arrival(
      trace, streams,
      [&](const Node& node, std::uint32_t stream, std::span<const Arrival> arrivals) {
        std::optional<Durations> all;  // of the stream, whatever came before
        for (const Arrival& one : arrivals) {
          const auto events = static_cast<double>(one.count);
          if (const TimeEntry* entry = entry_after(node, one.predecessor, stream)) {
            f({node, stream, one.predecessor, events, entry, true});
            continue;
          }
          if (!all) {
            all.emplace();
            for (const TimeEntry& entry : node.times) {
              if (!holds(entry, stream)) continue;
              all->compute.merge(entry.compute);
              all->communication.merge(entry.communication);
            }
          }
          f({node, stream, one.predecessor, events, all->communication.empty() ? nullptr : &*all,
             false});
        }
      });
}

Result<NodeTimes> NodeTimes::make(const Trace& trace, const RankList& streams) {
  NodeTimes times;
  // Of distributions that streams share, bins are looked at once.
  std::unordered_map<const Durations*, std::pair<const Node*, double>> shared;
  const auto add = [&](const Node& node, const Durations& like, double events) {
    SpentAt& at = times.nodes_[&node];
    at.compute.add(like.compute, events);
    at.communication.add(like.communication, events);
  };
  const Status read = each_place_time(trace, streams, [&](const PlaceTime& time) {
    if (time.like == nullptr) return;
    if (!time.shared) return add(time.node, *time.like, time.events);
    auto& [node, events] = shared[time.like];
    node = &time.node;
    events += time.events;
  });
  if (!read) return read.error();
  for (const auto& [like, of] : shared) add(*of.first, *like, of.second);
  return times;
}

const SpentAt& NodeTimes::at(const Node& node) const {
  static const SpentAt kNothing;
  const auto found = nodes_.find(&node);
  return found == nodes_.end() ? kNothing : found->second;
}

std::optional<MeanTimes> mean_times(const Node& node, std::uint64_t predecessor,
                                    std::uint32_t stream) {
  if (const TimeEntry* entry = entry_after(node, predecessor, stream))
    return MeanTimes{entry->compute.mean(), entry->communication.mean(),
                     entry->communication.min()};
  double count = 0;
  MeanTimes means;
  for (const TimeEntry& entry : node.times) {
    if (!holds(entry, stream)) continue;
    means.least_communication_ns =
        count > 0 ? std::min(means.least_communication_ns, entry.communication.min())
                  : entry.communication.min();
    count += static_cast<double>(entry.communication.count());
    means.compute_ns += static_cast<double>(entry.compute.sum());
    means.communication_ns += static_cast<double>(entry.communication.sum());
  }
  if (count <= 0) return std::nullopt;
  means.compute_ns /= count;
  means.communication_ns /= count;
  return means;
}

}  // namespace chameleon::analysis
