// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Which time steps were slow, which rank made them so, and at which call site. The series over
/// markers has the steps and the rank: the one that computes longest, where others lose at least a
/// fifth of the interval to it. An interval that takes twice as long as the fastest quarter of
/// those with the same Call-Paths is slow although no rank stands out. Neighbours with one cause
/// are a stretch. The times by place have the call site: of those that occur in the stretch
/// (stretch_places.h), the one whose excess is nearest to what the stretch lost. The excess of one
/// rank at a place is what it computed there beyond the mean of the ranks; of several ranks, what
/// the slowest share of their instances took beyond the others. O(spans), and O(nodes x ranks) once
/// for all places.

#include <cstdint>
#include <optional>
#include <vector>

#include "base/result.h"
#include "model/trace.h"

namespace chameleon::analysis {

struct SlowPlace {
  std::uint16_t call = 0;
  std::uint64_t path = 0;
  double excess_ns = 0;  ///< what these ranks took longer there
  double all_ns = 0;     ///< what they took there in the whole run
};

struct SlowSteps {
  enum class Whose : std::uint8_t {
    kOne,    ///< one rank computes longer than the others
    kMoves,  ///< another rank in every step
    kAll,    ///< no rank alone: all compute or wait longer than in other steps
  };
  std::uint64_t first = 1, last = 1;       ///< acted-on markers that end the intervals, from 1
  std::uint64_t begin_ns = 0, end_ns = 0;  ///< as SeriesSpan::end_ns
  Whose whose = Whose::kAll;
  RankList ranks;
  double lost_ns = 0;     ///< of a rank, on average
  double compute_ns = 0;  ///< by the rank that computes longest; of all, by a rank on average
  /// Before this call these ranks compute longer; none: no place accounts for half of it.
  std::optional<SlowPlace> computes;
  std::optional<SlowPlace> waits;  ///< of all: in this call they wait longer

  std::uint64_t intervals() const { return last - first + 1; }
};

inline constexpr std::size_t kMostSlowSteps = 50;

/// Stretches of the series without their places, in order of time: those that lost the run at least
/// a hundredth (where no rank stands out, a twentieth), and of these the gravest.
std::vector<SlowSteps> slow_stretches(const Series& series, std::uint32_t ranks);

/// The same with their places. Error: the trace is damaged.
Result<std::vector<SlowSteps>> slow_steps(const Trace& trace);

}  // namespace chameleon::analysis
