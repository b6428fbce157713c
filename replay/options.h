// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The command line of chameleon-replay. No cost.

#include <string>

#include "base/result.h"
#include "replay/pace.h"

namespace chameleon::replay {

inline constexpr const char* kUsage =
    "usage: mpiexec -n RANKS chameleon-replay [--compute=sleep|spin|none] [--time-scale=X] "
    "[--json] TRACE";

struct Options {
  std::string trace;
  Compute compute = Compute::kSleep;
  double time_scale = 1;
  bool json = false;
  bool help = false;
};

/// `--option=value` and `--option value` are the same. Error: kUsage.
Result<Options> parse_options(int argc, char** argv);

}  // namespace chameleon::replay
