// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Whether the effort windows of a trace are those of what its ranks computed: raw records hold
/// each rank's computation in each interval of a window, and the window is made again here, over
/// virtual ranks.

#include <cstdint>
#include <string>

#include "base/result.h"
#include "model/trace.h"

namespace chameleon::analysis {

struct EffortCheck {
  /// Windows of the trace that every rank has a record of. Those that were given up, or that a rank
  /// with a fault is missing in, cannot be made again.
  std::uint64_t windows = 0;
  std::uint64_t equal = 0;  ///< of these: moments, strata, medoids and sampled ranks alike
  bool matches() const { return equal == windows; }
};

/// Cost: raw records are read once more; 16 bytes for each rank and step; windows as in the job,
/// without messages. Errors: a record that cannot be read or is malformed.
Result<EffortCheck> verify_efforts(const Trace& trace, const std::string& raw_directory);

}  // namespace chameleon::analysis
