// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Stacks at random, with all that makes frames hard to unwind. `wander` calls itself through
/// functions of every kind until `visit` was called `visits` times from somewhere in there. Same
/// seed, same stacks.

#include <cstdint>

namespace chameleon::test {

struct Random {
  std::uint64_t state;
  std::uint32_t operator()(std::uint32_t end) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<std::uint32_t>((state >> 33) % end);
  }
};

struct Trip {
  Random random;
  std::int64_t visits;
  int most_depth;
  void (*visit)(void* with);
  void* with;
};

void wander(Trip& trip);

}  // namespace chameleon::test
