// SPDX-License-Identifier: BSD-3-Clause
#include "compress/append.h"

#include <algorithm>
#include <utility>

#include "compress/join_lists.h"
#include "compress/join_tables.h"
#include "compress/level_rounds.h"
#include "compress/rotate.h"

namespace chameleon::compress {
namespace {

/// A loop around deeper nodes is not made: a file may nest 200 deep.
constexpr std::size_t kDeepest = 64;

std::size_t depth(const Node& node) {
  std::size_t deepest = 0;
  for (const Node& inner : node.body) deepest = std::max(deepest, 1 + depth(inner));
  return deepest;
}

/// Whether the last visit of a loop ends with an iteration, for all of `ranks`.
bool last_visit_goes_round(const Node& loop, const RankList& loop_ranks, const RankList& ranks) {
  bool good = true;
  loop.iterations.for_each_group(
      loop_ranks, [&](const RankList& members, EndPointForm, const ValueSequence& values) {
        if (members.intersects(ranks) && (values.empty() || values.back() <= 0)) good = false;
      });
  return good;
}

/// What a search asks of each node, beside one another: nodes are large and far apart. Of the last
/// nodes of a list, in which all changes are made through it.
class Outlines {
 public:
  struct Outline {
    std::uint64_t end;  ///< last symbol
    Shape shape;
    bool loop;
    bool whole;  ///< its ranks are those of the trace
  };

  explicit Outlines(std::vector<Node>& nodes) : nodes_(nodes) {}

  /// From here on there are outlines, at least.
  void reach(std::size_t oldest) {
    constexpr std::size_t kMostKept = 8192;
    if (oldest < base_) {
      std::vector<Outline> more;
      for (std::size_t i = oldest; i < base_; ++i) more.push_back(of(nodes_[i]));
      outlines_.insert(outlines_.begin(), more.begin(), more.end());
    } else if (outlines_.size() > kMostKept && oldest - base_ > kMostKept / 2) {
      outlines_.erase(outlines_.begin(), at(oldest));
    } else {
      return;
    }
    base_ = oldest;
  }

  const Outline& operator[](std::size_t i) const { return outlines_[i - base_]; }

  void push_back(Node node) {
    if (outlines_.empty()) base_ = nodes_.size();
    outlines_.push_back(of(node));
    nodes_.push_back(std::move(node));
  }
  void insert(std::size_t i, Node node) {
    outlines_.insert(at(i), of(node));
    nodes_.insert(nodes_.begin() + static_cast<std::ptrdiff_t>(i), std::move(node));
  }
  void renew(std::size_t i) { *at(i) = of(nodes_[i]); }  ///< after a change
  void erase(std::size_t i) {
    outlines_.erase(at(i));
    nodes_.erase(nodes_.begin() + static_cast<std::ptrdiff_t>(i));
  }

 private:
  static Outline of(const Node& node) {
    return {end_symbol(node), node.shape, node.is_loop(), node.ranks.empty()};
  }
  std::vector<Outline>::iterator at(std::size_t i) {
    return outlines_.begin() + static_cast<std::ptrdiff_t>(i - base_);
  }

  std::vector<Node>& nodes_;
  std::size_t base_ = 0;  ///< of which the first outline is
  std::vector<Outline> outlines_;
};

/// Folds top-level nodes as they come.
class Appender {
 public:
  Appender(Trace& trace, std::size_t incoming)
      : trace_(trace),
        nodes_(trace.nodes),
        outlines_(trace.nodes),
        all_(trace.ranks),
        reach_(kAppendReach + (incoming <= kMostSought ? 2 * incoming : 0)),
        work_{static_cast<std::int64_t>(1024 * (incoming + kAppendReach))} {}

  /// How many nodes at the end may fold with what comes.
  std::size_t reach() const { return reach_; }
  std::int64_t budget() const { return work_.left; }
  std::uint64_t compared() const { return work_.compared; }

  void push(Node node) {
    if (node.ranks == all_) node.ranks = RankList();
    outlines_.push_back(std::move(node));
    std::size_t at = nodes_.size() - 1;
    while (work_.left > 0 && (try_fold(at) || take_first_part(at))) {
    }
  }

 private:
  /// Squares as long as the partial trace are sought up to this length of it.
  static constexpr std::size_t kMostSought = 1024;

  const RankList& ranks_at(std::size_t i) const { return ranks_of(nodes_[i], all_); }

  /// Folds the tail that ends with the node at `at`, which becomes where the result is.
  bool try_fold(std::size_t& at) {
    const RankList own = ranks_at(at);
    const std::size_t oldest = at - std::min(at, reach_);
    outlines_.reach(oldest);
    const std::uint64_t end = outlines_[at].end;
    std::vector<RankList> candidates{own};
    const auto consider = [&](const RankList& ranks) {
      for (const RankList& seen : candidates)
        if (seen == ranks) return;
      candidates.push_back(ranks);
    };
    bool any = false;
    for (std::size_t i = at; i-- > oldest && candidates.size() < 4;) {
      if (outlines_[i].end != end || (any && !outlines_[i].loop)) continue;
      any = true;
      // A loop of more ranks, of which this node is the last of an iteration.
      const RankList& theirs = ranks_at(i);
      if (outlines_[i].loop && own.minus(theirs).empty()) consider(theirs);
    }
    if (!any) return false;
    consider(all_);
    for (const RankList& ranks : candidates)
      if (fold_tail(ranks, oldest, at)) return true;
    return false;
  }

  /// The same for the nodes with a rank in `ranks`, which are `picked_`.
  bool fold_tail(const RankList& ranks, std::size_t oldest, std::size_t& at) {
    picked_.clear();
    const bool every = ranks == all_;
    for (std::size_t i = oldest; i < nodes_.size(); ++i)
      if (every || outlines_[i].whole || nodes_[i].ranks.intersects(ranks)) picked_.push_back(i);
    const std::uint64_t end = outlines_[picked_.back()].end;
    prefix_.clear();
    tail_shape_ = Shape{};
    square_ = picked_.size() - 1;
    for (std::size_t tail = picked_.size() - 1; tail > 0 && work_.left > 0; --tail) {
      --work_.left;
      tail_shape_ = outlines_[picked_[tail]].shape.then(tail_shape_);
      const std::size_t before = picked_[tail - 1];
      if (outlines_[before].end != end) continue;
      if (prefix_.empty()) add_up_shapes();
      if ((outlines_[before].loop && absorb(before, tail, ranks)) ||
          (tail + 1 == picked_.size() && nodes_[picked_[tail]].is_loop() &&
           (take_first_iteration(tail, ranks) || go_on_rotated(tail, ranks))) ||
          fold_square(tail, ranks)) {
        outlines_.renew(folded_);
        at = folded_;
        return true;
      }
    }
    return false;
  }

  /// Of the first picked nodes, any number of them.
  void add_up_shapes() {
    prefix_.resize(picked_.size() + 1);
    for (std::size_t i = 0; i < picked_.size(); ++i)
      prefix_[i + 1] = prefix_[i].then(outlines_[picked_[i]].shape);
  }

  NodeList tail_from(std::size_t from, std::size_t to) const {
    return {nodes_.data(), to - from, picked_.data() + from};
  }

  /// Whether the picked nodes [from, to) have this shape.
  bool have_shape(std::size_t from, std::size_t to, const Shape& shape) const {
    const Shape& before = prefix_[from];
    const Shape& all = prefix_[to];
    return all.length - before.length == shape.length &&
           all.hash - before.hash * shape.power == shape.hash;
  }

  /// Where the nodes before `to` that have `length` symbols begin, or `to`.
  std::size_t start_of(std::size_t to, std::uint64_t length) const {
    if (prefix_[to].length < length) return to;
    const std::uint64_t wanted = prefix_[to].length - length;
    const auto start = std::lower_bound(
        prefix_.begin(), prefix_.begin() + static_cast<std::ptrdiff_t>(to), wanted,
        [](const Shape& shape, std::uint64_t symbols) { return shape.length < symbols; });
    return start->length == wanted ? static_cast<std::size_t>(start - prefix_.begin()) : to;
  }

  /// Removes the picked nodes [from, to) and gives them, their ranks within `ranks`.
  std::vector<Node> take(std::size_t from, std::size_t to, const RankList& ranks) {
    std::vector<Node> taken;
    for (std::size_t i = from; i < to; ++i) {
      Node& node = nodes_[picked_[i]];
      const RankList own = ranks_of(node, all_);
      set_ranks(node, own, ranks);
      taken.push_back(std::move(node));
    }
    for (std::size_t i = to; i-- > from;) outlines_.erase(picked_[i]);
    return taken;
  }

  /// The tail becomes iterations of the loop at `before`, or of one that ends it.
  bool absorb(std::size_t before, std::size_t tail, const RankList& ranks) {
    Node* loop = &nodes_[before];
    RankList loop_ranks = ranks_at(before);
    while (loop != nullptr && loop->is_loop()) {
      if (loop_ranks == ranks && loop->shape == tail_shape_ && go_on(*loop, tail, ranks)) {
        folded_ = before;
        return true;
      }
      if (!last_visit_goes_round(*loop, loop_ranks, ranks)) return false;
      Node* last = nullptr;
      for (std::size_t i = loop->body.size(); i-- > 0 && last == nullptr;)
        if (ranks_of(loop->body[i], loop_ranks).intersects(ranks)) last = &loop->body[i];
      if (last != nullptr) loop_ranks = RankList(ranks_of(*last, loop_ranks));
      loop = last;
    }
    return false;
  }

  bool go_on(Node& loop, std::size_t tail, const RankList& ranks) {
    const std::size_t end = picked_.size();
    Node& first = nodes_[picked_[tail]];
    Joinable joinable(work_, trace_);
    if (tail + 1 == end && first.is_loop() && ranks_at(picked_[tail]) == ranks &&
        loop.iterations.can_extend_last(first.iterations, ranks, ranks) &&
        joinable.lists(loop.body, ranks, first.body, ranks)) {
      std::vector<Node> taken = take(tail, end, ranks);
      merge_inexact(loop.inexact, taken[0].inexact);
      join_lists(loop.body, ranks, taken[0].body, ranks);
      loop.iterations.extend_last(taken[0].iterations, ranks, ranks);
      return true;
    }
    const Param one(ValueSequence(1, 1));
    if (!loop.iterations.can_extend_last(one, ranks, ranks) ||
        !joinable.lists(loop.body, ranks, tail_from(tail, end), all_))
      return false;
    std::vector<Node> taken = take(tail, end, ranks);
    join_lists(loop.body, ranks, taken, ranks);
    loop.iterations.extend_last(one, ranks, ranks);
    return true;
  }

  /// The bare nodes before the loop that ends the tail become its first iteration.
  bool take_first_iteration(std::size_t tail, const RankList& ranks) {
    Node& loop = nodes_[picked_[tail]];
    const Param one(ValueSequence(1, 1));
    if (!(ranks_at(picked_[tail]) == ranks)) return false;
    const std::size_t start = start_of(tail, loop.shape.length);
    if (start == tail || !have_shape(start, tail, loop.shape)) return false;
    if (!loop.iterations.can_extend_last(one, ranks, ranks) ||
        !Joinable(work_, trace_).lists(tail_from(start, tail), all_, loop.body, ranks))
      return false;
    const std::size_t place = picked_[start];
    std::vector<Node> taken = take(start, tail + 1, ranks);
    Node grown = std::move(taken.back());
    taken.pop_back();
    join_lists(taken, ranks, grown.body, ranks);
    grown.body = std::move(taken);
    grown.iterations.extend_last(one, ranks, ranks);
    put(place, std::move(grown), ranks);
    return true;
  }

  /// Of (p q)^n p (q p)^m, the second loop goes on with the first: (p q)^(n+m) p.
  bool go_on_rotated(std::size_t tail, const RankList& ranks) {
    const std::uint64_t whole = nodes_[picked_[tail]].shape.length;
    std::uint64_t length = 0;
    for (std::size_t from = tail; from > 0 && length < whole; --from) {
      const Node& before = nodes_[picked_[from - 1]];
      if (length > 0 && before.is_loop() && before.shape.length == whole &&
          go_on_rotated_by(from, tail, length, ranks))
        return true;
      length += before.shape.length;
    }
    return false;
  }

  /// The same, where p is the nodes from `from` on, of `length` symbols.
  bool go_on_rotated_by(std::size_t from, std::size_t tail, std::uint64_t length,
                        const RankList& ranks) {
    Node& second = nodes_[picked_[tail]];
    Node& loop = nodes_[picked_[from - 1]];
    if (!(ranks_at(picked_[tail]) == ranks) || !(ranks_at(picked_[from - 1]) == ranks))
      return false;
    const std::size_t rest = run_of_length(second.body, 0, second.shape.length - length);
    if (rest == 0 || !(shape_of(std::span(second.body).subspan(rest))
                           .then(shape_of(std::span(second.body).first(rest))) == loop.shape))
      return false;
    for (std::size_t i = from; i < tail; ++i)
      if (!has_last(nodes_[picked_[i]], all_, ranks)) return false;
    for (std::size_t i = rest; i < second.body.size(); ++i)
      if (!has_last(second.body[i], ranks, ranks)) return false;
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < second.body.size(); ++i)
      order.push_back((rest + i) % second.body.size());
    // Any two of the three p: then all have a common reading.
    const std::size_t run = run_of_length(loop.body, 0, length);
    const std::size_t count = second.body.size() - rest;
    Joinable joinable(work_, trace_);
    if (run == 0 || !loop.iterations.can_extend_last(second.iterations, ranks, ranks) ||
        !joinable.lists({loop.body.data(), run}, ranks, tail_from(from, tail), all_) ||
        !joinable.lists(tail_from(from, tail), all_, {second.body.data(), count, &order[0]},
                        ranks) ||
        !joinable.lists(loop.body, ranks, {second.body.data(), order.size(), order.data()}, ranks))
      return false;
    rotate(from, tail, rest, ranks);
    return true;
  }

  /// Joins the second loop to the first one; what is left of p is the last of it.
  void rotate(std::size_t from, std::size_t tail, std::size_t rest, const RankList& ranks) {
    std::vector<Node> bare = take(from, tail + 1, ranks);
    Node later = std::move(bare.back());
    bare.pop_back();
    const auto middle = later.body.begin() + static_cast<std::ptrdiff_t>(rest);
    std::vector<Node> inner(std::make_move_iterator(middle),
                            std::make_move_iterator(later.body.end()));
    later.body.erase(middle, later.body.end());
    level_lists(bare, ranks, inner, ranks);
    for (std::size_t i = 0; i < bare.size(); ++i) {
      rotate_values(bare[i], inner[i], ranks);
      merge_inexact(bare[i].inexact, later.inexact);  // its values are of the loop's last iteration
    }
    later.body.insert(later.body.begin(), std::make_move_iterator(inner.begin()),
                      std::make_move_iterator(inner.end()));
    Node& first = nodes_[picked_[from - 1]];
    merge_inexact(first.inexact, later.inexact);
    join_lists(first.body, ranks, later.body, ranks);
    first.iterations.extend_last(later.iterations, ranks, ranks);
    outlines_.renew(picked_[from - 1]);
    for (Node& node : bare) {
      set_ranks(node, ranks, all_);
      outlines_.push_back(std::move(node));
    }
    folded_ = nodes_.size() - 1;
  }

  /// The nodes before the one at `at` go round a loop with which it begins: p^j ((p)^k q)^n.
  bool take_first_part(std::size_t& at) {
    if (!nodes_[at].is_loop()) return false;
    const RankList ranks = ranks_at(at);
    std::size_t before = at;
    while (before > 0 && at - before < reach_ && !ranks_at(before - 1).intersects(ranks)) --before;
    if (before-- == 0 || !(ranks_at(before) == ranks)) return false;
    const std::uint64_t end = end_symbol(nodes_[before]);
    for (Node* loop = &nodes_[at]; has_first(*loop);) {
      loop = &loop->body.front();
      if (!has_first(*loop) || !(ranks_of(*loop, ranks) == ranks)) return false;
      if (end_symbol(*loop) == end && go_on_in(*loop, at, ranks)) {
        at = folded_;
        return true;
      }
    }
    return false;
  }

  /// The nodes before the one at `at` become the first iterations of `loop`, which is within it.
  bool go_on_in(Node& loop, std::size_t at, const RankList& ranks) {
    picked_.clear();
    Shape shape;
    for (std::size_t i = at; i > 0 && shape.length < loop.shape.length && at - i < reach_;) {
      if (!ranks_at(--i).intersects(ranks)) continue;
      if (!(ranks_at(i) == ranks)) return false;
      picked_.insert(picked_.begin(), i);
      shape = nodes_[i].shape.then(shape);
    }
    if (!(shape == loop.shape)) return false;
    const std::size_t count = picked_.size();
    Node& first = nodes_[picked_.front()];
    const bool goes_round = count == 1 && first.is_loop();
    Joinable joinable(work_, trace_);
    if (goes_round ? !has_first(first) || !joinable.lists(first.body, ranks, loop.body, ranks)
                   : !joinable.lists(tail_from(0, count), all_, loop.body, ranks))
      return false;
    const std::int64_t more = goes_round ? first.iterations.values().front() : 1;
    std::vector<Node> taken = take(0, count, ranks);
    if (goes_round) {
      merge_inexact(loop.inexact, taken[0].inexact);
      taken = std::vector<Node>(std::move(taken[0].body));
    }
    join_lists(taken, ranks, loop.body, ranks);
    loop.body = std::move(taken);
    extend_first(loop, more);
    folded_ = at - count;
    outlines_.renew(folded_);
    return true;
  }

  /// The tail and the equal nodes before it become a loop of two.
  bool fold_square(std::size_t tail, const RankList& ranks) {
    const std::size_t end = picked_.size();
    const Shape& shape = tail_shape_;
    if (prefix_[tail].length < shape.length) return false;
    // The longer the tail, the earlier what equals it begins.
    const std::uint64_t wanted = prefix_[tail].length - shape.length;
    while (prefix_[square_].length > wanted) --square_;
    const std::size_t start = square_;
    if (!have_shape(start, tail, shape)) return false;
    RankList members;
    for (std::size_t i = start; i < tail; ++i) members.merge(ranks_at(picked_[i]));
    if (!members.minus(ranks).empty()) return false;
    for (std::size_t i = start; i < end; ++i)
      if (depth(nodes_[picked_[i]]) >= kDeepest) return false;
    if (!Joinable(work_, trace_).lists(tail_from(start, tail), all_, tail_from(tail, end), all_))
      return false;
    const std::size_t place = picked_[start];
    std::vector<Node> second = take(tail, end, members);
    Node loop;
    loop.shape = shape;
    loop.body = take(start, tail, members);
    join_lists(loop.body, members, second, members);
    loop.iterations = Param(ValueSequence(2, 1));
    put(place, std::move(loop), members);
    return true;
  }

  void put(std::size_t place, Node node, const RankList& ranks) {
    set_ranks(node, ranks, all_);
    outlines_.insert(place, std::move(node));
    folded_ = place;
  }

  const Trace& trace_;
  std::vector<Node>& nodes_;
  Outlines outlines_;
  const RankList& all_;
  const std::size_t reach_;
  Joinable::Work work_;
  std::size_t folded_ = 0;
  std::vector<std::size_t> picked_;
  std::vector<Shape> prefix_;  ///< of the picked ones
  Shape tail_shape_;           ///< of those from the tail that is tried on
  std::size_t square_ = 0;     ///< where nodes before that tail begin that may equal it
};

void name_ranks(std::vector<Node>& nodes, const RankList& ranks) {
  for (Node& node : nodes)
    if (node.ranks.empty()) node.ranks = ranks;
}

}  // namespace

std::uint64_t append(Trace& online, Trace partial) {
  join_tables(online, partial);
  online.complete = partial.complete;
  if (partial.online.acted != 0 || !partial.online.clustering.empty())
    online.online = std::move(partial.online);
  online.series.append(std::move(partial.series));
  online.efforts.append(std::move(partial.efforts));
  online.world_size = std::max(online.world_size, partial.world_size);
  join(static_cast<RunFacts&>(online), partial);

  RankList all = online.ranks;
  all.merge(partial.ranks);
  if (!(all == online.ranks)) name_ranks(online.nodes, online.ranks);
  if (!(all == partial.ranks)) name_ranks(partial.nodes, partial.ranks);
  online.ranks = std::move(all);
  Appender appender(online, partial.nodes.size());
  for (Node& node : level_rounds(online, partial, appender.reach(), appender.budget()))
    appender.push(std::move(node));
  for (Node& node : partial.nodes) appender.push(std::move(node));
  return appender.compared();
}

}  // namespace chameleon::compress
