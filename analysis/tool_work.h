// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The work of leads and of the other ranks for the tracer at markers and in MPI_Finalize, and
/// their idle time there, in which they wait for the work of others (dissertation section 7.2).
/// Leads are those of the last election. O(ranks).

#include <array>
#include <cstdint>

#include "model/trace.h"

namespace chameleon::analysis {

/// Means of some ranks. Times by state: AT, C, L, F.
struct ToolWork {
  std::uint64_t ranks = 0;
  std::uint64_t counted = 0;  ///< of these, those whose instructions were counted
  double run_ns = 0;
  std::array<double, 4> tool_ns{};  ///< idle time included
  std::array<double, 4> idle_ns{};
  double instructions = 0, tool_instructions = 0;  ///< 0: not counted on all of them

  double tool() const;
  double idle() const;
};

struct ToolWorkByRole {
  ToolWork all;
  ToolWork leads, others;  ///< no ranks, if no leads were elected
};

ToolWorkByRole tool_work(const Trace& trace);

}  // namespace chameleon::analysis
