// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The view of a running job that `chameleon watch` prints: phases, load, the slowest step, the
/// tool's work. Cost: that of a summary.

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "tools/live/live_trace.h"
#include "tools/summary.h"

namespace chameleon::tools {

/// The steps of one phase of the series.
struct LivePhase {
  std::uint32_t phase = 0;
  std::uint64_t markers = 0, last = 0;  ///< acted on; the last of them, from 1
  std::uint8_t state = 0;               ///< that the last one led to
  IntervalTally spent;                  ///< sums over ranks and steps
};

/// Ranks that follow each other, and their mean times.
struct LiveRanks {
  std::uint32_t first = 0, last = 0;
  double compute_ns = 0, calls_ns = 0, waiting_ns = 0, tool_ns = 0;
};

struct LiveView {
  /// Error: the trace is damaged.
  static Result<LiveView> make(const Trace& trace);

  TraceSummary summary;
  std::vector<LivePhase> phases;  ///< the one that was seen last at the end
  std::vector<LiveRanks> ranks;
  std::uint64_t slowest = 0;  ///< marker that ends the slowest step; 0: no step yet
  RankExtent slowest_busy;    ///< of that step
  double tool_share = 0;      ///< of the ranks' run time
};

/// A screen of text, which ends with a line break.
std::string live_text(const LiveTrace& live, const LiveView& view);
nlohmann::ordered_json live_document(const LiveTrace& live, const LiveView& view);

}  // namespace chameleon::tools
