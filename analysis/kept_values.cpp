// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/kept_values.h"

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "analysis/rank_signatures.h"
#include "base/hash.h"
#include "compress/fold.h"
#include "model/xor_reading.h"
#include "signature/call_parameters.h"

namespace chameleon::analysis {
namespace {

struct OneValue {
  KeptColumn column{};
  std::int64_t value = 0;     ///< of partners the distance
  bool is_rank_zero = false;  ///< a partner that is
  std::int64_t xored = 0;     ///< of partners the reading by XOR
  std::uint32_t rule = 0;     ///< that gives it, from 1
};
using EventValues = std::vector<OneValue>;

/// The events of one call path.
struct Like {
  std::vector<EventValues> events;
  std::vector<bool> roots;  ///< of the values, which are rank 0 in all events
};

/// All that a rank did, by what corresponds between ranks.
struct Deeds {
  std::unordered_map<std::uint64_t, Like> events;                           ///< by symbol
  std::unordered_map<std::uint64_t, std::vector<std::int64_t>> iterations;  ///< by loop
};

std::optional<KeptColumn> column_of(Parameter parameter) {
  switch (parameter) {
    case Parameter::kCount: return KeptColumn::kCount;
    case Parameter::kSource: return KeptColumn::kSource;
    case Parameter::kDestination: return KeptColumn::kDest;
    case Parameter::kTag: return KeptColumn::kTag;
    default: return std::nullopt;
  }
}

EventValues values_of(const FollowedEvent& event, const signature::CallRules& rules,
                      signature::CallSites& sites, std::uint32_t rank) {
  EventValues values;
  const CallInfo* const call = find_call(static_cast<CallId>(event.view.node->call));
  if (call == nullptr || event.call == nullptr) return values;
  const int flag = signature::success_flag(*call);
  const bool failed = flag >= 0 && event.view.values[static_cast<std::size_t>(flag)] == 0;
  signature::for_each_signed(*call, [&](const signature::SignedValue& value) {
    const std::optional<KeptColumn> column = column_of(value.parameter);
    if (!column || value.at >= event.view.values.size()) return;
    if (value.end_point) {
      const PartnerReadings partner = readings(event.view.end_point(value.at), event.comm);
      values.push_back({*column, partner.relative, partner.mixed != partner.relative,
                        xor_reading(partner.packed, rank)});
    } else {
      const std::int64_t given = event.view.values[value.at];
      values.push_back({*column, given, false, given});
    }
    if (!failed) values.back().rule = rule_of(rules, sites, event, value);
  });
  return values;
}

void add_event(EventValues values, Like& like) {
  like.roots.resize(values.size(), true);
  for (std::size_t i = 0; i < values.size(); ++i)
    like.roots[i] = like.roots[i] && values[i].is_rank_zero;
  like.events.push_back(std::move(values));
}

/// Equal for loops that hold the same calls in the same order.
std::uint64_t loop_key(const std::vector<Node>& body) {
  std::uint64_t key = body.size();
  for (const Node& node : body)
    key = combine(key, node.is_loop() ? loop_key(node.body) : node.symbol());
  return key;
}

void add_loops(const std::vector<Node>& nodes, Deeds& deeds) {
  for (const Node& node : nodes) {
    if (!node.is_loop()) continue;
    std::vector<std::int64_t>& visits = deeds.iterations[loop_key(node.body)];
    node.iterations.for_each_group({}, [&](const RankList&, EndPointForm, const auto& values) {
      for (ValueSequence::Cursor cursor(values); !cursor.done(); cursor.skip(1))
        visits.push_back(cursor.segment().start);
    });
    add_loops(node.body, deeds);
  }
}

Result<Deeds> deeds_of(const FollowPlan& plan, const signature::CallRules& rules,
                       std::uint32_t rank) {
  const bool several = plan.trace->threads > 1;
  Result<Follower> follower =
      several ? Follower::of_stream(plan, rank) : Follower::of_rank(plan, rank);
  if (!follower) return follower.error();
  Deeds deeds;
  Folder folder(false);
  signature::CallSites sites;
  FollowedEvent event;
  while (follower->next(event)) {
    const Node& node = *event.view.node;
    folder.push({node.call, node.path, 0, 0, event.view.values});
    add_event(values_of(event, rules, sites, rank), deeds.events[node.symbol()]);
  }
  add_loops(folder.take(), deeds);
  return deeds;
}

/// Counts what a lead's trace says of others.
class Comparison {
 public:
  /// `relative`: also partners that are always rank 0 are at the same distances. `by_xor`: they are
  /// moved from rank to rank by XOR.
  Comparison(KeptShares& shares, const Deeds& lead, bool relative, bool by_xor = false)
      : shares_(shares), lead_(lead), relative_(relative), by_xor_(by_xor) {}

  /// Nothing tells equal ranks apart but partners that are not read by their distances.
  bool keeps_equal_ranks() const {
    if (by_xor_) return false;
    return relative_ || std::none_of(lead_.events.begin(), lead_.events.end(), [](const auto& one) {
             const std::vector<bool>& roots = one.second.roots;
             return std::find(roots.begin(), roots.end(), true) != roots.end();
           });
  }

  void add(const Deeds& mine) {
    static const Like kNothing;
    for (const auto& [symbol, like] : mine.events) {
      const auto found = lead_.events.find(symbol);
      const Like& told = found == lead_.events.end() ? kNothing : found->second;
      for (std::size_t i = 0; i < like.events.size(); ++i)
        add(like.events[i], told, i < told.events.size() ? &told.events[i] : nullptr);
      if (told.events.size() > like.events.size())
        at(KeptColumn::kEvents).all += told.events.size() - like.events.size();
    }
    for (const auto& [symbol, like] : lead_.events)
      if (mine.events.count(symbol) == 0) at(KeptColumn::kEvents).all += like.events.size();
    for (const auto& [loop, visits] : mine.iterations) {
      const auto found = lead_.iterations.find(loop);
      for (std::size_t i = 0; i < visits.size(); ++i)
        count(KeptColumn::kLoop, found != lead_.iterations.end() && i < found->second.size() &&
                                     found->second[i] == visits[i]);
    }
  }

 private:
  KeptShare& at(KeptColumn column) { return shares_[static_cast<std::size_t>(column)]; }
  void count(KeptColumn column, bool kept) {
    ++at(column).all;
    at(column).kept += kept ? 1 : 0;
  }
  void add(const EventValues& mine, const Like& told, const EventValues* lead) {
    count(KeptColumn::kEvents, lead != nullptr);
    for (std::size_t i = 0; i < mine.size(); ++i) {
      const bool known = lead != nullptr && i < lead->size();
      if (known && mine[i].rule != 0 && mine[i].rule == (*lead)[i].rule) {
        count(mine[i].column, true);
        continue;
      }
      if (known && by_xor_) {
        count(mine[i].column, mine[i].xored == (*lead)[i].xored);
        continue;
      }
      const bool root = known && !relative_ && told.roots[i];
      count(mine[i].column,
            known && (root ? mine[i].is_rank_zero : mine[i].value == (*lead)[i].value));
    }
  }

  KeptShares& shares_;
  const Deeds& lead_;
  bool relative_, by_xor_;
};

/// All of it is kept, where a rank is its own lead or like it.
void add_whole(KeptShares& shares, const Deeds& deeds) {
  Comparison(shares, deeds, true).add(deeds);
}

}  // namespace

const char* kept_name(KeptColumn column) {
  constexpr const char* kNames[] = {"COUNT", "LOOP", "EVENTS", "SRC", "DEST", "TAG"};
  return kNames[static_cast<std::size_t>(column)];
}

Result<KeptShares> kept_values(const FollowPlan& plan, const signature::CallRules& rules,
                               const Clustering& clustering,
                               const std::vector<std::uint64_t>& whole) {
  KeptShares shares{};
  for (const cluster::MainCluster& main : clustering.main)
    for (const cluster::SubCluster& one : main.clusters) {
      const Result<Deeds> lead = deeds_of(plan, rules, one.lead);
      if (!lead) return lead.error();
      Comparison comparison(shares, *lead, one.same_distances, one.by_xor());
      const bool keeps = rules.empty() && comparison.keeps_equal_ranks();
      for (const std::uint32_t rank : one.ranks.ranks()) {
        if (rank == one.lead || (keeps && whole[rank] == whole[one.lead])) {
          add_whole(shares, *lead);
          continue;
        }
        const Result<Deeds> mine = deeds_of(plan, rules, rank);
        if (!mine) return mine.error();
        comparison.add(*mine);
      }
    }
  return shares;
}

}  // namespace chameleon::analysis
