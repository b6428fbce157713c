// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Execution phases: stretches of a run in which the mix of communication patterns is another
/// (Alawneh & Hamou-Lhadj 2022, section 4.1; statistics/divergence.h has the method). Costs two
/// runs of the timeline; memory of 16 bytes an instance.

#include "analysis/patterns.h"
#include "statistics/divergence.h"

namespace chameleon::analysis {

struct ExecutionPhase {
  std::size_t first = 0, last = 0;  ///< instances [first, last)
  std::uint64_t begin_ns = 0, end_ns = 0;
  double compute_ns = 0;       ///< of all ranks
  double most_compute_ns = 0;  ///< of the rank that computes longest
  /// Families with their instances, the most frequent first.
  std::vector<std::pair<std::uint32_t, std::uint64_t>> families;
  /// Of the boundary at its begin: strength of the split, and between which instances it could as
  /// well be. The first phase has none.
  double strength = 0;
  std::size_t tie_first = 0, tie_last = 0;

  double ns() const { return static_cast<double>(end_ns - begin_ns); }
};

struct ExecutionPhases {
  Patterns patterns;  ///< with their sequence
  statistics::Segmentation segmentation;
  std::vector<ExecutionPhase> phases;  ///< in order, from the begin of the run to its end
  std::uint32_t ranks = 0;
};

/// Error: the trace is damaged.
Result<ExecutionPhases> find_phases(const Trace& trace, PatternOptions options,
                                    const statistics::SegmentationOptions& segmentation);

}  // namespace chameleon::analysis
