// SPDX-License-Identifier: BSD-3-Clause
#include "compress/fold.h"

#include <algorithm>
#include <utility>

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

/// Events that are folded again once a set of calls is known.
constexpr std::uint64_t kMostAgain = 4096;

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
  if (event.role == CallRole::kCollective) join_set(symbol);
  push_node(node_of(event, last_symbol_, prediction_.keeps_times()));
  last_symbol_ = symbol;
}

void Folder::fold_in(Node node) {
  fold_tail(first_symbol(node));
  if (first_role(node) == CallRole::kCollective) join_set(first_symbol(node));
  push_node(std::move(node));
}

void Folder::push_node(Node node) {
  absorbed_into_ = nullptr;
  prefix_.push_back(prefix_.back().then(node));
  nodes_.push_back(std::move(node));
}

/// Before the collective `after`: calls of a known set become its loop. If the set is known since
/// now, the latest events are folded again.
void Folder::join_set(std::uint64_t after) {
  if (prediction_.keeps_times() || nodes_.empty()) return;
  if (!again_) {
    // The calls are at the end of the list, or of the body of a loop that ends it.
    std::span<const Node> list(nodes_);
    std::size_t count = CallSets::run_at_end(list);
    while (count == 0 && list.back().is_loop()) {
      list = list.back().body;
      count = CallSets::run_at_end(list);
    }
    if (count != 0 && sets_.learn(list.last(count), after)) {
      fold_again();
      fold_tail(after);
    }
  }
  const std::size_t count = CallSets::run_at_end(nodes_);
  const CallSets::Part part = sets_.find(std::span(nodes_).last(count), after);
  if (part.set == nullptr) return;
  std::vector<Node> nodes = take_from(nodes_.size() - count + part.first);
  const std::size_t size = part.end - part.first;
  push_node(CallSets::join(std::span(nodes).first(size), *part.set));
  nodes.erase(nodes.begin(), nodes.begin() + static_cast<std::ptrdiff_t>(size));
  fold_in(std::move(nodes));
}

/// Folds the latest events once more, but for those of which not all is known.
void Folder::fold_again() {
  std::size_t first = nodes_.size();
  for (std::uint64_t events = 0; first > 0 && !has_inexact({&nodes_[first - 1], 1}); --first) {
    events += executions({&nodes_[first - 1], 1});
    if (events > kMostAgain) break;
  }
  const std::vector<Node> nodes = take_from(first);
  events_ -= executions(nodes);
  again_ = true;
  std::vector<std::int64_t> values;
  Replay(nodes).once([&](const Node& node, auto& cursors) {
    values.clear();
    for (ValueSequence::Cursor& cursor : cursors) values.push_back(cursor.next());
    push({node.call, node.path, 0, 0, values, 0, node.role});
    return true;
  });
  again_ = false;
  if (prediction_.active()) fold_in(prediction_.leave());
}

Shape folded_alone(std::span<const CallInRun> calls) {
  Folder folder(true);  // which knows no sets
  constexpr std::int64_t kReturned[] = {0};
  for (const CallInRun& call : calls) folder.push({0, call.symbol, 0, 0, kReturned, 0, call.role});
  return shape_of(folder.take());
}

/// Takes the nodes from `first` on off the list.
std::vector<Node> Folder::take_from(std::size_t first) {
  const auto begin = nodes_.begin() + static_cast<std::ptrdiff_t>(first);
  std::vector<Node> taken(std::make_move_iterator(begin), std::make_move_iterator(nodes_.end()));
  nodes_.resize(first);
  prefix_.resize(first + 1);
  index_.cut(static_cast<std::uint32_t>(first + 1));
  while (!waits_.empty() && waits_.back().end > first) waits_.pop_back();
  absorbed_into_ = nullptr;
  return taken;
}

/// Folds what the list ends with, before what begins with `next` follows.
void Folder::fold_tail(std::uint64_t next) {
  absorbed_into_ = nullptr;
  fold_ready(next);
  for (std::size_t i = 0; i < waits_.size(); ++i) {
    const Wait& wait = waits_[i];
    if (next == 0 || may_begin_with(nodes_[wait.at], next) ||
        nodes_.size() - wait.end > 2 * wait.longest) {
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
    waits_.push_back({at, nodes_.size(), prefix_.back().length - prefix_[at].length});
  return true;
}

/// What was waited for did not come: the tail folds, and what came after it follows once more.
void Folder::close_wait(std::size_t i) {
  const Wait wait = waits_[i];
  waits_.resize(i);
  std::vector<Node> later = take_from(wait.end);
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
  if (is_call_set(nodes_.back())) return false;  // a collective follows
  const auto try_key = [&](std::uint64_t key, int most) {
    return index_.find(key, most, [&](std::size_t position) {
      return position < nodes_.size() && try_position(position);
    });
  };
  using Found = TailIndex::Found;
  const Found found = try_key(end_symbol(nodes_.back()), kMostOfSymbol);
  if (found != Found::kNoneOfLatest) return found == Found::kOne;
  for (const std::size_t width : kWindows) {
    if (nodes_.size() < width) break;
    if (try_key(top_window_key(width), kMostOfWindow) == Found::kOne) return true;
  }
  return false;
}

bool Folder::try_position(std::size_t at) {
  if (ends_alike(at)) {
    const Shape tail = shape_between(at, nodes_.size());
    if (nodes_[at - 1].is_loop() && absorb(nodes_[at - 1], at, tail)) return true;
    if (fold_square(at, tail)) return true;
  }
  return nodes_.size() - at <= kMostInRound && fold_round(at);
}

/// Whether the last symbols of the tail, eight at most, stand before it too. A tail that repeats
/// what is before it passes; of others few do.
bool Folder::ends_alike(std::size_t at) const {
  const std::uint64_t length = prefix_.back().length - prefix_[at].length;
  const std::uint64_t differs = prefix_.back().last ^ prefix_[at].last;
  return (length < 8 ? differs << (64 - 8 * length) : differs) == 0;
}

bool Folder::absorb(Node& before, std::size_t at, const Shape& tail) {
  const std::span<Node> rest = std::span(nodes_).subspan(at);
  for (Node* loop = &before; loop != nullptr && loop->current != 0; loop = loop_at_end(*loop)) {
    if (!(loop->shape == tail)) continue;
    if (must_wait(at)) return true;
    if (rest.size() == 1 && rest[0].is_loop() && alignable(loop->body, rest[0].body)) {
      const std::uint64_t more = rest[0].current;
      merge_inexact(loop->inexact, rest[0].inexact);
      append_execution(loop->body, rest[0].body, RankList());
      loop->current += more;
    } else if (alignable(loop->body, rest)) {
      append_execution(loop->body, rest, RankList());
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
  // Each node has a symbol at least.
  const std::uint64_t earliest = at - std::min<std::uint64_t>(at, tail.length);
  const auto start = std::lower_bound(
      prefix_.begin() + static_cast<std::ptrdiff_t>(earliest),
      prefix_.begin() + static_cast<std::ptrdiff_t>(at), end - tail.length,
      [](const Prefix& prefix, std::uint64_t length) { return prefix.length < length; });
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
  append_execution(loop.body, all.subspan(at), RankList());
  end_with(first, std::move(loop));
  return true;
}

/// The loop stands for the nodes from `first` on.
void Folder::end_with(std::size_t first, Node loop) {
  nodes_.resize(first);
  prefix_.resize(first + 1);
  prefix_.push_back(prefix_.back().then(loop));
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
  for (Node* loop = &nodes_[at - 1]; loop != nullptr && loop->current != 0;
       loop = loop_at_end(*loop)) {
    around.push_back(loop);
    if (!join_round(loop->body, std::span(nodes_).subspan(at))) continue;
    ++loop->current;
    for (std::size_t i = around.size(); i-- > 0;) around[i]->shape = shape_of(around[i]->body);
    nodes_.resize(at);
    prefix_.resize(at);
    prefix_.push_back(prefix_.back().then(nodes_.back()));
    absorbed_into_ = loop;
    return true;
  }
  return false;
}

Folder::Prefix Folder::Prefix::then(const Node& node) const {
  return {hash * node.shape.power + node.shape.hash, length + node.shape.length,
          last_with(last, node)};
}

/// `Prefix::last` of a list that had `last`, with the node.
std::uint64_t Folder::last_with(std::uint64_t last, const Node& node) {
  if (!node.is_loop()) return last << 8 | (node.shape.hash & 0xff);
  std::size_t first = node.body.size();
  for (std::uint64_t length = 0; first > 0 && length < 8;)
    length += node.body[--first].shape.length;
  for (std::size_t i = first; i < node.body.size(); ++i) last = last_with(last, node.body[i]);
  return last;
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
  const std::uint32_t there = index_.remember(end_symbol(nodes_.back()), position);
  // Where all places of a symbol are looked at, longer endings are not asked for.
  if (there <= kMostOfSymbol && !nodes_.back().is_loop()) return;
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
  const std::span<const Node> run = std::span(nodes_).last(CallSets::run_at_end(nodes_));
  if (const CallSets::Part part = sets_.find(run, 0); part.set != nullptr) {
    const auto first = nodes_.end() - static_cast<std::ptrdiff_t>(run.size() - part.first);
    *first = CallSets::join(run.subspan(part.first, part.end - part.first), *part.set);
    nodes_.erase(first + 1, first + static_cast<std::ptrdiff_t>(part.end - part.first));
  }
  close_loops(nodes_);
  std::vector<Node> nodes = std::move(nodes_);
  nodes_.clear();
  prefix_.assign(1, Prefix{});
  index_.clear();
  waits_.clear();
  absorbed_into_ = nullptr;
  events_ = 0;
  return nodes;
}

}  // namespace chameleon::compress
