// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The example programs' communication as event streams without programs: what a
/// rank of a job of any size does before its time steps and in each of them. For
/// `chameleon simulate`, which runs them on virtual ranks.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "model/event.h"
#include "model/trace.h"

namespace chameleon::tools {

/// Receives the events of a rank; `values` holds until it returns.
class EventSink {
 public:
  virtual ~EventSink() = default;
  virtual void event(const Event& event) = 0;
};

/// Place of a rank in a job.
struct Place {
  std::uint32_t rank = 0, ranks = 1;
};

struct Behaviour {
  const char* name;
  const char* shape;  ///< in words
  void (*start)(Place place, EventSink& sink);
  void (*step)(Place place, EventSink& sink);
};

std::span<const Behaviour> behaviours();
const Behaviour* find_behaviour(const std::string& name);

/// A trace without events that knows the calls of all behaviours.
Trace behaviour_trace(std::uint32_t ranks);

}  // namespace chameleon::tools
