// SPDX-License-Identifier: BSD-3-Clause
#include "compress/merge.h"

#include <algorithm>
#include <vector>

#include "compress/commute.h"
#include "compress/join_tables.h"
#include "compress/loop_partners.h"
#include "compress/once_taken.h"
#include "model/rank_unions.h"

namespace chameleon::compress {
namespace {

/// Beyond this many differences the rest is matched greedily: the edit script's
/// memory grows with their square.
constexpr std::size_t kMostDifferences = 2000;
constexpr std::size_t kGreedyReach = 256;

using Match = std::pair<std::size_t, std::size_t>;

bool same(const Node& a, const Node& b) {
  return a.shape == b.shape && alignable({&a, 1}, {&b, 1});
}

/// Nodes to align, by their places in a list.
struct Places {
  std::span<const Node> nodes;
  std::vector<std::size_t> places;

  std::size_t size() const { return places.size(); }
  const Node& operator[](std::size_t i) const { return nodes[places[i]]; }

  /// Of `nodes` from `first` up to `last` those whose shape `others` has: only they can match.
  static Places of(std::span<const Node> nodes, std::size_t first, std::size_t last,
                   const std::vector<std::uint64_t>& others) {
    Places result{nodes, {}};
    for (std::size_t i = first; i < last; ++i)
      if (std::binary_search(others.begin(), others.end(), nodes[i].shape.hash))
        result.places.push_back(i);
    return result;
  }
};

/// Ascending.
std::vector<std::uint64_t> shapes_of(std::span<const Node> nodes) {
  std::vector<std::uint64_t> shapes;
  shapes.reserve(nodes.size());
  for (const Node& node : nodes) shapes.push_back(node.shape.hash);
  std::sort(shapes.begin(), shapes.end());
  return shapes;
}

void greedy(const Places& a, const Places& b, std::vector<Match>& matches) {
  std::size_t i = 0;
  for (std::size_t j = 0; j < b.size() && i < a.size(); ++j) {
    const std::size_t reach = std::min(a.size(), i + kGreedyReach);
    for (std::size_t k = i; k < reach; ++k)
      if (same(a[k], b[j])) {
        matches.emplace_back(a.places[k], b.places[j]);
        i = k + 1;
        break;
      }
  }
}

/// Matches of a shortest edit script, ascending (Myers, "An O(ND) Difference
/// Algorithm", 1986, with its history kept to read the path back).
void shortest_edit(const Places& a, const Places& b, std::vector<Match>& matches) {
  const auto n = static_cast<std::ptrdiff_t>(a.size());
  const auto m = static_cast<std::ptrdiff_t>(b.size());
  const auto limit = std::min<std::ptrdiff_t>(n + m, kMostDifferences);
  std::vector<std::vector<std::int32_t>> history;
  std::vector<std::int32_t> furthest(static_cast<std::size_t>(2 * limit + 3), 0);
  const auto at = [&](std::ptrdiff_t k) -> std::int32_t& {
    return furthest[static_cast<std::size_t>(k + limit + 1)];
  };
  for (std::ptrdiff_t d = 0; d <= limit; ++d) {
    history.emplace_back(furthest.begin() + (limit + 1 - d - 1),
                         furthest.begin() + (limit + d + 3));
    for (std::ptrdiff_t k = -d; k <= d; k += 2) {
      std::ptrdiff_t x = (k == -d || (k != d && at(k - 1) < at(k + 1))) ? at(k + 1) : at(k - 1) + 1;
      while (x < n && x - k < m && x - k >= 0 &&
             same(a[static_cast<std::size_t>(x)], b[static_cast<std::size_t>(x - k)]))
        ++x;
      at(k) = static_cast<std::int32_t>(x);
      if (x < n || x - k < m) continue;
      // Walk back: history[d] holds diagonals -d-1 .. d+1 as they were before step d.
      const std::size_t first = matches.size();
      std::ptrdiff_t px = n;
      std::ptrdiff_t diagonal = n - m;
      for (std::ptrdiff_t step = d; step >= 0; --step) {
        const auto& before = history[static_cast<std::size_t>(step)];
        const auto old = [&](std::ptrdiff_t q) {
          return before[static_cast<std::size_t>(q + step + 1)];
        };
        std::ptrdiff_t start = 0;
        std::ptrdiff_t previous = diagonal;
        if (step > 0) {
          const bool down =
              diagonal == -step || (diagonal != step && old(diagonal - 1) < old(diagonal + 1));
          previous = down ? diagonal + 1 : diagonal - 1;
          start = down ? old(previous) : old(previous) + 1;
        }
        for (std::ptrdiff_t q = px - 1; q >= start; --q)
          matches.emplace_back(a.places[static_cast<std::size_t>(q)],
                               b.places[static_cast<std::size_t>(q - diagonal)]);
        if (step > 0) px = old(previous);
        diagonal = previous;
      }
      std::reverse(matches.begin() + static_cast<std::ptrdiff_t>(first), matches.end());
      return;
    }
  }
  greedy(a, b, matches);
}

std::vector<Match> align(std::span<const Node> a, std::span<const Node> b) {
  std::vector<Match> matches;
  std::size_t head = 0;
  while (head < a.size() && head < b.size() && same(a[head], b[head])) {
    matches.emplace_back(head, head);
    ++head;
  }
  std::size_t tail = 0;
  while (tail < a.size() - head && tail < b.size() - head &&
         same(a[a.size() - 1 - tail], b[b.size() - 1 - tail]))
    ++tail;
  const std::size_t end_a = a.size() - tail, end_b = b.size() - tail;
  if (head < end_a && head < end_b) {
    // What only one of them has needs no search: ranks that differ much cost what they share.
    const Places left = Places::of(a, head, end_a, shapes_of(b.subspan(head, end_b - head)));
    const Places right = Places::of(b, head, end_b, shapes_of(a.subspan(head, end_a - head)));
    if (left.size() != 0 && right.size() != 0) shortest_edit(left, right, matches);
  }
  for (std::size_t i = tail; i > 0; --i) matches.emplace_back(a.size() - i, b.size() - i);
  return matches;
}

class Merger {
 public:
  explicit Merger(const CallSchema& schema) : schema_(schema) {}

  std::vector<Node> merge_lists(std::vector<Node> a, std::vector<Node> b, const RankList& mine,
                                const RankList& theirs) {
    if (shape_of(a) == shape_of(b) && alignable(a, b)) {
      merge_ranks(a, b, mine, theirs, schema_);
      return a;
    }
    wrap_once_taken(a, b);
    wrap_once_taken(b, a);
    std::vector<Node> merged;
    merged.reserve(a.size() + b.size());
    std::size_t i = 0;
    std::size_t j = 0;
    for (const auto& [next_a, next_b] : align(a, b)) {
      gap(merged, std::span(a).subspan(i, next_a - i), std::span(b).subspan(j, next_b - j), mine,
          theirs);
      merged.push_back(merge_pair(std::move(a[next_a]), b[next_b], mine, theirs));
      i = next_a + 1;
      j = next_b + 1;
    }
    gap(merged, std::span(a).subspan(i), std::span(b).subspan(j), mine, theirs);
    RankList all = mine;
    all.merge(theirs);
    join_commuting(merged, all, schema_);
    return merged;
  }

 private:
  Node merge_pair(Node a, Node& b, const RankList& mine, const RankList& theirs) {
    if (a.is_loop() == b.is_loop()) {
      merge_node(a, b, mine, theirs, schema_);
      return a;
    }
    std::vector<Node> pair;
    pair.push_back(std::move(a));
    merge_ranks(pair, {&b, 1}, mine, theirs, schema_);
    return std::move(pair.front());
  }

  /// Between two matches: what is one loop of the program becomes one; everything else stays with
  /// the ranks it came from.
  void gap(std::vector<Node>& merged, std::span<Node> a, std::span<Node> b, const RankList& mine,
           const RankList& theirs) {
    std::size_t i = 0;
    std::size_t j = 0;
    for (const auto& [next_a, next_b] : loop_partners(a, b, depth_ == 0)) {
      keep(merged, a.subspan(i, next_a - i), mine);
      keep(merged, b.subspan(j, next_b - j), theirs);
      merged.push_back(merge_loops(std::move(a[next_a]), std::move(b[next_b]), mine, theirs));
      i = next_a + 1;
      j = next_b + 1;
    }
    keep(merged, a.subspan(i), mine);
    keep(merged, b.subspan(j), theirs);
  }

  static void keep(std::vector<Node>& merged, std::span<Node> nodes, const RankList& ranks) {
    for (Node& node : nodes) {
      if (node.ranks.empty()) node.ranks = ranks;
      merged.push_back(std::move(node));
    }
  }

  Node merge_loops(Node a, Node b, const RankList& mine, const RankList& theirs) {
    const RankList left = a.ranks.empty() ? mine : a.ranks;
    const RankList right = b.ranks.empty() ? theirs : b.ranks;
    ++depth_;
    a.body = merge_lists(std::move(a.body), std::move(b.body), left, right);
    --depth_;
    a.shape = shape_of(a.body);
    merge_inexact(a.inexact, b.inexact);
    a.iterations.merge(std::move(b.iterations), left, right, FieldKind::kPlain);
    if (!a.ranks.empty() || !b.ranks.empty()) {
      a.ranks = left;
      a.ranks.merge(right);
    }
    return a;
  }

  const CallSchema& schema_;
  std::size_t depth_ = 0;
};

/// Rank lists that say nothing go.
void drop_ranks(std::vector<Node>& nodes, const RankList& ranks) {
  for (Node& node : nodes) {
    if (node.ranks == ranks) node.ranks = RankList();
    const RankList& mine = node.ranks.empty() ? ranks : node.ranks;
    drop_ranks(node.body, mine);
    for (TimeEntry& entry : node.times)
      if (entry.ranks == mine) entry.ranks = RankList();
  }
}

void choose_readings(std::vector<Node>& nodes, const Trace& trace) {
  for (Node& node : nodes) {
    choose_readings(node.body, trace);
    if (node.is_loop()) continue;
    const auto call = trace.calls.find(node.call);
    if (call == trace.calls.end()) continue;
    const auto& fields = call->second.fields;
    for (std::size_t i = 0; i < node.params.size() && i < fields.size(); ++i)
      if (fields[i].stored == FieldKind::kEndPoint)
        node.params[i].canonicalize(fields[i].kind != "root");
  }
}

}  // namespace

void merge(Trace& trace, Trace other) {
  const RankUnions unions;
  join_tables(trace, other);
  trace.nodes = Merger(trace).merge_lists(std::move(trace.nodes), std::move(other.nodes),
                                          trace.ranks, other.ranks);
  trace.ranks.merge(other.ranks);
  trace.complete = trace.complete && other.complete;
}

void drop_ranks(Trace& trace) { drop_ranks(trace.nodes, trace.ranks); }

void canonicalize(Trace& trace) {
  drop_ranks(trace);
  choose_readings(trace.nodes, trace);
}

}  // namespace chameleon::compress
