// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Differences between two runs in what ranks do together: families of patterns (patterns.h) and
/// execution phases (phases.h). Families are compared by the names of their functions, which the
/// caller gives, so that different builds of a program compare. Phases are aligned in order, by
/// their families. O(families + phases²).

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/phases.h"

namespace chameleon::analysis {

/// Families of one name.
struct FamilyTimes {
  std::uint64_t instances = 0;
  double bytes = 0;
  /// Time of all instances, times the share of the ranks that take part in the largest: at most
  /// what a rank spends in them on average.
  double rank_ns = 0;
};

struct PhaseTimes {
  double ns = 0;
  double load_balance = 0, communication_efficiency = 0;
  std::map<std::string, double> shares;  ///< of its instances, by the name of their family
};

struct RunShape {
  std::map<std::string, FamilyTimes> families;
  std::vector<PhaseTimes> phases;
  double ns = 0;  ///< of the run
};

RunShape shape_of(const ExecutionPhases& found,
                  const std::function<std::string(const PatternFamily&)>& name);

struct FamilyChange {
  std::string name;
  FamilyTimes before, after;  ///< no instances: there is none in that run

  double ns() const { return after.rank_ns - before.rank_ns; }
};

/// Families with other numbers of instances or bytes, or whose time changed by more than
/// `least_ns`: the largest change of time first.
std::vector<FamilyChange> compare_families(const RunShape& before, const RunShape& after,
                                           double least_ns);

/// Numbers of phases, from 0.
struct PhasePair {
  std::optional<std::size_t> before, after;  ///< at least one
};

/// Both runs' phases in order. Two are a pair if at least half of their instances are of the same
/// families; of all alignments the one with the most in common (Needleman & Wunsch 1970).
std::vector<PhasePair> align_phases(const std::vector<PhaseTimes>& before,
                                    const std::vector<PhaseTimes>& after);

}  // namespace chameleon::analysis
