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
#include "signature/call_parameters.h"

namespace chameleon::analysis {
namespace {

struct OneValue {
  KeptColumn column{};
  std::int64_t relative = 0;
  std::int64_t mixed = 0;  ///< the same but for partners
};
using EventValues = std::vector<OneValue>;

/// All that a rank did, by what corresponds between ranks.
struct Deeds {
  std::unordered_map<std::uint64_t, std::vector<EventValues>> events;       ///< by symbol
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

EventValues values_of(const FollowedEvent& event) {
  EventValues values;
  const CallInfo* const call = find_call(static_cast<CallId>(event.view.node->call));
  if (call == nullptr || event.call == nullptr) return values;
  signature::for_each_signed(*call, [&](const signature::SignedValue& value) {
    const std::optional<KeptColumn> column = column_of(value.parameter);
    if (!column || value.at >= event.view.values.size()) return;
    if (value.end_point) {
      const PartnerReadings partner = readings(event.view.end_point(value.at), event.comm);
      values.push_back({*column, partner.relative, partner.mixed});
    } else {
      const std::int64_t plain = event.view.values[value.at];
      values.push_back({*column, plain, plain});
    }
  });
  return values;
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

Result<Deeds> deeds_of(const FollowPlan& plan, std::uint32_t rank) {
  const bool several = plan.trace->threads > 1;
  Result<Follower> follower =
      several ? Follower::of_stream(plan, rank) : Follower::of_rank(plan, rank);
  if (!follower) return follower.error();
  Deeds deeds;
  Folder folder(false);
  FollowedEvent event;
  while (follower->next(event)) {
    const Node& node = *event.view.node;
    folder.push({node.call, node.path, 0, 0, event.view.values});
    deeds.events[node.symbol()].push_back(values_of(event));
  }
  add_loops(folder.take(), deeds);
  return deeds;
}

class Comparison {
 public:
  Comparison(KeptShares& shares, bool relative) : shares_(shares), relative_(relative) {}

  /// `lead` stands for `mine`.
  void compare(const Deeds& mine, const Deeds& lead) {
    for (const auto& [symbol, events] : mine.events) {
      const auto found = lead.events.find(symbol);
      const std::size_t told = found == lead.events.end() ? 0 : found->second.size();
      for (std::size_t i = 0; i < events.size(); ++i)
        compare(events[i], i < told ? &found->second[i] : nullptr);
      at(KeptColumn::kEvents).all += told > events.size() ? told - events.size() : 0;
    }
    for (const auto& [symbol, events] : lead.events)
      if (mine.events.count(symbol) == 0) at(KeptColumn::kEvents).all += events.size();
    for (const auto& [loop, visits] : mine.iterations) {
      const auto found = lead.iterations.find(loop);
      for (std::size_t i = 0; i < visits.size(); ++i)
        count(KeptColumn::kLoop, found != lead.iterations.end() && i < found->second.size() &&
                                     found->second[i] == visits[i]);
    }
  }

 private:
  KeptShare& at(KeptColumn column) { return shares_[static_cast<std::size_t>(column)]; }
  void count(KeptColumn column, bool kept) {
    ++at(column).all;
    at(column).kept += kept ? 1 : 0;
  }
  void compare(const EventValues& mine, const EventValues* lead) {
    count(KeptColumn::kEvents, lead != nullptr);
    for (std::size_t i = 0; i < mine.size(); ++i) {
      const bool told = lead != nullptr && i < lead->size();
      count(mine[i].column, told && (relative_ ? mine[i].relative == (*lead)[i].relative
                                               : mine[i].mixed == (*lead)[i].mixed));
    }
  }

  KeptShares& shares_;
  bool relative_;
};

/// All of it is kept, where a rank is its own lead or like it.
void add_whole(KeptShares& shares, const Deeds& deeds) {
  Comparison(shares, true).compare(deeds, deeds);
}

}  // namespace

const char* kept_name(KeptColumn column) {
  constexpr const char* kNames[] = {"COUNT", "LOOP", "EVENTS", "SRC", "DEST", "TAG"};
  return kNames[static_cast<std::size_t>(column)];
}

Result<KeptShares> kept_values(const FollowPlan& plan, const Clustering& clustering,
                               const std::vector<std::uint64_t>& whole) {
  KeptShares shares{};
  for (const cluster::MainCluster& main : clustering.main)
    for (const cluster::SubCluster& one : main.clusters) {
      const Result<Deeds> lead = deeds_of(plan, one.lead);
      if (!lead) return lead.error();
      for (const std::uint32_t rank : one.ranks.ranks()) {
        if (whole[rank] == whole[one.lead]) {
          add_whole(shares, *lead);
          continue;
        }
        const Result<Deeds> mine = deeds_of(plan, rank);
        if (!mine) return mine.error();
        Comparison(shares, one.same_distances).compare(*mine, *lead);
      }
    }
  return shares;
}

}  // namespace chameleon::analysis
