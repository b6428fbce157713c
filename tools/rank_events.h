// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// One rank's events with end-points resolved to ranks of their communicator,
/// as the events are read in order: the communicators alive are followed, and
/// for each request the communicator it was posted on.

#include <cstdint>
#include <map>
#include <string>

#include "analysis/communicators.h"
#include "model/view.h"
#include "value_text.h"

namespace chameleon::tools {

class RankEvents {
 public:
  RankEvents(const Trace& trace, std::uint32_t rank)
      : trace_(trace), communicators_(rank, trace.world_size) {}

  /// The event as text (without the call's name), and follows it.
  std::string line(const CallDescription& call, const EventView& event, const ValueText& text);

 private:
  /// Where an end-point is counted: the caller's place and how many there are.
  struct Place {
    std::int32_t self = 0, size = 0;
  };
  Place place_of(std::int64_t comm) const;
  Place place_of_request(const CallDescription& call, const EventView& event) const;
  std::string statuses(const CallDescription& call, const EventView& event, std::int64_t key) const;

  const Trace& trace_;
  Communicators communicators_;
  std::map<std::int64_t, Place> requests_;
};

}  // namespace chameleon::tools
