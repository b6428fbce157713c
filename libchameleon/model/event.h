// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// One MPI call by one rank, as it enters the fold and as `expand` gives it
/// back. `values[0]` is what the call returned; the rest follow the call's
/// schema (trace.h). Times are nanoseconds.

#include <cstdint>
#include <span>

#include "base/rooms.h"

namespace chameleon::inline model {

/// The properties of a call that folding uses.
enum class CallRole : std::uint8_t {
  kOther,
  kPoll,        ///< may be unsuccessful, and the program goes another way then
  kCollective,  ///< waits for other ranks
};

struct Event {
  std::uint16_t call = 0;
  std::uint64_t path = 0;
  std::uint64_t compute = 0;        ///< from the end of the event before
  std::uint64_t communication = 0;  ///< inside the call
  std::span<const std::int64_t> values;
  std::uint64_t identity = 0;  ///< not 0: the same only for events of equal call, path and values
  CallRole role = CallRole::kOther;
};

}  // namespace chameleon::inline model
