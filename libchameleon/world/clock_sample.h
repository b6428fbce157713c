// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// One comparison of a rank's clock with rank 0's.

#include <cstdint>

#include "base/rooms.h"

namespace chameleon::world {

struct ClockSample {
  std::int64_t local = 0;   ///< what this rank's clock showed, ns
  std::int64_t offset = 0;  ///< what rank 0's showed at that moment, less that
  std::int64_t error = 0;   ///< the offset is right to within this
};

}  // namespace chameleon::world
