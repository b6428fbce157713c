// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Objects that a call uses and nobody saw being made: functions that are not wrapped made them, or
/// calls that are not recorded, or they are older than the tracer. A trace would not have the
/// members of a communicator, the size of a datatype, and so on. They are asked for once, after the
/// first call on the object that succeeded (no other proves that there is one), and an event that
/// says them comes before that call's. Cost otherwise: a comparison a call.

#include <cstdint>
#include <vector>

#include "record/objects.h"

namespace chameleon::record {

struct Discovery {
  CallId call = CallId::kCommKnown;  ///< that its event is of
  std::uint64_t handle = 0;
  std::int64_t bytes = 0;             ///< of a datatype
  std::vector<std::int64_t> values;   ///< of the event
  std::vector<std::int64_t> members;  ///< world ranks, of what has some
};

inline bool has_strangers() { return Slots::strangers() != 0; }

/// What there is to say of objects that the present thread took up; after a call that failed
/// (not `ok`), nothing: they are forgotten.
std::vector<Discovery> discover(Objects& objects, bool ok);

}  // namespace chameleon::record
