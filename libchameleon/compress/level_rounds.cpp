// SPDX-License-Identifier: BSD-3-Clause
#include "compress/level_rounds.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "compress/rotate.h"
#include "compress/round_alignment.h"
#include "compress/rounds.h"

namespace chameleon::compress {
namespace {

constexpr std::uint64_t kMostWrittenOut = 2 * kMostInRound;  ///< calls of a loop

using Ends = std::pair<std::uint64_t, std::uint64_t>;  ///< first and last symbol of a body

/// `count` for each execution of a node.
Param counts_like(const Param& executions, std::int64_t count) {
  std::vector<ParamGroup> groups;
  executions.for_each_group({}, [&](const RankList& ranks, EndPointForm, const auto& values) {
    ValueSequence counts;
    if (!values.empty()) counts = ValueSequence(count, values.size());
    groups.push_back({ranks, EndPointForm::kBoth, std::move(counts)});
  });
  Param result;
  result.set_groups(std::move(groups));
  return result;
}

/// Whether it is a call that may be unsuccessful.
bool may_fail(const CallDescription& call) {
  return std::any_of(call.fields.begin(), call.fields.end(),
                     [](const Field& field) { return field.kind == "flag"; });
}

bool of_all_ranks(std::span<const Node> nodes) {
  return std::all_of(nodes.begin(), nodes.end(), [](const Node& node) {
    return node.ranks.empty() && of_all_ranks(node.body);
  });
}

/// Makes the bodies of two loops of rounds alike.
class BodyLeveller {
 public:
  BodyLeveller(Node& mine, Node& theirs)
      : mine_(mine),
        theirs_(theirs),
        alignment_(mine.body, theirs.body),
        parts_(alignment_.parts()),
        mine_executions_(executions(mine)),
        theirs_executions_(executions(theirs)) {}

  bool possible() const {
    return !parts_.empty() && can_cut(mine_, true) && can_cut(theirs_, false);
  }

  void level() {
    std::vector<Node> mine, theirs;
    for (std::size_t from = 0, to = 0; from < parts_.size(); from = to) {
      for (to = from + 1; to < parts_.size() && unit(to) == unit(from);) ++to;
      const auto [in_mine, in_theirs, mine_group, theirs_group] = unit(from);
      std::vector<Node> left, right;
      for (std::size_t i = from; i < to; ++i) {
        take(mine_, alignment_.body(), parts_[i].a, parts_[i].a_count, left);
        take(theirs_, alignment_.round(), parts_[i].b, parts_[i].b_count, right);
      }
      if (in_mine && in_theirs && mine_group == kBare && theirs_group == kBare) {
        std::move(left.begin(), left.end(), std::back_inserter(mine));
        std::move(right.begin(), right.end(), std::back_inserter(theirs));
        continue;
      }
      if (!in_mine) left = hollow(right);
      if (!in_theirs) right = hollow(left);
      mine.push_back(
          optional_loop(std::move(left), counts(mine_, in_mine, mine_group, mine_executions_)));
      theirs.push_back(optional_loop(std::move(right),
                                     counts(theirs_, in_theirs, theirs_group, theirs_executions_)));
    }
    mine_.body = std::move(mine);
    theirs_.body = std::move(theirs);
  }

 private:
  static constexpr std::size_t kBare = RoundElements::kBare;

  /// Whether it is in either, and the optional loops that hold it: what is the same for elements
  /// side by side is in one loop.
  std::tuple<bool, bool, std::size_t, std::size_t> unit(std::size_t part) const {
    const RoundAlignment::Part& p = parts_[part];
    return {p.a_count != 0, p.b_count != 0, p.a_count != 0 ? alignment_.body().group(p.a) : kBare,
            p.b_count != 0 ? alignment_.round().group(p.b) : kBare};
  }

  /// Whether each optional loop of a body that is cut has at most one iteration a round.
  bool can_cut(const Node& loop, bool is_mine) const {
    std::map<std::size_t, int> pieces;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      const auto [in_mine, in_theirs, mine_group, theirs_group] = unit(i);
      const std::size_t group = is_mine ? mine_group : theirs_group;
      if (group != kBare && (i == 0 || unit(i) != unit(i - 1))) ++pieces[group];
    }
    return std::all_of(pieces.begin(), pieces.end(), [&](const auto& piece) {
      return piece.second == 1 || at_most_once(loop.body[piece.first].iterations);
    });
  }

  static void take(Node& loop, const RoundElements& elements, std::size_t from, std::size_t count,
                   std::vector<Node>& to) {
    for (std::size_t i = from; i < from + count; ++i) {
      const std::size_t group = elements.group(i);
      std::vector<Node>& list = group == kBare ? loop.body : loop.body[group].body;
      to.push_back(std::move(list[static_cast<std::size_t>(&elements[i] - list.data())]));
      if (group != kBare) merge_inexact(to.back().inexact, loop.body[group].inexact);
    }
  }

  /// How often the nodes of a unit are executed in each round.
  static Param counts(const Node& loop, bool there, std::size_t group, const Param& executions) {
    if (there && group != kBare) return loop.body[group].iterations;
    return counts_like(executions, there ? 1 : 0);
  }

  /// A parameter with a value a round.
  static Param executions(const Node& loop) {
    const Node& first = loop.body.front();
    return first.is_loop() ? first.iterations : first.params[0];
  }

  Node& mine_;
  Node& theirs_;
  const RoundAlignment alignment_;
  const std::vector<RoundAlignment::Part> parts_;
  const Param mine_executions_, theirs_executions_;
};

/// Loops of rounds that begin and end alike.
class Rounds {
 public:
  Rounds(const Trace& trace, std::int64_t budget) : trace_(trace), budget_(budget) {}

  /// Learns how loops of rounds begin and end.
  void learn(std::span<const Node> nodes) {
    for (const Node& node : nodes) {
      if (--budget_ < 0) return;
      if (!node.is_loop()) continue;
      if (are_rounds(node))
        shapes_[ends_of(node.body)].insert(node.shape.hash);
      else
        learn(node.body);
    }
  }

  bool empty() const { return shapes_.empty(); }

  /// Writes out small loops that end within a round: steps of one round each were seen first, and
  /// folded such that a round goes on in the next iteration. Whether there were any.
  bool write_out(std::vector<Node>& nodes, const RankList& ranks) {
    bool any = false;
    for (std::size_t i = 0; i < nodes.size() && --budget_ > 0;) {
      if (!may_write_out(nodes[i]) || !ends_within_round(nodes[i].body)) {
        ++i;
        continue;
      }
      const Shape shape = nodes[i].shape;
      std::vector<Node> out = written_out(std::move(nodes[i]), ranks);
      const bool whole = !out.front().is_loop() || !(out.front().shape == shape);
      any = any || whole || out.size() > 1;
      const std::size_t next = i + (whole ? 0 : 1);
      const auto place = nodes.erase(nodes.begin() + static_cast<std::ptrdiff_t>(i));
      nodes.insert(place, std::make_move_iterator(out.begin()), std::make_move_iterator(out.end()));
      i = next;
    }
    return any;
  }

  /// Learns the shapes of rounds that came once, which have no loop.
  void learn_bare(std::span<const Node> nodes) {
    for (std::size_t i = 0; i < nodes.size() && --budget_ > 0; ++i) {
      if (nodes[i].is_loop()) {
        if (shapes_.count(ends_of(nodes[i].body)) == 0) learn_bare(nodes[i].body);
      } else if (const std::size_t count = length_of_round(nodes.subspan(i)); count != 0) {
        shapes_[ends_of(nodes.subspan(i, count))].insert(shape_of(nodes.subspan(i, count)).hash);
      }
    }
  }

  /// Puts loops around these, if rounds of the kind have several shapes.
  void wrap(std::vector<Node>& nodes) {
    for (std::size_t i = 0; i < nodes.size() && --budget_ > 0; ++i) {
      if (nodes[i].is_loop()) {
        if (shapes_.count(ends_of(nodes[i].body)) == 0) wrap(nodes[i].body);
        continue;
      }
      const std::size_t count = length_of_round(std::span(nodes).subspan(i));
      if (count == 0 || shapes_[ends_of(std::span(nodes).subspan(i, count))].size() < 2) continue;
      nodes[i] = wrapped_once(std::span(nodes).subspan(i, count));
      const auto next = nodes.begin() + static_cast<std::ptrdiff_t>(i + 1);
      nodes.erase(next, next + static_cast<std::ptrdiff_t>(count - 1));
    }
  }

  /// Finds those of `nodes`, executed by `ranks`.
  void find(std::span<Node> nodes, const RankList& ranks) {
    for (Node& node : nodes) {
      if (--budget_ < 0) return;
      if (!node.is_loop()) continue;
      const RankList& own = node.ranks.empty() ? ranks : node.ranks;
      if (shapes_.count(ends_of(node.body)) != 0 && are_rounds(node))
        loops_[ends_of(node.body)].push_back({own, &node});
      else
        find(node.body, own);
    }
  }

  /// Makes those of the same ranks alike; whether any were not.
  bool level() {
    bool any = false;
    for (auto& [ends, loops] : loops_)
      for (int pass = 0; pass < 2; ++pass)  // first they all give, then they all take
        for (std::size_t i = 1; i < loops.size(); ++i)
          if (loops[i].ranks == loops[0].ranks) any = level(*loops[0].loop, *loops[i].loop) || any;
    return any;
  }

 private:
  struct Found {
    RankList ranks;
    Node* loop;
  };

  static Ends ends_of(std::span<const Node> run) {
    return {first_symbol(run.front()), end_symbol(run.back())};
  }

  bool are_rounds(const Node& loop) const {
    const Node& first = loop.body.front();
    const auto call = trace_.calls.find(first.call);
    return !first.is_loop() && !first.params.empty() && call != trace_.calls.end() &&
           may_fail(call->second) && has_ends_of_round(loop.body) && of_all_ranks(loop.body);
  }

  /// A loop that all ranks visited once, of few calls in all.
  static bool may_write_out(const Node& node) {
    if (!node.is_loop() || node.optional || node.iterations.grouped() || !of_all_ranks({&node, 1}))
      return false;
    const ValueSequence& counts = node.iterations.values();
    return counts.size() == 1 && counts.front() > 0 &&
           static_cast<std::uint64_t>(counts.front()) <= kMostWrittenOut / node.shape.length;
  }

  /// Whether a round begins in `nodes`, each loop taken once, behind the end of the last one.
  bool ends_within_round(std::span<const Node> nodes) const {
    std::vector<std::uint64_t> symbols;
    symbols_of(nodes, symbols);
    return std::any_of(shapes_.begin(), shapes_.end(), [&](const auto& kind) {
      const auto first = std::find(symbols.rbegin(), symbols.rend(), kind.first.first);
      const auto last = std::find(symbols.rbegin(), symbols.rend(), kind.first.second);
      return last != symbols.rend() && first < last;
    });
  }

  static void symbols_of(std::span<const Node> nodes, std::vector<std::uint64_t>& symbols) {
    for (const Node& node : nodes) {
      if (node.is_loop())
        symbols_of(node.body, symbols);
      else
        symbols.push_back(node.symbol());
    }
  }

  /// How many nodes at the front are one round; 0: they are none.
  std::size_t length_of_round(std::span<const Node> nodes) {
    const std::uint64_t first = nodes.front().symbol();
    for (auto at = shapes_.lower_bound({first, 0}); at != shapes_.end() && at->first.first == first;
         ++at)
      for (std::size_t n = 1; n < std::min(nodes.size(), kMostInRound); ++n) {
        if (--budget_ < 0 || !of_all_ranks(nodes.subspan(n - 1, 1))) break;
        if (end_symbol(nodes[n]) != at->first.second) continue;
        const std::span<const Node> run = nodes.first(n + 1);
        return of_all_ranks(run) && has_ends_of_round(run) ? n + 1 : 0;
      }
    return 0;
  }

  /// Which of the loops in a body are optional, as the fold of a rank knows and a file does not.
  void find_optional(Node& loop) {
    for (Node& node : loop.body) {
      if (!node.is_loop() || node.optional) continue;
      node.iterations.for_each_group({}, [&](const RankList&, EndPointForm, const auto& values) {
        budget_ -= static_cast<std::int64_t>(std::min<std::uint64_t>(values.size(), 1U << 30));
      });
      node.optional = budget_ > 0 && at_most_once(node.iterations);
    }
  }

  bool level(Node& a, Node& b) {
    constexpr std::int64_t kCost = kMostInRound * kMostInRound;
    if (a.shape == b.shape || (budget_ -= kCost) < 0) return false;
    for (Node* const loop : {&a, &b}) find_optional(*loop);
    if (a.body.back().optional || b.body.back().optional) return false;
    BodyLeveller leveller(a, b);
    if (!leveller.possible()) return false;
    leveller.level();
    a.shape = shape_of(a.body);
    b.shape = shape_of(b.body);
    return true;
  }

  const Trace& trace_;
  std::int64_t budget_;  ///< nodes and counts looked at
  std::map<Ends, std::set<std::uint64_t>> shapes_;
  std::map<Ends, std::vector<Found>> loops_;
};

/// Shapes of loops follow from what is in them.
void reshape(std::span<Node> nodes) {
  for (Node& node : nodes) {
    if (!node.is_loop()) continue;
    reshape(node.body);
    node.shape = shape_of(node.body);
  }
}

}  // namespace

std::vector<Node> level_rounds(Trace& online, Trace& partial, std::size_t reach,
                               std::int64_t budget) {
  if (std::none_of(partial.calls.begin(), partial.calls.end(),
                   [](const auto& call) { return may_fail(call.second); }))
    return {};
  const std::size_t old = online.nodes.size() - std::min(online.nodes.size(), reach);
  Rounds rounds(partial, budget);
  rounds.learn(partial.nodes);
  rounds.learn(std::span(online.nodes).subspan(old));
  if (rounds.empty()) return {};
  const auto first = online.nodes.begin() + static_cast<std::ptrdiff_t>(old);
  std::vector<Node> latest(std::make_move_iterator(first),
                           std::make_move_iterator(online.nodes.end()));
  online.nodes.resize(old);
  const bool out = rounds.write_out(latest, online.ranks);
  rounds.write_out(partial.nodes, partial.ranks);
  rounds.learn_bare(partial.nodes);
  rounds.learn_bare(latest);
  rounds.wrap(latest);
  rounds.wrap(partial.nodes);
  rounds.find(latest, online.ranks);
  rounds.find(partial.nodes, partial.ranks);
  if (rounds.level() || out) {
    reshape(latest);
    reshape(partial.nodes);
    return latest;
  }
  std::move(latest.begin(), latest.end(), std::back_inserter(online.nodes));
  return {};
}

}  // namespace chameleon::compress
