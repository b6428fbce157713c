// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/declared.h"

namespace chameleon::analysis {
namespace {

void collect(const std::vector<Node>& nodes, DeclaredRanks& ranks) {
  for (const Node& node : nodes) {
    for (const Inexact& entry : node.inexact)
      for (std::size_t i = 0; i < kInexactKinds.size(); ++i)
        if ((entry.kinds & kInexactKinds[i].first) != 0) ranks[i].merge(entry.ranks);
    collect(node.body, ranks);
  }
}

bool any_inexact(const std::vector<Node>& nodes) {
  for (const Node& node : nodes)
    if (!node.inexact.empty() || any_inexact(node.body)) return true;
  return false;
}

}  // namespace

std::string kinds_text(std::uint32_t kinds) {
  if ((kinds & kInexactAll) == kInexactAll) return "everything";
  std::string text;
  for (const auto& [bit, name] : kInexactKinds)
    if ((kinds & bit) != 0) text += (text.empty() ? "" : ", ") + std::string(name);
  return text;
}

DeclaredKinds::DeclaredKinds(const Trace& trace, std::uint32_t stream) {
  for (const Declaration& declaration : trace.declarations)
    if (declaration.ranks.contains(trace.rank_of(stream))) rank_wide_ = kInexactAll;
  if (any_inexact(trace.nodes)) add(trace.nodes, stream, 0);
}

void DeclaredKinds::add(const std::vector<Node>& nodes, std::uint32_t rank, std::uint32_t around) {
  for (const Node& node : nodes) {
    if (!node.ranks.empty() && !node.ranks.contains(rank)) continue;
    const std::uint32_t said = inexact_kinds(node.inexact, rank) | around;
    at_nodes_ |= said;
    if (said != 0) said_.emplace(&node, said);
    add(node.body, rank, said);
  }
}

DeclaredRanks declared_at_nodes(const Trace& trace) {
  DeclaredRanks ranks;
  collect(trace.nodes, ranks);
  for (RankList& streams : ranks) streams = trace.ranks_of(streams);
  return ranks;
}

RankList declared_ranks(const Trace& trace) {
  RankList all;
  for (const RankList& ranks : declared_at_nodes(trace)) all.merge(ranks);
  for (const Declaration& declaration : trace.declarations) all.merge(declaration.ranks);
  return all;
}

}  // namespace chameleon::analysis
