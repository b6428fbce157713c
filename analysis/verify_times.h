// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Are the times of a trace those that its ranks measured? Raw records say behind each call what
/// was computed before it and spent in it. They are added up by stream and place, and compared with
/// the mean that the trace gives the stream there, times the events that the records have. Where a
/// place takes at least a hundredth of the stream's time, the trace states how far its mean may be
/// off (the spread of the stream's class); what is further off is wrong.
///
/// Cost: raw records are read once more; memory of the places of one stream.

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/trace.h"

namespace chameleon::analysis {

/// Sums of streams at places, of one kind of time.
struct TimesColumn {
  std::uint64_t total = 0;     ///< places of streams that take at least a hundredth
  std::uint64_t within = 0;    ///< of these, as near as the trace states
  std::uint64_t declared = 0;  ///< the others, of ranks that a declaration concerns
  double median = 0, percentile_95 = 0, largest = 0;  ///< error of a sum, relative to the records
  double all = 0;  ///< of the sum over all streams and places, large and small

  std::uint64_t undeclared() const { return total - within - declared; }
};

struct TimesCheck {
  /// Trace and records have times. Only of a complete trace with classes of times.
  bool done = false;
  TimesColumn compute, communication;
  /// The sum furthest beyond what is stated.
  struct Worst {
    std::uint32_t rank = 0, thread = 0;
    std::string call, kind;
    double raw_ns = 0, trace_ns = 0, stated = 0;
  };
  std::vector<Worst> worst;  ///< none or one, undeclared

  bool matches() const {
    return compute.within == compute.total && communication.within == communication.total;
  }
  bool declared() const { return compute.undeclared() + communication.undeclared() == 0; }
};

Result<TimesCheck> verify_times(const Trace& trace, const std::string& raw_directory);

}  // namespace chameleon::analysis
