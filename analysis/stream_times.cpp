// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/stream_times.h"

#include <algorithm>

namespace chameleon::analysis {
namespace {

bool holds(const TimeEntry& entry, std::uint32_t stream) {
  return entry.communication.count() > 0 && (entry.ranks.empty() || entry.ranks.contains(stream));
}

void merge(Durations& mine, const Durations& theirs) {
  mine.compute.merge(theirs.compute);
  mine.communication.merge(theirs.communication);
}

}  // namespace

OutlierSums::OutlierSums(const Trace& trace) : table_(&trace.times) {
  for (const Outlier& one : trace.outliers.all()) {
    const std::uint32_t its_class = table_->class_of(one.stream);
    const bool apart = table_->apart(one.place, its_class);
    Apart& sums = apart_[{one.place, apart ? its_class : ClassTimes::kAll}];
    const std::size_t kind = one.in_call ? 1 : 0;
    sums.events[kind] += 1;
    sums.ns[kind] += static_cast<double>(one.ns);
    sums.usual_ns[kind] += static_cast<double>(one.usual_ns);
  }
}

const OutlierSums::Apart* OutlierSums::find(const Place& place, std::uint32_t time_class) const {
  if (apart_.empty()) return nullptr;
  const bool apart = table_->apart(place, time_class);
  const auto found = apart_.find({place, apart ? time_class : ClassTimes::kAll});
  return found == apart_.end() ? nullptr : &found->second;
}

double OutlierSums::Apart::mean_of_others(const Histogram& all, bool in_call) const {
  constexpr double kLost = 1.0 / 64;  // sums are known to 1/512 at worst
  const std::size_t kind = in_call ? 1 : 0;
  const double sum = static_cast<double>(all.sum()), left = sum - ns[kind];
  const double others = static_cast<double>(all.count()) - events[kind];
  if (others < 1 || events[kind] == 0) return all.mean();
  return left < sum * kLost ? usual_ns[kind] / events[kind] : left / others;
}

StreamTimes::StreamTimes(const Trace& trace, std::uint32_t stream, const OutlierSums* sums)
    : stream_(stream) {
  if (trace.times.empty()) return;
  table_ = &trace.times;
  class_ = table_->class_of(stream);
  if (class_ == ClassTimes::kAll) return;
  if (!table_->waits().empty()) spread_waits(trace);
  if (sums == nullptr) return;
  sums_ = sums;
  outliers_ = trace.outliers.of(stream_);
}

std::optional<MeanTimes> StreamTimes::of(const EventView& event) const {
  std::optional<MeanTimes> times = means(*event.node, event.predecessor);
  if (!times || sums_ == nullptr) return times;
  const Place place{event.node->symbol(), event.predecessor};
  const OutlierSums::Apart* const apart = sums_->find(place, class_);
  const Durations* const all = apart != nullptr ? at(place) : nullptr;
  if (all == nullptr) return times;
  times->compute_ns = apart->mean_of_others(all->compute, false);
  times->communication_ns = apart->mean_of_others(all->communication, true);
  const auto number = [](const Outlier& one) { return one.event; };
  for (auto own = std::ranges::lower_bound(outliers_, event.number, {}, number);
       own != outliers_.end() && own->event == event.number; ++own)
    if (own->place == place)
      (own->in_call ? times->communication_ns : times->compute_ns) = static_cast<double>(own->ns);
  return times;
}

/// The class says at which places there was waiting, the stream's own facts say how much.
void StreamTimes::spread_waits(const Trace& trace) {
  const auto of_class = static_cast<double>(table_->waits().of_class(class_));
  if (of_class <= 0) return;
  const auto streams = static_cast<double>(table_->classes()[class_].streams.size());
  double share = 1 / streams;
  if (const auto facts = trace.facts.find(stream_); facts != trace.facts.end())
    share = static_cast<double>(facts->second.waiting_ns) / of_class;
  const auto all = static_cast<double>(table_->streams().size());
  for (const auto& [place, at] : table_->waits().places()) {
    const auto found = at.ns.find(class_);
    const Durations* const times = table_->find(place, class_);
    if (found == at.ns.end() || times == nullptr) continue;
    const double those = table_->apart(place, class_) ? streams : all;
    const double events = static_cast<double>(times->compute.count()) / those;
    waits_[place] = {static_cast<double>(found->second) * share / std::max(events, 1.0),
                     static_cast<double>(at.all.ahead_ns) / static_cast<double>(at.all.markers)};
  }
}

MeanWait StreamTimes::wait(const Place& place) const {
  if (waits_.empty()) return {};
  const auto found = waits_.find(place);
  return found == waits_.end() ? MeanWait{} : found->second;
}

const Durations* StreamTimes::at(const Place& place) const {
  return table_ == nullptr || class_ == ClassTimes::kAll ? nullptr : table_->find(place, class_);
}

double StreamTimes::spread() const {
  return table_ == nullptr || class_ == ClassTimes::kAll ? 0 : table_->classes()[class_].spread;
}

const Durations* StreamTimes::after(const Node& node, std::uint64_t predecessor) const {
  if (table_ != nullptr) return at({node.symbol(), predecessor});
  for (const TimeEntry& entry : node.times)
    if (entry.predecessor == predecessor && holds(entry, stream_)) return &entry;
  return nullptr;
}

Durations StreamTimes::gather(const Node& node) const {
  Durations all;
  if (table_ == nullptr) {
    for (const TimeEntry& entry : node.times)
      if (holds(entry, stream_)) merge(all, entry);
  } else if (class_ != ClassTimes::kAll) {
    for (const auto& [place, times] : table_->places())
      if (place.symbol == node.symbol())
        if (const Durations* const one = table_->find(place, class_)) merge(all, *one);
  }
  return all;
}

const Durations* StreamTimes::after_any(const Node& node) const {
  auto known = after_any_.find(&node);
  if (known == after_any_.end()) known = after_any_.emplace(&node, gather(node)).first;
  return known->second.communication.empty() ? nullptr : &known->second;
}

std::optional<MeanTimes> StreamTimes::means(const Node& node, std::uint64_t predecessor) const {
  const Durations* times = after(node, predecessor);
  if (times == nullptr) times = after_any(node);
  if (times == nullptr) return std::nullopt;
  return MeanTimes{times->compute.mean(), times->communication.mean(), times->communication.min()};
}

}  // namespace chameleon::analysis
