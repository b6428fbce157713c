// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Whether the clusters of a trace are those of its ranks' signatures: raw records hold each rank's
/// signature at the last election, and the clustering is done again here, over virtual ranks. A
/// complete online trace only.

#include <cstdint>
#include <string>

#include "base/result.h"
#include "model/trace.h"

namespace chameleon::analysis {

struct ClusterCheck {
  bool done = false;        ///< false: nothing was elected, or not every rank has a record of it
  bool equal = false;       ///< leads, rank lists and Call-Paths, in order
  std::uint32_t leads = 0;  ///< as recomputed
};

/// Cost: raw records are read once more; clustering as in the job, without its messages.
Result<ClusterCheck> verify_clusters(const Trace& trace, const std::string& raw_directory);

}  // namespace chameleon::analysis
