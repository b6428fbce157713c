// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The table `waits`, as `export` and `stats --waits --csv` write it.

#include <cstdint>
#include <vector>

#include "analysis/place_waits.h"

namespace chameleon::tools {

std::vector<const char*> wait_columns();
/// The columns of a place after rank, call and site, in ns.
std::vector<std::uint64_t> wait_numbers(const analysis::WaitTimes& times);

}  // namespace chameleon::tools
