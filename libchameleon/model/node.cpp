// SPDX-License-Identifier: BSD-3-Clause
#include "model/node.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace chameleon::inline model {
namespace {

/// Whether a loop can be put around the nodes: the same ranks execute them all.
bool one_rank_set(std::span<const Node> run) {
  for (const Node& node : run)
    if (!(node.ranks == run.front().ranks)) return false;
  return true;
}

/// How often a node was executed, a value a visit (the values themselves do not matter).
const Param& visits(const Node& node) { return node.is_loop() ? node.iterations : node.params[0]; }

/// The nodes as a loop that was taken once at every visit. While folding (`open`) the last visit
/// stays open, since more iterations may follow.
Node wrapped(std::span<Node> run, bool open) {
  Node loop;
  loop.shape = shape_of(run);
  const Node& first = run.front();
  loop.iterations = visits(first).ones();
  if (open) {
    const bool goes_on = first.is_loop() && first.current != 0;
    const std::uint64_t closed = visits(first).values().size() - (goes_on ? 0 : 1);
    loop.iterations = Param(closed == 0 ? ValueSequence() : ValueSequence(1, closed));
    loop.current = 1;
  }
  loop.ranks = first.ranks;
  loop.body.assign(std::make_move_iterator(run.begin()), std::make_move_iterator(run.end()));
  for (Node& node : loop.body) node.ranks = RankList();
  return loop;
}

/// Puts nodes[at, at+count) into such a loop.
void wrap(std::vector<Node>& nodes, std::size_t at, std::size_t count, bool open) {
  nodes[at] = wrapped(std::span(nodes).subspan(at, count), open);
  nodes.erase(nodes.begin() + static_cast<std::ptrdiff_t>(at + 1),
              nodes.begin() + static_cast<std::ptrdiff_t>(at + count));
}

void close(Node& loop) {
  if (loop.current == 0) return;
  loop.iterations.values().append(static_cast<std::int64_t>(loop.current));
  loop.current = 0;
}

/// Whether all partners in two alignable lists are events, or loops.
bool level(std::span<const Node> a, std::span<const Node> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Node& x, const Node& y) {
    return !encloses(x, y) && !encloses(y, x);
  });
}

/// Makes them so.
void make_level(std::vector<Node>& a, std::vector<Node>& b, bool open) {
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (encloses(b[i], a[i])) wrap(a, i, run_of_length(a, i, b[i].shape.length), open);
    if (encloses(a[i], b[i])) wrap(b, i, run_of_length(b, i, a[i].shape.length), open);
  }
}

void append_node(Node& a, Node& b, const RankList& ranks) {
  merge_inexact(a.inexact, b.inexact);
  if (a.is_loop()) {
    append_execution(a.body, b.body, ranks);
    close(a);
    a.iterations.append(std::move(b.iterations), ranks, ranks);
    a.current = b.current;
    return;
  }
  for (std::size_t i = 0; i < a.params.size(); ++i)
    a.params[i].append(std::move(b.params[i]), ranks, ranks);
  for (TimeEntry& entry : b.times) {
    const auto mine = std::find_if(a.times.begin(), a.times.end(), [&](const TimeEntry& present) {
      return present.predecessor == entry.predecessor && present.ranks == entry.ranks;
    });
    if (mine == a.times.end()) {
      a.times.push_back(std::move(entry));
    } else {
      mine->compute.merge(entry.compute);
      mine->communication.merge(entry.communication);
    }
  }
}

/// Calls `join(a, b)` for partners, `b` being in a list of its own where nodes must be wrapped.
template <class Join>
void join_partners(std::vector<Node>& a, std::span<Node> b, bool open, Join join) {
  std::vector<Node> list;
  if (!level(a, b)) {
    list.assign(std::make_move_iterator(b.begin()), std::make_move_iterator(b.end()));
    make_level(a, list, open);
    b = list;
  }
  for (std::size_t i = 0; i < a.size(); ++i) join(a[i], b[i]);
}

/// Times by predecessor, in order: a search where there are few, else a table, so that as many
/// predecessors as ranks cost no square of them.
class TimesOf {
 public:
  TimesOf(std::vector<TimeEntry>& times, std::size_t others) : times_(times) {
    if (times.size() * others <= kMostSought) return;
    rows_.assign(std::bit_ceil(2 * (times.size() + others)), {kNone, kNone});
    next_.reserve(times.size() + others);
    for (std::size_t i = 0; i < times.size(); ++i) link(i);
  }

  template <class F>
  void for_each(std::uint64_t predecessor, F f) {
    if (rows_.empty()) {
      for (TimeEntry& entry : times_)
        if (entry.predecessor == predecessor) f(entry);
      return;
    }
    for (std::uint32_t i = row(predecessor).first; i != kNone; i = next_[i])
      if (times_[i].predecessor == predecessor) f(times_[i]);
  }

  void add(TimeEntry&& entry) {
    times_.push_back(std::move(entry));
    if (!rows_.empty()) link(times_.size() - 1);
  }

 private:
  static constexpr std::size_t kMostSought = 64;
  static constexpr std::uint32_t kNone = UINT32_MAX;
  struct Row {
    std::uint32_t first, last;
  };

  Row& row(std::uint64_t predecessor) { return rows_[mix(predecessor) & (rows_.size() - 1)]; }
  void link(std::size_t i) {
    const auto at = static_cast<std::uint32_t>(i);
    Row& row = this->row(times_[i].predecessor);
    next_.push_back(kNone);
    (row.first == kNone ? row.first : next_[row.last]) = at;
    row.last = at;
  }

  std::vector<TimeEntry>& times_;
  std::vector<Row> rows_;
  std::vector<std::uint32_t> next_;
};

bool alike(const Histogram& a, const Histogram& b) {
  const double difference = std::abs(a.mean() - b.mean());
  return difference < 5000.0 || difference < 0.1 * std::max(a.mean(), b.mean());
}

}  // namespace

bool alignable(std::span<const Node> a, std::span<const Node> b) {
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < a.size() && j < b.size()) {
    const Node& left = a[i];
    const Node& right = b[j];
    if (!left.is_loop() && !right.is_loop()) {
      if (left.call != right.call || left.path != right.path ||
          left.params.size() != right.params.size())
        return false;
      ++i, ++j;
    } else if (!encloses(left, right) && !encloses(right, left)) {
      if (!(left.shape == right.shape) || !alignable(left.body, right.body)) return false;
      ++i, ++j;
    } else if (encloses(left, right)) {
      const std::size_t run = run_of_length(b, j, left.shape.length);
      if (run == 0 || !one_rank_set(b.subspan(j, run)) || !alignable(left.body, b.subspan(j, run)))
        return false;
      ++i, j += run;
    } else {
      const std::size_t run = run_of_length(a, i, right.shape.length);
      if (run == 0 || !one_rank_set(a.subspan(i, run)) || !alignable(a.subspan(i, run), right.body))
        return false;
      i += run, ++j;
    }
  }
  return i == a.size() && j == b.size();
}

Node wrapped_once(std::span<Node> run) { return wrapped(run, false); }

void append_execution(std::vector<Node>& nodes, std::span<Node> later, const RankList& ranks) {
  join_partners(nodes, later, true, [&](Node& a, Node& b) { append_node(a, b, ranks); });
}

void merge_node(Node& a, Node& b, const RankList& mine, const RankList& theirs,
                const CallSchema& schema) {
  merge_inexact(a.inexact, b.inexact);
  const RankList& left = a.ranks.empty() ? mine : a.ranks;
  const RankList& right = b.ranks.empty() ? theirs : b.ranks;
  if (a.is_loop()) {
    merge_ranks(a.body, b.body, left, right, schema);
    a.iterations.merge(std::move(b.iterations), left, right, FieldKind::kPlain);
  } else {
    for (std::size_t i = 0; i < a.params.size(); ++i)
      a.params[i].merge(std::move(b.params[i]), left, right, schema.field_kind(a.call, i));
    merge_times(a.times, std::move(b.times), left, right);
  }
  if (a.ranks.empty() && b.ranks.empty()) return;
  RankList all = left;
  all.merge(right);
  a.ranks = std::move(all);
}

void merge_ranks(std::vector<Node>& nodes, std::span<Node> other, const RankList& mine,
                 const RankList& theirs, const CallSchema& schema) {
  join_partners(nodes, other, false,
                [&](Node& a, Node& b) { merge_node(a, b, mine, theirs, schema); });
}

void begin_visit(Node& loop) {
  close(loop);
  loop.current = 1;
}

void skip_visit(Node& loop) {
  close(loop);
  loop.iterations.values().append(0);
}

void close_loops(std::span<Node> nodes) {
  for (Node& node : nodes)
    if (node.is_loop()) {
      close_loops(node.body);
      close(node);
    }
}

void reopen_loops(std::span<Node> nodes) {
  for (Node& node : nodes)
    if (node.is_loop()) {
      reopen_loops(node.body);
      if (node.iterations.values().back() == 0) continue;  // of no iteration: it is over
      node.current = static_cast<std::uint64_t>(node.iterations.values().back());
      node.iterations.values().drop_back();
    }
}

void merge_times(std::vector<TimeEntry>& times, std::vector<TimeEntry>&& other,
                 const RankList& mine, const RankList& theirs) {
  TimesOf present(times, other.size());
  for (TimeEntry& entry : other) {
    TimeEntry* best = nullptr;
    std::size_t groups = 0;
    double nearest = 0;
    present.for_each(entry.predecessor, [&](TimeEntry& candidate) {
      ++groups;
      const double distance = std::abs(candidate.compute.mean() - entry.compute.mean());
      if (best == nullptr || distance < nearest) best = &candidate, nearest = distance;
    });
    if (entry.ranks.empty()) entry.ranks = theirs;
    if (best == nullptr || (!alike(best->compute, entry.compute) && groups < kMostTimeGroups)) {
      if (best != nullptr && best->ranks.empty()) best->ranks = mine;
      present.add(std::move(entry));
      continue;
    }
    if (best->ranks.empty()) best->ranks = mine;
    best->ranks.merge(entry.ranks);
    best->compute.merge(entry.compute);
    best->communication.merge(entry.communication);
  }
  for (TimeEntry& entry : times)
    if (entry.ranks.empty()) entry.ranks = mine;
}

}  // namespace chameleon::inline model
