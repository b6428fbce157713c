// SPDX-License-Identifier: BSD-3-Clause
#include "trace/fold.h"

#include <algorithm>

namespace chameleon {
namespace {

constexpr std::size_t kWindows[] = {4, 16, 64};

/// The loop that ends `loop`, or null.
Node* loop_at_end(Node& loop) { return loop.body.back().is_loop() ? &loop.body.back() : nullptr; }

std::uint64_t end_symbol(const Node& node) {
  const Node* last = &node;
  while (last->is_loop()) last = &last->body.back();
  return last->symbol();
}

void add_time(Node& leaf, std::uint64_t predecessor, std::uint64_t compute,
              std::uint64_t communication) {
  for (TimeEntry& entry : leaf.times)
    if (entry.predecessor == predecessor) {
      entry.compute.add(compute);
      entry.communication.add(communication);
      return;
    }
  TimeEntry entry;
  entry.predecessor = predecessor;
  entry.compute.add(compute);
  entry.communication.add(communication);
  leaf.times.push_back(std::move(entry));
}

const RankList kSameRanks;

}  // namespace

void Folder::push(const Event& event) {
  ++events_;
  if (expected_ != nullptr && predicted(event)) return;
  const std::uint64_t predecessor = last_symbol_;
  push_node(event, predecessor);
  last_symbol_ = Node::event_symbol(event.call, event.path);
}

// While a loop over plain events goes round, its events need no node of their
// own: they wait here until the iteration is whole, then join it at once.
bool Folder::predicted(const Event& event) {
  const Node& leaf = expected_->body[pending_.size()];
  if (leaf.call != event.call || leaf.path != event.path ||
      leaf.params.size() != event.values.size()) {
    withdraw_prediction();
    return false;
  }
  pending_.push_back({last_symbol_, event.compute, event.communication, pending_values_.size()});
  pending_values_.insert(pending_values_.end(), event.values.begin(), event.values.end());
  last_symbol_ = leaf.symbol();
  if (pending_.size() == expected_->body.size()) commit_prediction();
  return true;
}

void Folder::commit_prediction() {
  for (std::size_t i = 0; i < pending_.size(); ++i) {
    Node& leaf = expected_->body[i];
    const std::int64_t* values = pending_values_.data() + pending_[i].first;
    for (Param& param : leaf.params) param.values().append(*values++);
    if (keep_times_)
      add_time(leaf, pending_[i].predecessor, pending_[i].compute, pending_[i].communication);
  }
  ++expected_->current;
  pending_.clear();
  pending_values_.clear();
}

void Folder::withdraw_prediction() {
  const Node* loop = expected_;
  expected_ = nullptr;
  const std::vector<Pending> pending = std::move(pending_);
  const std::vector<std::int64_t> values = std::move(pending_values_);
  pending_.clear();
  pending_values_.clear();
  std::vector<std::pair<std::uint16_t, std::uint64_t>> calls;
  for (std::size_t i = 0; i < pending.size(); ++i)
    calls.emplace_back(loop->body[i].call, loop->body[i].path);
  for (std::size_t i = 0; i < pending.size(); ++i) {
    const std::size_t end = i + 1 < pending.size() ? pending[i + 1].first : values.size();
    push_node({calls[i].first, calls[i].second, pending[i].compute, pending[i].communication,
               std::span(values).subspan(pending[i].first, end - pending[i].first)},
              pending[i].predecessor);
    expected_ = nullptr;
  }
}

void Folder::predict(Node* loop) {
  expected_ = nullptr;
  for (const Node& node : loop->body)
    if (node.is_loop()) return;
  expected_ = loop;
}

void Folder::push_node(const Event& event, std::uint64_t predecessor) {
  Node node;
  node.call = event.call;
  node.path = event.path;
  node.shape = Shape::of(Node::event_symbol(event.call, event.path));
  node.params.reserve(event.values.size());
  for (const std::int64_t value : event.values) {
    ValueSequence values;
    values.append(value);
    node.params.emplace_back(std::move(values));
  }
  if (keep_times_) add_time(node, predecessor, event.compute, event.communication);
  fold_in(std::move(node));
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
  if (expected_ != nullptr) withdraw_prediction();
  expected_ = nullptr;
  reopen_loops(nodes);
  last_symbol_ = end_symbol(nodes.back());
  for (Node& node : nodes) {
    fold_in(std::move(node));
    expected_ = nullptr;
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

std::vector<Node> Folder::take() {
  if (expected_ != nullptr) withdraw_prediction();
  close_loops(nodes_);
  std::vector<Node> nodes = std::move(nodes_);
  nodes_.clear();
  prefix_.assign(1, Shape{});
  index_.assign(256, Slot{});
  expected_ = nullptr;
  events_ = 0;
  return nodes;
}

}  // namespace chameleon
