// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The example programs' communication as event streams without programs: what a
/// rank of a job of any size does before its time steps and in each of them, at the
/// programs' default sizes. For `chameleon simulate`, which runs them on virtual ranks.
/// `tests/golden/test_behaviours.py` compares them with traces of the programs, value by
/// value, but for what data decide: which worker comes first, how many keys go where, and
/// how often a solver iterates.

#include <cstdint>
#include <span>
#include <string>

#include "model/trace.h"
#include "rank_calls.h"

namespace chameleon::tools {

/// A time step of an example: its number, from 0, and the most iterations of a loop inside.
struct Step {
  std::uint32_t number = 0;
  std::uint32_t most_rounds = UINT32_MAX;
};

struct Behaviour {
  const char* name;
  const char* shape;  ///< in words
  void (*start)(RankCalls calls);
  void (*step)(RankCalls calls, Step step);
  bool steps_differ = false;  ///< in more than times
};

std::span<const Behaviour> behaviours();
const Behaviour* find_behaviour(const std::string& name);

/// A trace without events that knows the calls of all behaviours.
Trace behaviour_trace(std::uint32_t ranks);

}  // namespace chameleon::tools
