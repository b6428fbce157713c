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

StreamTimes::StreamTimes(const Trace& trace, std::uint32_t stream) : stream_(stream) {
  if (trace.times.empty()) return;
  table_ = &trace.times;
  class_ = table_->class_of(stream);
  if (class_ == ClassTimes::kAll) return;
  if (!table_->waits().empty()) spread_waits(trace);
  if (!trace.outliers.all().empty()) set_apart(trace);
}

/// The distributions have the outliers of all streams that share them.
void StreamTimes::set_apart(const Trace& trace) {
  outliers_ = trace.outliers.of(stream_);
  for (const Outlier& one : trace.outliers.all()) {
    const bool mine = table_->apart(one.place, class_)
                          ? table_->classes()[class_].streams.contains(one.stream)
                          : !table_->apart(one.place, table_->class_of(one.stream));
    if (!mine) continue;
    Apart& apart = apart_[one.place];
    apart.events[one.in_call ? 1 : 0] += 1;
    apart.ns[one.in_call ? 1 : 0] += static_cast<double>(one.ns);
  }
}

std::optional<MeanTimes> StreamTimes::of(const EventView& event) const {
  std::optional<MeanTimes> times = means(*event.node, event.predecessor);
  if (!times || apart_.empty()) return times;
  const Place place{event.node->symbol(), event.predecessor};
  const auto apart = apart_.find(place);
  if (apart == apart_.end()) return times;
  const Durations* const all = at(place);
  if (all == nullptr) return times;
  const auto without = [&](const Histogram& like, std::size_t kind) {
    const double events = static_cast<double>(like.count()) - apart->second.events[kind];
    const double ns = static_cast<double>(like.sum()) - apart->second.ns[kind];
    return events < 1 ? like.mean() : std::max(ns / events, 0.0);
  };
  times->compute_ns = without(all->compute, 0);
  times->communication_ns = without(all->communication, 1);
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
