// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Keeps the series over markers small in a file (CHAMELEON_SERIES). O(spans), in each of a few
/// rounds.

#include <cstddef>

#include "model/series.h"

namespace chameleon::flush {

/// Neighbours join until the series takes at most `bytes`; the slowest step of each span stays by
/// itself.
void limit_series(Series& series, std::size_t bytes);

}  // namespace chameleon::flush
