// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The ranks' reports about themselves, on their way to rank 0 at the end: facts in columns, times
/// by phase, outliers, accounts of pairs, declarations. Reports of up to `PackedFacts::kMostExact`
/// ranks are reduced up the tree. A larger job has groups of that size: each is reduced, and its
/// first rank sends to rank 0 itself, so that no other rank holds the reports of more than a group.
/// There, facts are rounded, and ranks with like times have one mean by phase.
///
/// Cost: P - 1 messages. On a message, for each of at most 16,384 ranks: some 30 bytes of facts,
/// and 5 for each phase of its times.

#include <algorithm>
#include <boost/container/static_vector.hpp>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "flush/time_classes.h"
#include "format/packed_facts.h"
#include "model/trace.h"
#include "world/world.h"

namespace chameleon::flush {

/// Declared for a large job.
inline constexpr const char* kRoundedDeclaration =
    "facts of ranks: times, bytes and instructions are rounded, to within 1 part in 128";

struct RankReports {
  /// Class sums have the places of outliers. A rank without memory for those cannot read these
  /// either: the trace declares the ranks below it.
  using Follows = ClassSums;

  Trace rest;  ///< no events, and no facts: its ranks are those which these are of
  PackedFacts facts;
  TotalsByClass totals;  ///< of a large job, in place of the trace's

  RankReports() = default;
  /// A rank's own. `large`: it is one of many, and its times are like those of a class.
  RankReports(Trace own, bool large, std::uint32_t time_class);

  void encode(ByteWriter& writer) const;
  static bool decode(ByteReader& reader, RankReports& value);
};
void join_reports(RankReports& mine, RankReports&& theirs);
/// Those of several groups.
RankReports joined(std::vector<RankReports> groups);

/// Facts one by one, those of a job like that of `run`. O(ranks) memory.
FactsOfRanks facts_by_rank(const PackedFacts& facts, const Trace& run);

/// The ranks from `first` on, of which there are `count`.
class RankRange {
 public:
  RankRange(std::uint32_t first, std::uint32_t count) : first_(first), count_(count) {}
  std::size_t size() const { return count_; }
  bool empty() const { return count_ == 0; }
  std::uint32_t front() const { return first_; }
  std::uint32_t operator[](std::size_t place) const {
    return first_ + static_cast<std::uint32_t>(place);
  }

 private:
  std::uint32_t first_, count_;
};

/// All ranks' at rank 0, and nothing elsewhere; without those that did not arrive. `own(rank)` is a
/// rank's trace without events, `time_class(rank)` as in `gather_times`. Collective.
template <class World, class Own, class TimeClass>
std::optional<RankReports> gather_reports(World& world, Own own, TimeClass time_class,
                                          std::uint32_t group = PackedFacts::kMostExact) {
  constexpr std::uint32_t kMostGroups = 1024;  // of a million ranks 64
  const bool large = world.size() > group;
  auto reports = world.generate([&](std::uint32_t rank) {
    return RankReports(own(rank), large, large ? time_class(rank) : 0);
  });
  if (!large) return world.reduce(std::move(reports), join_reports);
  // No allocation: a rank that has no memory sends what others wait for all the same.
  boost::container::static_vector<RankRange, kMostGroups> groups;
  boost::container::static_vector<world::Transfer, kMostGroups> plan;
  const std::uint32_t each = std::max(group, world.size() / kMostGroups + 1);
  for (std::uint32_t first = 0; first < world.size(); first += each) {
    groups.emplace_back(first, std::min(each, world.size() - first));
    plan.push_back({first, 0});
  }
  reports = world.reduce_groups(groups, std::move(reports), join_reports);
  auto arrived = world.gather(std::span<const world::Transfer>(plan.data(), plan.size()), reports);
  std::optional<RankReports> all;
  world.map(arrived, [&](std::uint32_t rank, auto& from_groups) {
    if (rank != 0 || from_groups.empty()) return;
    std::vector<RankReports> parts;
    for (auto& [from, part] : from_groups) parts.push_back(std::move(part));
    all = joined(std::move(parts));
  });
  return all;
}

}  // namespace chameleon::flush
