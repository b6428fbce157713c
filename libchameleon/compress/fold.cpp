// SPDX-License-Identifier: BSD-3-Clause
#include "compress/fold.h"

#include <algorithm>

namespace chameleon::compress {
namespace {

constexpr std::size_t kWindows[] = {4, 16, 64};

/// The loop that ends `loop`, or null.
Node* loop_at_end(Node& loop) { return loop.body.back().is_loop() ? &loop.body.back() : nullptr; }

/// Events of an iteration that are waited for, unless its loop has more places.
constexpr std::size_t kMostPending = 4096;

const RankList kSameRanks;

}  // namespace

void Folder::push(const Event& event) {
  ++events_;
  if (predicts_ && predicted(event)) return;
  fold_in(node_of(event, last_symbol_));
  last_symbol_ = Node::event_symbol(event.call, event.path);
}

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
  at_ = static_cast<std::uint32_t>(places_.size() - 1);
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
  const Place& here = places_[at_];
  std::uint32_t step = here.first_step;
  bool same = false;
  for (;; ++step) {
    if (step == here.end_step) {
      withdraw_prediction();
      return false;
    }
    const Place& place = places_[steps_[step].to];
    same = event.identity != 0 && event.identity == place.identity;
    if (same || (place.leaf->call == event.call && place.leaf->path == event.path &&
                 place.leaf->params.size() == event.values.size()))
      break;
  }
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
  if (at_ + 1 == places_.size()) {
    commit_prediction();
  } else if (pending_.size() > kMostPending && pending_.size() > 2 * places_.size()) {
    too_long_ = begins_.front()->shape.hash;
    withdraw_prediction();
  }
  return true;
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
  for (Node& node : nodes) {
    fold_in(std::move(node));
    predicts_ = false;
  }
}

Node Folder::node_of(const Event& event, std::uint64_t predecessor) const {
  Node node;
  node.call = event.call;
  node.path = event.path;
  node.shape = Shape::of(Node::event_symbol(event.call, event.path));
  node.params.resize(event.values.size());
  for (std::size_t i = 0; i < event.values.size(); ++i)
    node.params[i].values().append(event.values[i]);
  if (keep_times_) {
    TimeEntry& entry = node.times.emplace_back();
    entry.predecessor = predecessor;
    entry.compute.add(event.compute);
    entry.communication.add(event.communication);
  }
  return node;
}

void Folder::fold_in(Node node) {
  prefix_.push_back(prefix_.back().then(node.shape));
  nodes_.push_back(std::move(node));

  absorbed_into_ = nullptr;
  while (try_fold()) {
  }
  remember_tail();
  if (absorbed_into_ != nullptr) predict(absorbed_into_);
}

void Folder::append(std::vector<Node> nodes, std::uint64_t events) {
  if (nodes.empty()) return;
  if (predicts_) withdraw_prediction();
  reopen_loops(nodes);
  last_symbol_ = end_symbol(nodes.back());
  for (Node& node : nodes) {
    fold_in(std::move(node));
    predicts_ = false;
  }
  events_ += events;
}

bool Folder::try_fold() {
  const std::uint64_t symbol = end_symbol(nodes_.back());
  const auto try_slot = [&](std::uint64_t key) {
    const Slot found = slot(key);
    if (found.key != key) return false;
    for (const std::uint32_t position : found.positions)
      if (position != 0 && position < nodes_.size() && try_position(position)) return true;
    return false;
  };
  if (try_slot(symbol)) return true;
  for (const std::size_t width : kWindows) {
    if (nodes_.size() < width) break;
    if (try_slot(top_window_key(width))) return true;
  }
  return false;
}

bool Folder::try_position(std::size_t at) {
  const Shape tail = shape_between(at, nodes_.size());
  if (nodes_[at - 1].is_loop() && absorb(nodes_[at - 1], at, tail)) return true;
  return fold_square(at, tail);
}

bool Folder::absorb(Node& before, std::size_t at, const Shape& tail) {
  const std::span<Node> rest = std::span(nodes_).subspan(at);
  for (Node* loop = &before; loop != nullptr; loop = loop_at_end(*loop)) {
    if (!(loop->shape == tail)) continue;
    if (rest.size() == 1 && rest[0].is_loop() && alignable(loop->body, rest[0].body)) {
      const std::uint64_t more = rest[0].current;
      append_execution(loop->body, rest[0].body, kSameRanks);
      loop->current += more;
    } else if (alignable(loop->body, rest)) {
      append_execution(loop->body, rest, kSameRanks);
      ++loop->current;
    } else {
      continue;
    }
    nodes_.resize(at);
    prefix_.resize(at + 1);
    absorbed_into_ = loop;
    return true;
  }
  return false;
}

bool Folder::fold_square(std::size_t at, const Shape& tail) {
  const std::uint64_t end = prefix_[at].length;
  if (end < tail.length) return false;
  const auto start = std::lower_bound(
      prefix_.begin(), prefix_.begin() + static_cast<std::ptrdiff_t>(at), end - tail.length,
      [](const Shape& shape, std::uint64_t length) { return shape.length < length; });
  if (start->length != end - tail.length) return false;
  const auto first = static_cast<std::size_t>(start - prefix_.begin());
  if (!(shape_between(first, at) == tail)) return false;
  const std::span<Node> all(nodes_);
  if (!alignable(all.subspan(first, at - first), all.subspan(at))) return false;

  Node loop;
  loop.shape = tail;
  loop.shape.power = powers_[tail.length];
  loop.current = 2;
  loop.body.assign(std::make_move_iterator(nodes_.begin() + static_cast<std::ptrdiff_t>(first)),
                   std::make_move_iterator(nodes_.begin() + static_cast<std::ptrdiff_t>(at)));
  append_execution(loop.body, all.subspan(at), kSameRanks);
  nodes_.resize(first);
  prefix_.resize(first + 1);
  prefix_.push_back(prefix_.back().then(loop.shape));
  nodes_.push_back(std::move(loop));
  absorbed_into_ = &nodes_.back();
  return true;
}

Shape Folder::shape_between(std::size_t first, std::size_t last) {
  const std::uint64_t length = prefix_[last].length - prefix_[first].length;
  while (powers_.size() <= length) powers_.push_back(powers_.back() * Shape::kBase);
  return {prefix_[last].hash - prefix_[first].hash * powers_[length], length, powers_[length]};
}

std::uint64_t Folder::window_key(std::span<const Node> nodes, std::size_t width) {
  return combine(shape_of(nodes.last(width)).hash, width);
}

std::uint64_t Folder::top_window_key(std::size_t width) {
  return combine(shape_between(nodes_.size() - width, nodes_.size()).hash, width);
}

void Folder::remember(std::uint64_t key, std::size_t position) {
  Slot& entry = slot(key);
  if (entry.key != key) entry = Slot{key, {0, 0, 0, 0}};
  auto* const found = std::find(entry.positions, entry.positions + 3, position);
  std::move_backward(entry.positions, found, found + 1);
  entry.positions[0] = static_cast<std::uint32_t>(position);
}

void Folder::remember_tail() {
  if (nodes_.size() * 8 > index_.size()) grow_index();
  remember(end_symbol(nodes_.back()), nodes_.size());
  for (const std::size_t width : kWindows) {
    if (nodes_.size() >= width) remember(top_window_key(width), nodes_.size());
    for (Node* loop = nodes_.back().is_loop() ? &nodes_.back() : nullptr; loop != nullptr;
         loop = loop_at_end(*loop))
      if (loop->body.size() >= width) remember(window_key(loop->body, width), nodes_.size());
  }
}

void Folder::grow_index() {
  std::vector<Slot> old(index_.size() * 4);
  old.swap(index_);
  for (const Slot& entry : old)
    if (entry.key != 0) slot(entry.key) = entry;
}

std::span<const Node> Folder::nodes() {
  if (predicts_) withdraw_prediction();
  return nodes_;
}

std::vector<Node> Folder::take() {
  if (predicts_) withdraw_prediction();
  close_loops(nodes_);
  std::vector<Node> nodes = std::move(nodes_);
  nodes_.clear();
  prefix_.assign(1, Shape{});
  index_.assign(256, Slot{});
  predicts_ = false;
  events_ = 0;
  return nodes;
}

}  // namespace chameleon::compress
