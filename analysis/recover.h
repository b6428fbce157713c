// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Joins the parts that a killed job left: the online trace up to its last flush, and the partial
/// traces that ranks wrote on SIGTERM or MPI_Abort. A partial holds one rank's events since the
/// last flush in which it took part; it fits if that is the trace's last one. The result stays
/// incomplete, and ranks without a partial are declared. O(size of the partials): merge (trace.h),
/// then append (append.h).

#include <string>
#include <vector>

#include "model/trace.h"

namespace chameleon::analysis {

struct PartialTrace {
  std::string name;  ///< for messages
  Trace trace;
};

struct Recovery {
  RankList joined;
  RankList missing;                   ///< ranks whose calls after the last flush are lost
  std::vector<std::string> left_out;  ///< a sentence for each partial that does not fit
};

inline constexpr const char* kNoPartialDeclaration =
    "calls after the last flush are missing: no partial trace was left";

/// Joins `partials` to `trace`, which must be incomplete.
Recovery recover(Trace& trace, std::vector<PartialTrace> partials);

}  // namespace chameleon::analysis
