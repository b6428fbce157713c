// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace chameleon::world {

/// How a rank waits for another one: it yields the processor between polls, or it also sleeps,
/// longer the longer it has waited, up to a millisecond.
enum class Waiting : std::uint8_t { kYield, kSleep };

}  // namespace chameleon::world
