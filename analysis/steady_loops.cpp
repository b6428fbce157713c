// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/steady_loops.h"

#include <algorithm>

namespace chameleon::analysis {
namespace {

/// Values of which more terms tell differ from iteration to iteration.
constexpr std::size_t kMostTerms = 64;

bool is_simple(const Param& param, const RankList& ranks) {
  bool simple = true;
  param.for_each_group(ranks, [&](const RankList&, EndPointForm, const ValueSequence& values) {
    simple = simple && values.term_count() <= kMostTerms;
  });
  return simple;
}

/// Whether the call leaves communicators, datatypes and the like as they are.
bool keeps_objects(const CallPlan& plan) {
  switch (plan.action) {
    case Action::kUnchecked:
    case Action::kMatchedProbe:
    case Action::kMatchedRecv:
    case Action::kRequestFree:
    case Action::kCancel:
    case Action::kOtherRequest:
    case Action::kDatatype:
    case Action::kFinalize: return false;
    default: return !plan.changes_communicators && plan.object < 0 && plan.new_comm < 0;
  }
}

class Search {
 public:
  Search(const FollowPlan& plan, std::uint64_t fewest)
      : plan_(plan), fewest_(fewest), ranks_(plan.trace->whole_ranks()) {}

  std::unordered_set<const Node*> found;

  void look(const std::vector<Node>& nodes) {
    for (const Node& node : nodes) {
      if (!node.is_loop() || !is_of_all(node)) continue;
      if (is_long(node) && std::all_of(node.body.begin(), node.body.end(),
                                       [&](const Node& inner) { return is_steady(inner); }))
        found.insert(&node);
      else
        look(node.body);
    }
  }

 private:
  bool is_of_all(const Node& node) const {
    return node.ranks.empty() || node.ranks.intersection(ranks_).size() == ranks_.size();
  }

  bool is_long(const Node& loop) const {
    if (loop.iterations.grouped()) return false;
    for (ValueSequence::Cursor visits(loop.iterations.values()); !visits.done();) {
      const ValueSequence::Segment segment = visits.segment();
      if (segment.start >= 0 && static_cast<std::uint64_t>(segment.start) >= fewest_) return true;
      visits.skip(segment.count);
    }
    return false;
  }

  bool is_steady(const Node& node) const {
    if (node.is_loop())
      return is_simple(node.iterations, ranks_) &&
             std::all_of(node.body.begin(), node.body.end(),
                         [&](const Node& inner) { return is_steady(inner); });
    if (node.call >= plan_.calls.size() || plan_.described[node.call] == nullptr ||
        !keeps_objects(plan_.calls[node.call]))
      return false;
    return std::all_of(node.params.begin(), node.params.end(),
                       [&](const Param& param) { return is_simple(param, ranks_); });
  }

  const FollowPlan& plan_;
  std::uint64_t fewest_;
  RankList ranks_;
};

}  // namespace

std::unordered_set<const Node*> steady_loops(const FollowPlan& plan, std::uint64_t fewest) {
  Search search(plan, fewest);
  search.look(plan.trace->nodes);
  return std::move(search.found);
}

}  // namespace chameleon::analysis
