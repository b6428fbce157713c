// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The loops of a trace as rows of a table.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "model/trace.h"

namespace chameleon::tools {

struct LoopRow {
  const Node* node = nullptr;
  std::size_t parent = 0;  ///< number of the loop around, from 1; 0: none
  unsigned depth = 0;      ///< loops around
  RankList streams;        ///< of those asked for, that iterate it
  /// Sums over all of them, in the loop and those inside.
  double events = 0, compute_ns = 0, call_ns = 0;
};

/// The loops of some streams, outside in, in the order of execution. O(nodes x streams), with full
/// timing O(events). Error: the trace is damaged.
Result<std::vector<LoopRow>> loop_rows(const Trace& trace, const RankList& streams);

}  // namespace chameleon::tools
