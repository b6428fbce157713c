// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Communication patterns of a trace (Alawneh & Hamou-Lhadj 2022, section 4.1.1): instances
/// (instances.h) in which the same ranks send and receive as often to and from the same partners
/// and make the same collectives; the order within a rank does not count. Patterns with the same
/// relative partners, made by the same calls of functions, are a *family*. Costs one run of the
/// timeline; memory of the open segments and of the patterns, and 16 bytes an instance where their
/// sequence is wanted.

#include <cstdint>
#include <vector>

#include "analysis/instance_order.h"
#include "analysis/instances.h"

namespace chameleon::analysis {

/// Sums over instances.
struct InstanceSums {
  std::uint64_t instances = 0;
  std::uint64_t events = 0, least_events = 0, most_events = 0;
  double bytes = 0, least_bytes = 0, most_bytes = 0;
  double ns = 0, least_ns = 0, most_ns = 0;  ///< from the first begin to the last end

  void add(const PatternInstance& instance, std::uint64_t times = 1);
};

/// The part of one stream in an instance.
struct PatternRole {
  std::uint32_t rank = 0;
  std::uint64_t path = 0;              ///< of its first call
  std::vector<std::uint64_t> symbols;  ///< packed, in the first instance's order
};

/// Named CP1, CP2, ... in the order of their first instances.
struct Pattern {
  std::vector<PatternRole> roles;  ///< by rank; a rank may have several
  std::uint32_t processes = 0;
  std::vector<std::uint32_t> families;  ///< ascending: other functions may make the same pattern
  InstanceSums sums;
};

/// Named F1, F2, ... likewise.
struct PatternFamily {
  std::vector<std::uint64_t> paths;     ///< of the first calls of the first instance's segments
  std::vector<std::uint32_t> patterns;  ///< ascending
  std::uint32_t least_processes = 0, most_processes = 0;
  InstanceSums sums;
};

/// Observes instances while patterns are found. If the search has to begin again, `begins` is
/// called again.
struct PatternWatch {
  std::function<void()> begins;
  std::function<void(const TimedEvent&)> event;  ///< each, before its segment is reported
  InstanceBuilder::Noted noted;
  std::function<void(PatternInstance&)> completed;  ///< in the order of their ends
  /// In their order, with their numbers.
  std::function<void(const PatternInstance&, std::uint32_t pattern, std::uint32_t family)> placed;
  /// As RoundWatch::take. None: each iteration is run.
  std::function<void(std::uint64_t times, double period_ns)> take;
};

struct PatternOptions {
  SplitRule split = SplitRule::kAuto;
  ContextOf context;      ///< none: all calls are of one context
  ContextOf site;         ///< of a call, which tells families apart; none: its whole path
  bool sequence = false;  ///< `Patterns::sequence` is wanted
  const PatternWatch* watch = nullptr;
  Loops loops = Loops::kAtOnce;  ///< each, where a watch has no `take`
};

/// All instances in order, an item of each list an instance.
struct PatternSequence {
  std::vector<std::uint32_t> patterns, families;
  std::vector<std::uint64_t> begins_ns;
};

struct Patterns {
  std::vector<Pattern> patterns;
  std::vector<PatternFamily> families;
  std::uint64_t instances = 0;
  InstanceFacts facts;
  PatternSequence sequence;
  std::uint64_t cycles = 0;         ///< instances out of some stream's order
  bool cut_at_collectives = false;  ///< or an instance would have spanned much of the run
  TimelineFacts timeline;
};

/// Error: the trace is damaged.
Result<Patterns> find_patterns(const Trace& trace, const PatternOptions& options);

}  // namespace chameleon::analysis
