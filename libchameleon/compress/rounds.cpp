// SPDX-License-Identifier: BSD-3-Clause
#include "compress/rounds.h"

#include <algorithm>
#include <cstdint>

#include "compress/round_alignment.h"

namespace chameleon::compress {
namespace {

/// How often each of `first` and `last` stands in the nodes, each loop taken once.
void count(std::span<const Node> nodes, std::uint64_t first, std::uint64_t last, int& firsts,
           int& lasts) {
  for (const Node& node : nodes) {
    if (node.is_loop()) {
      count(node.body, first, last, firsts, lasts);
    } else {
      firsts += node.symbol() == first;
      lasts += node.symbol() == last;
    }
  }
}

bool has_collective(const Node& node) {
  return node.role == CallRole::kCollective ||
         std::any_of(node.body.begin(), node.body.end(), has_collective);
}

/// Whether each visit of an optional loop has at most one iteration.
bool has_cuttable(const Node& loop) { return loop.current <= 1 && at_most_once(loop.iterations); }

/// Both lists made anew, with loops around what only one of them has.
class Leveller {
 public:
  Leveller(std::vector<Node>& body, std::span<Node> round, const RoundAlignment& alignment,
           std::vector<RoundAlignment::Part> parts)
      : body_(body), round_(round), alignment_(alignment), parts_(std::move(parts)) {
    for (std::size_t i = 0; i < body.size(); ++i)
      places_.insert(places_.end(), body[i].optional ? body[i].body.size() : 1, i);
  }

  /// Whether each loop that must be cut has at most one iteration a visit.
  bool possible() const {
    for (std::size_t from = 0, to = 0; from < parts_.size(); from = to) {
      to = end_of(from);
      const std::size_t group = group_of(from);
      if (group == RoundElements::kBare) continue;
      std::size_t elements = 0;
      for (std::size_t i = from; i < to; ++i) elements += parts_[i].a_count;
      if (elements != body_[group].body.size() && !has_cuttable(body_[group])) return false;
    }
    return true;
  }

  void level() {
    close_loops(body_);
    const Node& first = body_.front();
    visits_ = first.is_loop() ? first.iterations.values().size() : first.params[0].values().size();
    for (std::size_t from = 0, to = 0; from < parts_.size(); from = to) {
      to = end_of(from);
      add(from, to);
    }
    append_execution(mine_, theirs_, RankList());
    body_ = std::move(mine_);
  }

 private:
  static int kind(const RoundAlignment::Part& part) {
    return part.a_count == 0 ? 0 : part.b_count == 0 ? 1 : 2;
  }
  std::size_t group_of(std::size_t part) const {
    return parts_[part].a_count == 0 ? RoundElements::kBare
                                     : alignment_.body().group(parts_[part].a);
  }
  /// Where the parts end that `from` begins: in one loop, or in none, and on the same sides.
  std::size_t end_of(std::size_t from) const {
    std::size_t to = from + 1;
    while (to < parts_.size() && kind(parts_[to]) == kind(parts_[from]) &&
           group_of(to) == group_of(from))
      ++to;
    return to;
  }

  void add(std::size_t from, std::size_t to) {
    std::vector<Node> mine, theirs;
    for (std::size_t i = from; i < to; ++i) {
      for (std::size_t k = 0; k < parts_[i].a_count; ++k) mine.push_back(take(parts_[i].a + k));
      for (std::size_t k = 0; k < parts_[i].b_count; ++k)
        theirs.push_back(std::move(round_[parts_[i].b + k]));
    }
    const std::size_t group = group_of(from);
    if (kind(parts_[from]) == 2 && group == RoundElements::kBare) {
      std::move(mine.begin(), mine.end(), std::back_inserter(mine_));
      std::move(theirs.begin(), theirs.end(), std::back_inserter(theirs_));
      return;
    }
    ValueSequence before(0, visits_);
    if (!mine.empty())
      before = group == RoundElements::kBare ? ValueSequence(1, visits_)
                                             : body_[group].iterations.values();
    const bool now = !theirs.empty();
    if (mine.empty()) mine = hollow(theirs);
    if (theirs.empty()) theirs = hollow(mine);
    mine_.push_back(optional_loop(std::move(mine), Param(std::move(before))));
    theirs_.push_back(
        optional_loop(std::move(theirs), Param(now ? ValueSequence() : ValueSequence(0, 1))));
    if (now) theirs_.back().current = 1;
  }

  /// The element as a node of its own.
  Node take(std::size_t element) {
    Node& node = body_[places_[element]];
    if (!node.optional) return std::move(node);
    std::size_t first = element;
    while (first > 0 && places_[first - 1] == places_[element]) --first;
    Node taken = std::move(node.body[element - first]);
    merge_inexact(taken.inexact, node.inexact);
    return taken;
  }

  std::vector<Node>& body_;
  std::span<Node> round_;
  const RoundAlignment& alignment_;
  const std::vector<RoundAlignment::Part> parts_;
  std::uint64_t visits_ = 0;         ///< of the body so far
  std::vector<std::size_t> places_;  ///< of elements in the body
  std::vector<Node> mine_, theirs_;
};

}  // namespace

CallRole first_role(const Node& node) {
  return node.is_loop() ? first_role(node.body.front()) : node.role;
}

bool has_ends_of_round(std::span<const Node> run) {
  if (run.size() > kMostInRound) return false;
  std::uint64_t length = 0;
  for (const Node& node : run) length += node.shape.length;
  if (length > kMostInRound) return false;
  int firsts = 0;
  int lasts = 0;
  count(run, first_symbol(run.front()), end_symbol(run.back()), firsts, lasts);
  return firsts == 1 && lasts == 1;
}

bool may_be_round(std::span<const Node> run) {
  return run.size() <= kMostInRound && first_role(run.front()) == CallRole::kPoll &&
         std::none_of(run.begin(), run.end(), has_collective) && has_ends_of_round(run);
}

std::vector<Node> hollow(std::span<const Node> nodes) {
  std::vector<Node> all;
  for (const Node& node : nodes) {
    Node& made = all.emplace_back();
    made.shape = node.shape;
    made.call = node.call;
    made.path = node.path;
    made.role = node.role;
    made.optional = node.optional;
    made.params.resize(node.params.size());
    made.body = hollow(node.body);
  }
  return all;
}

Node optional_loop(std::vector<Node> body, Param counts) {
  Node loop;
  loop.shape = shape_of(body);
  loop.body = std::move(body);
  loop.iterations = std::move(counts);
  loop.optional = true;
  return loop;
}

bool at_most_once(const Param& counts) {
  bool good = true;
  counts.for_each_group({}, [&](const RankList&, EndPointForm, const ValueSequence& values) {
    static_cast<void>(values.map_linear([&](std::int64_t start, std::int64_t stride) {
      good = good && stride == 0 && (start == 0 || start == 1);
      return std::pair(start, stride);
    }));
  });
  return good;
}

bool join_round(std::vector<Node>& body, std::span<Node> round) {
  if (first_symbol(body.front()) != first_symbol(round.front()) ||
      end_symbol(body.back()) != end_symbol(round.back()) || !may_be_round(body) ||
      !may_be_round(round))
    return false;
  if (body.front().optional || body.back().optional ||
      std::any_of(round.begin(), round.end(), [](const Node& node) { return node.optional; }))
    return false;
  if (!body.front().is_loop() && body.front().params.empty()) return false;
  const RoundAlignment alignment(body, round);
  std::vector<RoundAlignment::Part> parts = alignment.parts();
  if (parts.empty()) return false;
  Leveller leveller(body, round, alignment, std::move(parts));
  if (!leveller.possible()) return false;
  leveller.level();
  return true;
}

}  // namespace chameleon::compress
