// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Execution phases: stretches of a run in which the mix of communication patterns is another
/// (Alawneh & Hamou-Lhadj 2022, section 4.1; statistics/divergence.h has the method). Costs two
/// runs of the timeline; memory of 16 bytes an instance.

#include "analysis/patterns.h"
#include "base/time_between.h"
#include "statistics/divergence.h"

namespace chameleon::analysis {

struct ExecutionPhase {
  std::size_t first = 0, last = 0;  ///< instances [first, last)
  std::uint64_t begin_ns = 0, end_ns = 0;
  double compute_ns = 0;       ///< of all ranks
  double most_compute_ns = 0;  ///< of the rank that computes longest
  /// Families with their instances, the most frequent first.
  std::vector<std::pair<std::uint32_t, std::uint64_t>> families;
  /// The boundary at its start: strength of the split, and the instances between which it could
  /// also be. The first phase has none.
  double strength = 0;
  std::size_t tie_first = 0, tie_last = 0;

  double ns() const { return static_cast<double>(time_between(begin_ns, end_ns)); }
};

struct ExecutionPhases {
  Patterns patterns;  ///< with their sequence
  statistics::Segmentation segmentation;
  std::vector<ExecutionPhase> phases;  ///< in order, from the start of the run to its end
  std::uint32_t ranks = 0;
};

/// A stretch of the series over markers in which the mix of Call-Paths is another. Needs no times
/// but those of the series, and so no setting.
struct MarkerPhase {
  std::uint64_t first = 1, last = 1;       ///< acted-on markers that end its intervals, from 1
  std::uint64_t begin_ns = 0, end_ns = 0;  ///< as SeriesSpan::end_ns
  double compute_ns = 0, calls_ns = 0, waiting_ns = 0;  ///< of all ranks
  /// Numbers of Call-Paths (SeriesSpan::phase) with their intervals, the most frequent first.
  std::vector<std::pair<std::uint32_t, std::uint64_t>> call_paths;
  /// As of ExecutionPhase, in markers. A span of several intervals is not taken apart.
  double strength = 0;
  std::uint64_t tie_first = 0, tie_last = 0;

  std::uint64_t intervals() const { return last - first + 1; }
};

/// O(spans x depth). None without a series.
std::vector<MarkerPhase> find_marker_phases(const Series& series,
                                            const statistics::SegmentationOptions& segmentation);

/// Error: the trace is damaged.
Result<ExecutionPhases> find_phases(const Trace& trace, PatternOptions options,
                                    const statistics::SegmentationOptions& segmentation);

/// Begin and end of a phase by its number, from 1, as `find_phases` has it with its defaults.
/// Error: there is no such phase, or the trace is damaged.
Result<std::pair<std::uint64_t, std::uint64_t>> phase_window(const Trace& trace,
                                                             PatternOptions options,
                                                             std::uint64_t number);

}  // namespace chameleon::analysis
