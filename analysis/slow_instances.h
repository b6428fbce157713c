// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Instances of communication patterns that took far longer than others of the same pattern and
/// bytes (Alawneh & Hamou-Lhadj 2022, sections 4.2 and 4.3, Eqs. 19 to 21), why, and what the run
/// would gain without. Behind an instance's longest wait stands a delay (delays.h): a rank computed
/// for long before a call, or was in a call for long. Instances with the same delay, of the same
/// rank, are a finding, or of more ranks where it moves on from one to the next. Its saving is what
/// the run would be shorter, had the delays been as long as they usually are (what_if.h has the
/// model). The times must be each rank's own. Iterations that are alike are analysed at once; if
/// their instances turn out to be slow, each iteration is analysed. Costs a run of the timeline for
/// the patterns and one for each seven findings; memory of the patterns, of 4 bytes an instance,
/// and of the 512 longest instances of each pattern and bytes.

#include <optional>
#include <string>
#include <vector>

#include "analysis/patterns.h"
#include "base/time_between.h"

namespace chameleon::analysis {

struct SlowInstance {
  std::uint32_t pattern = 0, family = 0, processes = 0;
  std::uint64_t number = 0;  ///< of its pattern, from 1
  std::uint64_t times = 1;   ///< it stands for so many instances
  std::uint64_t begin_ns = 0, end_ns = 0;
  double bytes = 0, usual_ns = 0, score = 0;
  std::uint64_t events = 0;
  WaitSum wait;
  Delay delay;
  double angle = 0;  ///< of its affinity among all slow instances (statistics/affinity.h)

  double ns() const { return static_cast<double>(time_between(begin_ns, end_ns)); }
};

struct SlowFinding {
  /// kCompute or kCall. Its events are the longest of each instance.
  Delay delay;
  WaitState::Kind wait = WaitState::Kind::kLateSender;
  std::uint64_t wait_path = 0;         ///< where the longest wait was
  RankList ranks;                      ///< whose delays they are
  std::vector<std::size_t> instances;  ///< of SlowReport::slow, ascending
  double delay_ns = 0, usual_ns = 0;   ///< on average
  double waited_ns = 0;                ///< by all ranks
  double angle = 0;                    ///< the greatest
  std::optional<double> saving_ns;     ///< where it was asked for
};

struct SlowOptions {
  PatternOptions patterns;
  double threshold = 3.5;  ///< of the modified z-score
  /// Only instances that begin in it, though judged among those of the whole run.
  std::optional<std::pair<std::uint64_t, std::uint64_t>> within_ns;
  bool published = false;  ///< the scores of the paper's program
  std::size_t most = 7;    ///< findings whose saving is worked out
};

struct SlowReport {
  Patterns patterns;
  std::vector<SlowInstance> slow;     ///< by their begin
  std::vector<SlowFinding> findings;  ///< those that save most first
  std::uint64_t unjudged = 0;         ///< instances of which there are fewer than four
  /// Slow instances in which no wait explains half of what they took longer; in which it is within
  /// the error of the clocks; in which the late rank waited at a marker, or what it did is too long
  /// ago to be known.
  std::uint64_t unexplained = 0, within_error = 0, at_markers = 0, unknown = 0;
  std::uint64_t in_waiting_calls = 0;  ///< in a trace without the times of all events
  std::uint64_t clock_error_ns = 0;
  double run_ns = 0;

  double gain(const SlowFinding& finding) const {
    return run_ns > 0 && finding.saving_ns ? *finding.saving_ns / run_ns : 0;
  }
};

/// Why the trace cannot tell: the setting that would.
std::optional<std::string> lacks_own_times(const Trace& trace);

/// Error: the trace is damaged.
Result<SlowReport> find_slow(const Trace& trace, const SlowOptions& options);

}  // namespace chameleon::analysis
