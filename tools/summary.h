// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// A summary to read first: what ran, where the time of the ranks went, the places that cost most,
/// how work is shared, and what stands out. `chameleon summary` prints it. Times are those of
/// phase_totals.h and load.h. O(nodes x ranks), with full timing O(events).

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "analysis/load.h"
#include "analysis/slow_steps.h"
#include "base/result.h"
#include "format/file.h"

namespace chameleon::tools {

/// A part of the ranks' time: a rank's mean, and who had least and most of it.
struct SpentShare {
  std::string name;
  double mean_ns = 0, least_ns = 0, most_ns = 0;
  std::uint32_t least_rank = 0, most_rank = 0;
};

struct CostlyPlace {
  std::string call, site;
  double sum_ns = 0;   ///< in the call, of all ranks
  double most_ns = 0;  ///< of the rank that is longest there
  RankList longest;    ///< nearer to it than to the mean
};

struct TraceSummary {
  /// A balance from here on is even. A finding costs at least this share of the run.
  static constexpr double kEven = 0.85, kGrave = 0.05;

  /// Error: the trace is damaged.
  static Result<TraceSummary> make(const Trace& trace);

  double run_ns = 0;               ///< of the rank that ran longest
  std::vector<SpentShare> shares;  ///< none where no times were kept
  std::vector<CostlyPlace> places;
  double balance = 0;  ///< mean / longest computing; 0: not known
  double most_compute_ns = 0;
  std::uint32_t slowest = 0;
  std::vector<std::string> findings;  ///< sentences, the gravest first
};

/// A page of text.
void print_summary(const std::string& path, const Trace& trace, const FileFacts& file,
                   const TraceSummary& summary);
/// What stands out, and what to type next, for standard error: the last lines of `chameleon run`.
void print_outcome(const std::string& path, const Trace& trace, const TraceSummary& summary);
nlohmann::ordered_json summary_document(const Trace& trace, const FileFacts& file,
                                        const TraceSummary& summary);

}  // namespace chameleon::tools
