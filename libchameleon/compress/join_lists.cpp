// SPDX-License-Identifier: BSD-3-Clause
#include "compress/join_lists.h"

#include <algorithm>
#include <utility>

#include "compress/readings.h"

namespace chameleon::compress {
namespace {

/// A loop is put around bare nodes only if they tell the visits of all its ranks.
bool cover(NodeList run, const RankList& enclosing, const RankList& ranks) {
  RankList all;
  for (std::size_t i = 0; i < run.count; ++i) {
    const RankList& own = ranks_of(run[i], enclosing);
    if (own == ranks) return true;
    all.merge(own);
  }
  return all == ranks;
}

/// How often `node` was executed: a parameter with a value an execution.
const Param& executions(const Node& node) {
  return node.is_loop() ? node.iterations : node.params[0];
}

/// Iteration counts of a loop of `ranks` around nodes that were executed once a visit.
Param once_a_visit(NodeList nodes, const RankList& enclosing, const RankList& ranks) {
  std::vector<ParamGroup> groups;
  RankList left = ranks;
  for (std::size_t i = 0; i < nodes.count && !left.empty(); ++i)
    executions(nodes[i]).for_each_group(
        ranks_of(nodes[i], enclosing),
        [&](const RankList& members, EndPointForm, const ValueSequence& values) {
          RankList common = left.intersection(members);
          if (common.empty()) return;
          left = left.minus(common);
          const auto same = std::find_if(groups.begin(), groups.end(), [&](const ParamGroup& g) {
            return g.values.size() == values.size();
          });
          if (same != groups.end()) return same->ranks.merge(common);
          ValueSequence ones;
          if (!values.empty()) ones = ValueSequence(1, values.size());
          groups.push_back({std::move(common), EndPointForm::kBoth, std::move(ones)});
        });
  Param iterations;
  if (!groups.empty()) iterations.set_groups(std::move(groups));
  return iterations;
}

/// Puts list[at, at+count) into a loop of `ranks` that was taken once at every visit.
void wrap(std::vector<Node>& list, std::size_t at, std::size_t count, const RankList& ranks,
          const RankList& enclosing) {
  const NodeList run = NodeList(list).part(at, count);
  Node loop;
  loop.iterations = once_a_visit(run, enclosing, ranks);
  for (std::size_t i = 0; i < count; ++i) {
    loop.shape = loop.shape.then(run[i].shape);
    const RankList own = ranks_of(run[i], enclosing);
    set_ranks(run[i], own, ranks);
    loop.body.push_back(std::move(run[i]));
  }
  set_ranks(loop, ranks, enclosing);
  list[at] = std::move(loop);
  list.erase(list.begin() + static_cast<std::ptrdiff_t>(at + 1),
             list.begin() + static_cast<std::ptrdiff_t>(at + count));
}

/// Makes the nodes at `i` both loops or both events.
void level(std::vector<Node>& a, const RankList& ranks_a, std::vector<Node>& b,
           const RankList& ranks_b, std::size_t i) {
  if (encloses(b[i], a[i]))
    wrap(a, i, run_of_length(a, i, b[i].shape.length), RankList(ranks_of(b[i], ranks_b)), ranks_a);
  if (encloses(a[i], b[i]))
    wrap(b, i, run_of_length(b, i, a[i].shape.length), RankList(ranks_of(a[i], ranks_a)), ranks_b);
}

void join_times(std::vector<TimeEntry>& times, std::vector<TimeEntry>&& later,
                const RankList& ranks) {
  for (TimeEntry& entry : later) {
    const RankList theirs = entry.ranks.empty() ? ranks : entry.ranks;
    TimeEntry* best = nullptr;
    std::uint64_t most = 0;
    RankList unknown = theirs;  // ranks without times after this predecessor so far
    for (TimeEntry& present : times) {
      if (present.predecessor != entry.predecessor) continue;
      const RankList& mine = present.ranks.empty() ? ranks : present.ranks;
      const std::uint64_t shared = mine == theirs ? UINT64_MAX : mine.intersection(theirs).size();
      if (shared > most) best = &present, most = shared;
      unknown = unknown.minus(mine);
      if (shared == UINT64_MAX) break;
    }
    if (best == nullptr) {
      std::vector<TimeEntry> one;
      one.push_back(std::move(entry));
      merge_times(times, std::move(one), ranks, theirs);
      continue;
    }
    // Groups drift from flush to flush: those with most ranks in common go on together.
    if (!unknown.empty() && !best->ranks.empty()) best->ranks.merge(unknown);
    best->compute.merge(entry.compute);
    best->communication.merge(entry.communication);
  }
}

void join_nodes(Node& a, Node& b, const RankList& ranks) {
  merge_inexact(a.inexact, b.inexact);
  if (a.is_loop()) {
    join_lists(a.body, ranks, b.body, ranks);
    a.iterations.append(std::move(b.iterations), ranks, ranks);
    return;
  }
  for (std::size_t i = 0; i < a.params.size(); ++i)
    a.params[i].append(std::move(b.params[i]), ranks, ranks);
  join_times(a.times, std::move(b.times), ranks);
}

}  // namespace

std::uint64_t group_count(std::span<const Node> nodes) {
  std::uint64_t groups = 0;
  for (const Node& node : nodes) {
    groups += group_count(node.iterations) + group_count(node.body);
    for (const Param& param : node.params) groups += group_count(param);
  }
  return groups;
}

bool Joinable::lists(NodeList a, const RankList& ranks_a, NodeList b, const RankList& ranks_b) {
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < a.count && j < b.count) {
    if (--work_.left < 0) return false;
    const RankList& left = ranks_of(a[i], ranks_a);
    const RankList& right = ranks_of(b[j], ranks_b);
    if (!a[i].is_loop() && !b[j].is_loop()) {
      if (!events(a[i], left, b[j], right)) return false;
      ++i, ++j;
    } else if (!encloses(a[i], b[j]) && !encloses(b[j], a[i])) {
      if (!(left == right) || !(a[i].shape == b[j].shape) ||
          !a[i].iterations.can_append(b[j].iterations, left, right) ||
          !lists(a[i].body, left, b[j].body, right))
        return false;
      ++i, ++j;
    } else if (encloses(a[i], b[j])) {
      const std::size_t run = run_of_length(b, j, a[i].shape.length);
      if (run == 0 || !cover(b.part(j, run), ranks_b, left) ||
          !lists(a[i].body, left, b.part(j, run), ranks_b))
        return false;
      ++i, j += run;
    } else {
      const std::size_t run = run_of_length(a, i, b[j].shape.length);
      if (run == 0 || !cover(a.part(i, run), ranks_a, right) ||
          !lists(a.part(i, run), ranks_a, b[j].body, right))
        return false;
      i += run, ++j;
    }
  }
  return i == a.count && j == b.count;
}

bool Joinable::events(Node& a, const RankList& left, Node& b, const RankList& right) {
  if (a.call != b.call || a.path != b.path || a.params.size() != b.params.size() ||
      a.params.empty() || !(left == right))
    return false;
  for (std::size_t i = 0; i < a.params.size(); ++i) {
    work_.compared += group_count(a.params[i]) + group_count(b.params[i]);
    if (!a.params[i].can_append(b.params[i], left, right) &&
        !(share_readings(trace_, i, a, left, b, right, work_.left) &&
          a.params[i].can_append(b.params[i], left, right)))
      return false;
  }
  return true;
}

void level_lists(std::vector<Node>& a, const RankList& ranks_a, std::vector<Node>& b,
                 const RankList& ranks_b) {
  for (std::size_t i = 0; i < a.size(); ++i) {
    level(a, ranks_a, b, ranks_b, i);
    if (a[i].is_loop())
      level_lists(a[i].body, RankList(ranks_of(a[i], ranks_a)), b[i].body,
                  RankList(ranks_of(b[i], ranks_b)));
  }
}

void join_lists(std::vector<Node>& a, const RankList& ranks_a, std::vector<Node>& b,
                const RankList& ranks_b) {
  for (std::size_t i = 0; i < a.size(); ++i) {
    level(a, ranks_a, b, ranks_b, i);
    join_nodes(a[i], b[i], ranks_of(a[i], ranks_a));
  }
}

}  // namespace chameleon::compress
