// SPDX-License-Identifier: BSD-3-Clause
#include "format/join_cost.h"

#include <algorithm>

#include "compress/join_lists.h"

namespace chameleon::format {
namespace {

/// A fact of a rank is an entry of a map.
constexpr std::uint64_t kStepsOfFact = 16;
/// A class at a place has two histograms; a span of the series has 40 numbers.
constexpr std::uint64_t kStepsOfTimes = 8, kStepsOfSpan = 16;
/// A group of values is copied and appended to.
constexpr std::uint64_t kStepsOfGroup = 64;
/// Before, it is compared, maybe with those of many nodes.
constexpr std::uint64_t kStepsOfComparison = 4;
/// To join a window, those before may have to be gone through.
constexpr std::uint64_t kStepsOfWindow = 1024;

/// But for the first run of each list, which needs no memory of its own.
std::uint64_t more_runs(const RankList& list) { return list.empty() ? 0 : steps_of(list) - 1; }

std::uint64_t more_runs(const Param& param) {
  std::uint64_t count = 0;
  if (param.grouped() && param.spread() == nullptr)  // whose ranks are single
    for (const ParamGroup& group : param.groups()) count += more_runs(group.ranks);
  return count;
}

std::uint64_t more_runs(const std::vector<Node>& nodes) {
  std::uint64_t count = 0;
  for (const Node& node : nodes) {
    count += more_runs(node.ranks) + more_runs(node.iterations);
    for (const Param& param : node.params) count += more_runs(param);
    for (const TimeEntry& times : node.times) count += more_runs(times.ranks);
    for (const Inexact& inexact : node.inexact) count += more_runs(inexact.ranks);
    count += more_runs(node.body);
  }
  return count;
}

std::uint64_t lists_of(const Trace& trace) {
  std::uint64_t count = more_runs(trace.ranks) + more_runs(trace.nodes);
  for (const Declaration& declared : trace.declarations) count += more_runs(declared.ranks);
  return count;
}

std::uint64_t times_of(const TimeTable& table) {
  std::uint64_t count = 0;
  for (const TimeClass& one : table.classes()) count += more_runs(one.streams);
  for (const auto& [place, classes] : table.places()) count += kStepsOfTimes * classes.size();
  for (const auto& [place, at] : table.waits().places()) count += kStepsOfTimes * at.ns.size();
  return count;
}

}  // namespace

JoinCost::JoinCost(const Trace& whole) : lists_(lists_of(whole) + times_of(whole.times)) {}

std::uint64_t JoinCost::add(const Trace& delta, std::uint64_t times, std::uint64_t repeats) {
  lists_ += lists_of(delta) + times_of(delta.times);
  const std::uint64_t each =
      1 + lists_ + kStepsOfFact * (delta.facts.size() + delta.totals.entries().size()) +
      kStepsOfSpan * delta.series.spans().size() + kStepsOfWindow * delta.efforts.windows().size() +
      (delta.pair_accounts.empty() ? 0 : PairAccounts::kMost) + delta.efforts.numbers();
  const std::uint64_t groups = repeats == 0 ? 0 : compress::group_count(delta.nodes);
  std::uint64_t all = 0, again = 0;
  if (__builtin_mul_overflow(each, times, &all) ||
      __builtin_mul_overflow(kStepsOfGroup * groups, repeats, &again) ||
      __builtin_add_overflow(all, again, &all) || __builtin_add_overflow(steps_, all, &steps_))
    steps_ = UINT64_MAX;
  return steps_;
}

std::uint64_t JoinCost::compared(std::uint64_t groups) {
  return steps_ += std::min(kStepsOfComparison * groups, UINT64_MAX - steps_);
}

}  // namespace chameleon::format
