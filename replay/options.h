// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The command line of chameleon-replay. No cost.

#include <cstdint>
#include <string>

#include "base/result.h"
#include "replay/pace.h"

namespace chameleon::replay {

struct Options {
  std::string trace;
  std::string scratch;  ///< folder for files; empty: calls on files are left out
  Compute compute = Compute::kSleep;
  double time_scale = 1;
  std::uint64_t memory = 0;  ///< most bytes that reading the trace takes; 0: the usual ones
  double patience = 60;      ///< s without progress, beyond the time of the traced run
  bool best_effort = false;  ///< leave out what has no counterpart
  bool no_check = false;
  bool guard = false;  ///< buffers end where nothing can be touched
  bool json = false;
  std::string help;  ///< what to print in place of a replay, if it is asked for
};

/// `--option=value` and `--option value` are the same; of an option given twice the last counts.
/// Error: kUsage.
Result<Options> parse_options(int argc, const char* const* argv);

}  // namespace chameleon::replay
