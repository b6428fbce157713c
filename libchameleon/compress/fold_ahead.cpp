// SPDX-License-Identifier: BSD-3-Clause
// The iteration that is expected, and those that repeat it.
#include <algorithm>

#include "compress/fold.h"

namespace chameleon::compress {
namespace {

/// Events of an iteration that are waited for, unless its loop has more places.
constexpr std::size_t kMostPending = 4096;

}  // namespace

/// `loop` has just gone round: what comes next is likely one of its steps.
void Folder::predict(Node* loop) {
  predicts_ = false;
  if (loop->shape.hash == too_long_) return;
  places_.clear();
  steps_.clear();
  begins_.clear();
  beats_.clear();
  whole_repeats_ = has_patterns_ = false;
  plan(*loop);
  at_ = last_ = static_cast<std::uint32_t>(places_.size() - 1);
  places_.back().end_step = static_cast<std::uint32_t>(steps_.size());
  predicts_ = true;
}

// Appends the places of a loop. The steps from a place are made before the next place is.
void Folder::plan(Node& loop) {
  const auto begin = static_cast<std::uint32_t>(begins_.size());
  const auto first = static_cast<std::uint32_t>(places_.size());
  begins_.push_back(&loop);
  for (Node& node : loop.body) {
    if (node.is_loop()) {
      plan(node);
      continue;
    }
    const auto begun = static_cast<std::uint32_t>(begins_.size());
    if (!places_.empty()) {
      Place& before = places_.back();
      steps_.push_back({static_cast<std::uint32_t>(places_.size()), before.end_begun, begun});
      before.end_step = static_cast<std::uint32_t>(steps_.size());
    }
    Place& place = places_.emplace_back();
    place.leaf = &node;
    place.symbol = node.symbol();
    place.first_step = static_cast<std::uint32_t>(steps_.size());
    place.end_begun = begun;
  }
  steps_.push_back({first, begin + 1, places_[first].end_begun, &loop});
}

// Values that are known to be those of the time before are only counted.
bool Folder::predicted(const Event& event) {
  const std::uint64_t symbol = Node::event_symbol(event.call, event.path);
  const Place& here = places_[at_];
  std::uint32_t step = here.first_step;
  bool same = false;
  for (;; ++step) {
    if (step == here.end_step) {
      if (iteration_is_whole() && !comes_later_in(begins_.front()->body, symbol))
        commit_prediction();
      withdraw_prediction();
      return false;
    }
    const Place& place = places_[steps_[step].to];
    same = event.identity != 0 && event.identity == place.identity;
    if (same || (place.leaf->call == event.call && place.leaf->path == event.path &&
                 place.leaf->params.size() == event.values.size()))
      break;
  }
  if (iteration_is_whole() &&
      (steps_[step].again == begins_.front() || is_settled(0) || pending_.size() > kMostPending))
    commit_prediction();
  Pending pending{event.compute, event.communication, event.identity, step, kSame};
  at_ = steps_[step].to;
  Place& place = places_[at_];
  if (!same) {
    pending.first = static_cast<std::uint32_t>(pending_values_.size());
    pending_values_.insert(pending_values_.end(), event.values.begin(), event.values.end());
    place.identity = event.identity;
  }
  if (pending_.empty()) before_ = last_symbol_;
  pending_.push_back(pending);
  last_symbol_ = place.symbol;
  if (at_ != last_ && pending_.size() > kMostPending && pending_.size() > 2 * places_.size()) {
    too_long_ = begins_.front()->shape.hash;
    withdraw_prediction();
  }
  return true;
}

/// Whether the iteration that is whole ends there if `next` follows: it is expected, or is not in
/// the middle of the body.
bool Folder::is_over(std::uint64_t next, std::size_t rounds) const {
  const Place& last = places_.back();
  const bool outer = steps_[whole_.front().step].again == begins_.front();
  for (std::uint32_t step = last.first_step; step < last.end_step; ++step)
    if (places_[steps_[step].to].symbol == next)
      return steps_[step].again == begins_.front() || is_settled(outer ? rounds : 0);
  return !comes_later_in(begins_.front()->body, next);
}

void Folder::commit_prediction() {
  settle_rounds();
  std::uint64_t predecessor = before_;
  whole_repeats_ = true;
  has_patterns_ = has_pattern();
  if (has_patterns_) patterns_.assign(places_.size(), {});
  for (std::size_t i = 0; i < pending_.size(); ++i) {
    if (i + kAhead < pending_.size()) prefetch(places_[steps_[pending_[i + kAhead].step].to].time);
    const Pending& pending = pending_[i];
    Place& place = enter(steps_[pending.step]);
    if (pending.identity == 0 || pending.identity != place.identity) whole_repeats_ = false;
    if (pending.first == kSame) {
      ++place.repeats;
    } else {
      settle(place);
      const std::int64_t* values = pending_values_.data() + pending.first;
      for (Param& param : place.leaf->params) param.values().append(*values++);
    }
    if (has_patterns_) {
      std::vector<ValueSequence>& pattern = patterns_[steps_[pending.step].to];
      pattern.resize(place.leaf->params.size());
      for (std::size_t k = 0; k < pattern.size(); ++k)
        pattern[k].append(place.leaf->params[k].values().back());
    }
    if (keep_times_) {
      TimeEntry& entry = time_entry(place, predecessor);
      entry.compute.add(pending.compute);
      entry.communication.add(pending.communication);
    }
    predecessor = place.symbol;
  }
  whole_.swap(pending_);
  beats_.clear();
  pending_.clear();
  pending_values_.clear();
}

TimeEntry& Folder::time_entry(Place& place, std::uint64_t predecessor) {
  if (place.time != nullptr && place.time->predecessor == predecessor) return *place.time;
  std::vector<TimeEntry>& times = place.leaf->times;
  const auto found = std::find_if(times.begin(), times.end(), [&](const TimeEntry& entry) {
    return entry.predecessor == predecessor;
  });
  if (found != times.end()) {
    place.time = &*found;
  } else {
    place.time = &times.emplace_back();
    place.time->predecessor = predecessor;
  }
  return *place.time;
}

/// Of the whole iteration, which comes after itself.
void Folder::find_beats() {
  turns_.clear();
  for (const bool all_there : {false, true}) {  // entries that are added move others
    std::uint64_t predecessor = last_symbol_;
    for (const Pending& event : whole_) {
      const Step& step = steps_[event.step];
      Place& place = places_[step.to];
      TimeEntry* const time = keep_times_ ? &time_entry(place, predecessor) : nullptr;
      predecessor = place.symbol;
      if (!all_there) continue;
      beats_.push_back({event.identity, time});
      if (step.again != nullptr || step.first_entered != step.end_entered)
        turns_.push_back(event.step);
    }
  }
}

/// Of a loop of many places, in the order of these.
void Folder::gather_times() {
  constexpr std::size_t kFewest = 256, kMost = 1U << 14;
  if (!keep_times_ || places_.size() < kFewest || places_.size() > kMost) return;
  std::vector<std::size_t> first;
  for (const Place& place : places_) {
    first.push_back(homes_.size());
    for (TimeEntry& entry : place.leaf->times) homes_.push_back(&entry);
  }
  gathered_.reserve(homes_.size());
  for (TimeEntry* const home : homes_) gathered_.push_back(std::move(*home));
  for (std::size_t i = 0; i < beats_.size(); ++i) {
    const std::uint32_t at = steps_[whole_[i].step].to;
    const auto* const entry = static_cast<const TimeEntry*>(beats_[i].time);
    beats_[i].time = &gathered_[first[at] + (entry - places_[at].leaf->times.data())];
  }
}

/// Whether the iteration that waits is the one before once more, and has several events at a place.
bool Folder::has_pattern() const {
  if (pending_.size() != whole_.size()) return false;
  bool several = false;
  for (std::size_t i = 0; i < whole_.size(); ++i) {
    const Pending& pending = pending_[i];
    if (pending.identity == 0 || pending.identity != whole_[i].identity) return false;
    several = several || pending.identity != places_[steps_[pending.step].to].identity;
  }
  return several;
}

/// Whole iterations that were only counted get their values, and times go back.
void Folder::settle_rounds() {
  for (std::size_t i = 0; i < gathered_.size(); ++i)
    static_cast<Durations&>(*homes_[i]) = std::move(gathered_[i]);
  std::vector<Durations>().swap(gathered_);
  homes_.clear();
  if (rounds_ == 0) return;
  if (has_patterns_) {
    for (std::size_t at = 0; at < places_.size(); ++at) {
      settle(places_[at]);
      for (std::size_t k = 0; k < patterns_[at].size(); ++k)
        places_[at].leaf->params[k].values().append_times(patterns_[at][k], rounds_);
    }
  } else {
    for (const Pending& event : whole_) places_[steps_[event.step].to].repeats += rounds_;
  }
  rounds_ = 0;
}

/// The values that were only counted join the leaf.
void Folder::settle(Place& place) {
  if (place.repeats == 0) return;
  for (Param& param : place.leaf->params)
    param.values().append(param.values().back(), place.repeats);
  place.repeats = 0;
}

/// The loop is left, perhaps within an iteration, whose events become nodes.
void Folder::withdraw_prediction() {
  predicts_ = false;
  settle_rounds();
  for (Place& place : places_) settle(place);
  std::vector<Node> nodes;
  std::vector<std::uint32_t> last(pending_.empty() ? 0 : places_.size(), kSame);
  std::vector<std::int64_t> values;
  std::uint64_t predecessor = before_;
  for (const Pending& pending : pending_) {
    const std::uint32_t at = steps_[pending.step].to;
    const Node& leaf = *places_[at].leaf;
    if (pending.first != kSame) last[at] = pending.first;
    values.clear();
    for (std::size_t i = 0; i < leaf.params.size(); ++i)
      values.push_back(last[at] != kSame ? pending_values_[last[at] + i]
                                         : leaf.params[i].values().back());
    nodes.push_back(node_of({leaf.call, leaf.path, pending.compute, pending.communication, values},
                            predecessor));
    predecessor = places_[at].symbol;
  }
  pending_.clear();
  pending_values_.clear();
  for (Node& node : nodes) fold_in(std::move(node));
}

}  // namespace chameleon::compress
