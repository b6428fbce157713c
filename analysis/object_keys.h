// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// What the keys of objects (object_life.h) tell.

#include <cstdint>

#include "base/rooms.h"

namespace chameleon::analysis {

/// Whether a key is of a request.
bool is_request(std::uint64_t key);

}  // namespace chameleon::analysis
