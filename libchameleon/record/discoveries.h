// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Communicators and datatypes that a call uses and nobody saw being made: functions that are not
/// wrapped made them, or they are older than the tracer. A trace would not have
/// their members and sizes. They are asked for once, after the first call on the object that
/// succeeded (no other proves that there is one), and an event that says them comes before that
/// call's. Cost otherwise: two comparisons a call.

#include <cstdint>
#include <vector>

#include "record/objects.h"

namespace chameleon::record {

struct Discovery {
  CallId call = CallId::kCommKnown;  ///< that its event is of
  std::uint64_t handle = 0;
  std::int64_t bytes = 0;            ///< of a datatype
  std::vector<std::int64_t> values;  ///< of the event
};

inline bool has_strangers(Objects& objects) {
  return !objects.slots(Kind::kComm).taken_up().empty() ||
         !objects.slots(Kind::kDatatype).taken_up().empty();
}

/// What there is to say of objects that the present thread took up; after a call that failed
/// (not `ok`), nothing: they are forgotten.
std::vector<Discovery> discover(Objects& objects, bool ok);

}  // namespace chameleon::record
