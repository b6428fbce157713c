// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/compare_phases.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace chameleon::analysis {
namespace {

/// The share of instances that two phases have in common: 1 for the same mix of families.
double in_common(const PhaseTimes& a, const PhaseTimes& b) {
  double sum = 0;
  for (const auto& [name, share] : a.shares)
    if (const auto other = b.shares.find(name); other != b.shares.end())
      sum += std::min(share, other->second);
  return sum;
}

bool differs(const FamilyTimes& a, const FamilyTimes& b) {
  constexpr double kRounding = 1e-9;
  return a.instances != b.instances ||
         std::abs(a.bytes - b.bytes) > kRounding * std::max(a.bytes, b.bytes);
}

}  // namespace

RunShape shape_of(const ExecutionPhases& found,
                  const std::function<std::string(const PatternFamily&)>& name) {
  RunShape shape;
  std::vector<std::string> names;
  for (const PatternFamily& family : found.patterns.families) {
    names.push_back(name(family));
    FamilyTimes& times = shape.families[names.back()];
    times.instances += family.sums.instances;
    times.bytes += family.sums.bytes;
    if (found.ranks > 0) times.rank_ns += family.sums.ns * family.most_processes / found.ranks;
  }
  for (const ExecutionPhase& phase : found.phases) {
    PhaseTimes times;
    times.ns = phase.ns();
    if (phase.most_compute_ns > 0)
      times.load_balance = phase.compute_ns / found.ranks / phase.most_compute_ns;
    if (phase.ns() > 0) times.communication_efficiency = phase.most_compute_ns / phase.ns();
    const auto instances = static_cast<double>(phase.last - phase.first);
    for (const auto& [family, count] : phase.families)
      times.shares[names[family]] += static_cast<double>(count) / instances;
    shape.phases.push_back(std::move(times));
  }
  if (!found.phases.empty()) shape.ns = static_cast<double>(found.phases.back().end_ns);
  return shape;
}

std::vector<FamilyChange> compare_families(const RunShape& before, const RunShape& after,
                                           double least_ns) {
  std::set<std::string> names;
  for (const RunShape* run : {&before, &after})
    for (const auto& [name, times] : run->families) names.insert(name);
  const auto times_of = [](const RunShape& run, const std::string& name) {
    const auto found = run.families.find(name);
    return found == run.families.end() ? FamilyTimes{} : found->second;
  };
  std::vector<FamilyChange> changes;
  for (const std::string& name : names) {
    FamilyChange change{name, times_of(before, name), times_of(after, name)};
    if (differs(change.before, change.after) || std::abs(change.ns()) > least_ns)
      changes.push_back(std::move(change));
  }
  std::stable_sort(changes.begin(), changes.end(), [](const auto& a, const auto& b) {
    return std::abs(a.ns()) > std::abs(b.ns());
  });
  return changes;
}

std::vector<PhasePair> align_phases(const std::vector<PhaseTimes>& before,
                                    const std::vector<PhaseTimes>& after) {
  constexpr double kLeast = 0.5;
  const std::size_t n = before.size(), m = after.size();
  // best[i][j]: what phases i.. and j.. have in common at most.
  std::vector<std::vector<double>> best(n + 1, std::vector<double>(m + 1, 0));
  const auto paired = [&](std::size_t i, std::size_t j) {
    const double common = in_common(before[i], after[j]);
    return common < kLeast ? -1 : common + best[i + 1][j + 1];
  };
  for (std::size_t i = n; i-- > 0;)
    for (std::size_t j = m; j-- > 0;)
      best[i][j] = std::max({best[i + 1][j], best[i][j + 1], paired(i, j)});
  std::vector<PhasePair> pairs;
  std::size_t i = 0, j = 0;
  while (i < n || j < m) {
    if (i < n && j < m && best[i][j] == paired(i, j))
      pairs.push_back({i++, j++});
    else if (i < n && (j == m || best[i][j] == best[i + 1][j]))
      pairs.push_back({i++, {}});
    else
      pairs.push_back({{}, j++});
  }
  return pairs;
}

}  // namespace chameleon::analysis
