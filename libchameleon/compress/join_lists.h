// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Two lists of nodes that the same ranks executed, one after the other, made one with more
/// executions: what `append` (append.h) folds at a seam. Unlike in the fold of one rank
/// (node.h), nodes have ranks and values are by rank.

#include <cstdint>
#include <span>
#include <vector>

#include "model/trace.h"

namespace chameleon::compress {

/// Nodes in a row, or picked from a row by their positions.
struct NodeList {
  Node* nodes;
  std::size_t count;
  const std::size_t* picked = nullptr;

  NodeList(std::vector<Node>& list) : nodes(list.data()), count(list.size()) {}
  NodeList(Node* from, std::size_t n, const std::size_t* which = nullptr)
      : nodes(from), count(n), picked(which) {}
  Node& operator[](std::size_t i) const { return picked != nullptr ? nodes[picked[i]] : nodes[i]; }
  std::size_t size() const { return count; }
  NodeList part(std::size_t from, std::size_t n) const {
    return picked != nullptr ? NodeList(nodes, n, picked + from) : NodeList(nodes + from, n);
  }
};

inline const RankList& ranks_of(const Node& node, const RankList& enclosing) {
  return node.ranks.empty() ? enclosing : node.ranks;
}

inline void set_ranks(Node& node, const RankList& ranks, const RankList& enclosing) {
  if (ranks == enclosing)
    node.ranks = RankList();
  else
    node.ranks = ranks;
}

/// How many groups the values of these nodes are in. O(nodes and their parameters).
std::uint64_t group_count(std::span<const Node> nodes);

/// Whether two lists that the same ranks execute, one after the other, can be made
/// one with more executions: as `alignable`, and every node is executed by the same
/// ranks in both, with values that can be appended; end-points may be given other readings for that
/// (readings.h).
class Joinable {
 public:
  struct Work {
    std::int64_t left;           ///< nodes that may still be compared
    std::uint64_t compared = 0;  ///< groups of values that were
  };

  Joinable(Work& work, const Trace& trace) : work_(work), trace_(trace) {}
  bool lists(NodeList a, const RankList& ranks_a, NodeList b, const RankList& ranks_b);

 private:
  bool events(Node& a, const RankList& left, Node& b, const RankList& right);

  Work& work_;
  const Trace& trace_;
};

/// Puts loops that are taken once around what is bare in one of the lists and in a loop in the
/// other. Requires `Joinable::lists`.
void level_lists(std::vector<Node>& a, const RankList& ranks_a, std::vector<Node>& b,
                 const RankList& ranks_b);

/// Appends `b`'s executions to `a`'s. Requires `Joinable::lists`.
void join_lists(std::vector<Node>& a, const RankList& ranks_a, std::vector<Node>& b,
                const RankList& ranks_b);

}  // namespace chameleon::compress
