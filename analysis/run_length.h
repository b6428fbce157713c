// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// How long the traced run took, from the end of MPI_Init to the beginning of MPI_Finalize.

#include <algorithm>
#include <cstdint>

#include "model/trace.h"

namespace chameleon::analysis {

/// In ns, of the longest rank. The trace of a killed job ends at its last marker. 0: not
/// known.
inline std::uint64_t run_length_ns(const Trace& trace) {
  std::uint64_t longest = 0;
  for (const auto& [stream, facts] : trace.facts) longest = std::max(longest, facts.run_ns);
  if (longest == 0 && !trace.online.phases.empty()) longest = trace.online.phases.back().end_ns;
  return longest;
}

}  // namespace chameleon::analysis
