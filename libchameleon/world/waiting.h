// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace chameleon::world {

/// How a rank waits for another one: it yields the processor between polls, or it also sleeps,
/// longer the longer it has waited, up to a millisecond. A rank that yields sleeps too once it has
/// waited 10 ms, for a 64th of the time waited.
enum class Waiting : std::uint8_t { kYield, kSleep };

/// How long a rank has waited for messages of other ranks, in seconds. A message that the
/// first poll found was not waited for.
struct WaitAccount {
  double voting = 0;   ///< for votes, hence for ranks that had not cast theirs
  double working = 0;  ///< for anything else, hence for what other ranks do for the tool
};

}  // namespace chameleon::world
