// SPDX-License-Identifier: BSD-3-Clause
#include "compress/fold.h"

#include <algorithm>

#include "compress/rounds.h"

namespace chameleon::compress {
namespace {

constexpr std::size_t kWindows[] = {4, 16, 64};

/// Places looked at of each ending. Of the last symbol more: a loop that goes round once is bare,
/// so that the windows differ from those where it is a loop, and a call may end several parts of a
/// body.
constexpr int kMostOfSymbol = 16, kMostOfWindow = 4;

/// The loop that ends `loop`, or null.
Node* loop_at_end(Node& loop) { return loop.body.back().is_loop() ? &loop.body.back() : nullptr; }

const RankList kSameRanks;

}  // namespace

void Folder::push(const Event& event) {
  ++events_;
  const auto predicted = [&] {
    if (!prediction_.active()) return false;
    const bool taken = prediction_.take(event, last_symbol_);
    if (!prediction_.active()) fold_in(prediction_.withdraw());
    return taken;
  };
  if (predicted()) return;
  const std::uint64_t symbol = Node::event_symbol(event.call, event.path);
  fold_tail(symbol);
  if (absorbed_into_ != nullptr) {
    prediction_.expect(*absorbed_into_);
    if (predicted()) return;
  }
  push_node(node_of(event, last_symbol_, prediction_.keeps_times()));
  last_symbol_ = symbol;
}

void Folder::fold_in(Node node) {
  fold_tail(first_symbol(node));
  push_node(std::move(node));
}

void Folder::push_node(Node node) {
  absorbed_into_ = nullptr;
  prefix_.push_back(prefix_.back().then(node.shape));
  nodes_.push_back(std::move(node));
}

/// Folds what the list ends with, before what begins with `next` follows.
void Folder::fold_tail(std::uint64_t next) {
  absorbed_into_ = nullptr;
  fold_ready(next);
  for (std::size_t i = 0; i < waits_.size(); ++i) {
    const Wait& wait = waits_[i];
    if (next == 0 || next == wait.first || nodes_.size() - wait.end > 2 * wait.longest) {
      close_wait(i);
      fold_ready(next);
      return;
    }
  }
}

void Folder::fold_ready(std::uint64_t next) {
  if (nodes_.empty()) return;
  next_ = next;
  waited_ = false;
  while (try_fold() && !waited_) {
    index_.cut(static_cast<std::uint32_t>(nodes_.size()));
    while (!waits_.empty() && nodes_.size() <= waits_.back().end) waits_.pop_back();
  }
  remember_tail();
}

/// Whether what comes next stands within the tail: then this is likely an iteration that ends
/// in the middle of an inner loop, and goes on there.
bool Folder::must_wait(std::size_t at) {
  const std::span<const Node> tail = std::span(nodes_).subspan(at);
  if (closing_ || next_ == 0 || !comes_later_in(tail, next_)) return false;
  waited_ = true;
  if (waits_.empty() || waits_.back().end < nodes_.size())
    waits_.push_back(
        {at, nodes_.size(), first_symbol(tail[0]), prefix_.back().length - prefix_[at].length});
  return true;
}

/// What was waited for did not come: the tail folds, and what came after it follows once more.
void Folder::close_wait(std::size_t i) {
  const Wait wait = waits_[i];
  waits_.resize(i);
  const auto end = nodes_.begin() + static_cast<std::ptrdiff_t>(wait.end);
  std::vector<Node> later(std::make_move_iterator(end), std::make_move_iterator(nodes_.end()));
  nodes_.resize(wait.end);
  prefix_.resize(wait.end + 1);
  next_ = 0;
  try_position(wait.at);
  while (!waits_.empty() && nodes_.size() <= waits_.back().end) waits_.pop_back();
  closing_ = true;  // waiting again within what was waited for would take exponential time
  fold_in(std::move(later));
  closing_ = false;
}

void Folder::append(std::vector<Node> nodes, std::uint64_t events) {
  if (nodes.empty()) return;
  if (prediction_.active()) fold_in(prediction_.leave());
  reopen_loops(nodes);
  last_symbol_ = end_symbol(nodes.back());
  fold_in(std::move(nodes));
  events_ += events;
}

bool Folder::try_fold() {
  const auto try_key = [&](std::uint64_t key, int most) {
    return index_.find(key, most, [&](std::size_t position) {
      return position < nodes_.size() && try_position(position);
    });
  };
  if (try_key(end_symbol(nodes_.back()), kMostOfSymbol)) return true;
  for (const std::size_t width : kWindows) {
    if (nodes_.size() < width) break;
    if (try_key(top_window_key(width), kMostOfWindow)) return true;
  }
  return false;
}

bool Folder::try_position(std::size_t at) {
  const Shape tail = shape_between(at, nodes_.size());
  if (nodes_[at - 1].is_loop() && absorb(nodes_[at - 1], at, tail)) return true;
  return fold_square(at, tail) || fold_round(at);
}

bool Folder::absorb(Node& before, std::size_t at, const Shape& tail) {
  const std::span<Node> rest = std::span(nodes_).subspan(at);
  for (Node* loop = &before; loop != nullptr; loop = loop_at_end(*loop)) {
    if (!(loop->shape == tail)) continue;
    if (must_wait(at)) return true;
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
  if (must_wait(at)) return true;

  Node loop;
  loop.shape = tail;
  loop.shape.power = powers_[tail.length];
  loop.current = 2;
  loop.body.assign(std::make_move_iterator(nodes_.begin() + static_cast<std::ptrdiff_t>(first)),
                   std::make_move_iterator(nodes_.begin() + static_cast<std::ptrdiff_t>(at)));
  append_execution(loop.body, all.subspan(at), kSameRanks);
  end_with(first, std::move(loop));
  return true;
}

/// The loop stands for the nodes from `first` on.
void Folder::end_with(std::size_t first, Node loop) {
  nodes_.resize(first);
  prefix_.resize(first + 1);
  prefix_.push_back(prefix_.back().then(loop.shape));
  nodes_.push_back(std::move(loop));
  absorbed_into_ = &nodes_.back();
}

/// Whether the tail was one more round of the loop before, or of one that ends that loop; or the
/// second round of a loop.
bool Folder::fold_round(std::size_t at) {
  const std::span<Node> tail = std::span(nodes_).subspan(at);
  if (!may_be_round(tail)) return false;
  if (nodes_[at - 1].is_loop() && absorb_round(at)) return true;
  const std::uint64_t begin = first_symbol(tail[0]);
  std::size_t first = at - 1;
  while (first > 0 && at - first < kMostInRound && first_symbol(nodes_[first]) != begin) --first;
  if (first_symbol(nodes_[first]) != begin) return false;
  Node loop;
  for (std::size_t i = first; i < at; ++i) loop.body.push_back(nodes_[i]);
  if (!join_round(loop.body, tail)) return false;
  loop.shape = shape_of(loop.body);
  loop.current = 2;
  end_with(first, std::move(loop));
  return true;
}

bool Folder::absorb_round(std::size_t at) {
  std::vector<Node*> around;
  for (Node* loop = &nodes_[at - 1]; loop != nullptr; loop = loop_at_end(*loop)) {
    around.push_back(loop);
    if (!join_round(loop->body, std::span(nodes_).subspan(at))) continue;
    ++loop->current;
    for (std::size_t i = around.size(); i-- > 0;) around[i]->shape = shape_of(around[i]->body);
    nodes_.resize(at);
    prefix_.resize(at);
    prefix_.push_back(prefix_.back().then(nodes_.back().shape));
    absorbed_into_ = loop;
    return true;
  }
  return false;
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

void Folder::remember_tail() {
  const auto position = static_cast<std::uint32_t>(nodes_.size());
  index_.cut(position);
  index_.remember(end_symbol(nodes_.back()), position);
  for (const std::size_t width : kWindows) {
    if (nodes_.size() >= width) index_.remember(top_window_key(width), position);
    for (Node* loop = nodes_.back().is_loop() ? &nodes_.back() : nullptr; loop != nullptr;
         loop = loop_at_end(*loop))
      if (loop->body.size() >= width) index_.remember(window_key(loop->body, width), position);
  }
}

std::span<const Node> Folder::nodes() {
  if (prediction_.active()) fold_in(prediction_.leave());
  return nodes_;
}

std::vector<Node> Folder::take() {
  if (prediction_.active()) fold_in(prediction_.leave());
  fold_tail(0);
  close_loops(nodes_);
  std::vector<Node> nodes = std::move(nodes_);
  nodes_.clear();
  prefix_.assign(1, Shape{});
  index_.clear();
  waits_.clear();
  events_ = 0;
  return nodes;
}

}  // namespace chameleon::compress
