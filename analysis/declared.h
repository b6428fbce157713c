// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The declarations of a trace, in the form that tools need: by node for one rank (a
/// rank's kinds at a node are the union over the nodes around it), and as a set of
/// ranks. Whole-rank declarations (tracing switched off, calls left out) count as
/// everything. O(nodes) a rank with any declaration in its nodes, nothing for an exact
/// trace.

#include <array>
#include <cstdint>
#include <unordered_map>
#include <utility>

#include "model/trace.h"

namespace chameleon::analysis {

/// The kinds and the names of their columns.
inline constexpr std::array<std::pair<Inexactness, const char*>, 6> kInexactKinds = {{
    {kInexactEvents, "EVENTS"},
    {kInexactCount, "COUNT"},
    {kInexactSource, "SRC"},
    {kInexactDest, "DEST"},
    {kInexactTag, "TAG"},
    {kInexactOther, "OTHER"},
}};

/// "COUNT, TAG"; "everything" if all are set.
std::string kinds_text(std::uint32_t kinds);

/// Kinds of one stream, node by node.
class DeclaredKinds {
 public:
  DeclaredKinds(const Trace& trace, std::uint32_t stream);

  /// Declared at this node; all kinds where events are.
  std::uint32_t of(const Node* node) const {
    if (rank_wide_ != 0) return rank_wide_;
    const std::uint32_t said = said_at(node);
    return (said & kInexactEvents) != 0 ? std::uint32_t{kInexactAll} : said;
  }
  /// Declared at this node or around it, as it is said there.
  std::uint32_t said_at(const Node* node) const {
    const auto found = said_.find(node);
    return found == said_.end() ? 0 : found->second;
  }
  /// Declared at some node, as it is said there.
  std::uint32_t at_nodes() const { return at_nodes_; }
  /// kInexactAll if a declaration of the trace names the rank.
  std::uint32_t rank_wide() const { return rank_wide_; }

 private:
  void add(const std::vector<Node>& nodes, std::uint32_t rank, std::uint32_t around);

  std::unordered_map<const Node*, std::uint32_t> said_;  ///< where something is
  std::uint32_t at_nodes_ = 0;
  std::uint32_t rank_wide_ = 0;
};

/// Ranks inexact at any node, by kind, in the order of kInexactKinds.
using DeclaredRanks = std::array<RankList, 6>;
DeclaredRanks declared_at_nodes(const Trace& trace);

/// Ranks inexact in anything: at a node, or named by a declaration.
RankList declared_ranks(const Trace& trace);

}  // namespace chameleon::analysis
