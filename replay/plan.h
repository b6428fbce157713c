// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// How a traced call becomes a real one, found once per call of the trace: where each parameter's
/// values stand in its events, and which other parameters tell the size of each buffer. Fields are
/// found by name, so a trace of an older table remains readable.

#include <cstdint>
#include <map>
#include <vector>

#include "model/view.h"
#include "replay/calls.h"

namespace chameleon::replay {

/// How many times its count a buffer holds.
enum class Repeat : std::uint8_t { kOnce, kCommSize, kInDegree, kOutDegree };

struct BufferPlan {
  int count = -1;          ///< parameter
  int type = -1;           ///< parameter
  int displacements = -1;  ///< parameter
  int bytes = -1;          ///< parameter that tells the size in bytes instead
  int partitions = -1;     ///< parameter
  bool single = false;     ///< one element of the type: there is no count
  Repeat repeat = Repeat::kOnce;
};

struct ParamPlan {
  ParamInfo info{};
  int field = -1;  ///< in the event's values; -1: not recorded
  int status_source = -1, status_tag = -1, status_bytes = -1;
  bool end_point = false;  ///< recorded as one
  BufferPlan buffer;
};

struct CallPlan {
  const CallInfo* info = nullptr;
  const CallEntry* entry = nullptr;  ///< null: not re-issued
  std::vector<ParamPlan> params;
  std::size_t fields = 0;  ///< values every event must have
  int comm = -1, root = -1, status = -1, request = -1, flag = -1, index = -1;  ///< parameters
  int win = -1, file = -1;                                                     ///< parameters
  int target = -1, target_disp = -1, target_count = -1, target_type = -1;  ///< of one-sided calls
  bool scratch = false;  ///< re-issued only on scratch files
  int members = -1;      ///< field: world ranks of the communicator made
  int compute = -1;      ///< field of the instance's own compute time
  bool local() const { return info != nullptr && has(*info, Attribute::kLocal); }
};

using CallPlans = std::map<std::uint16_t, CallPlan>;
CallPlans make_plans(const Trace& trace);

/// A request an event completed.
struct Completed {
  std::size_t position = 0;  ///< in the event's list of requests
  std::int64_t slot = 0;
};

/// The elements of an array field; empty if there is none.
const std::vector<std::int64_t>& array_of(const Trace& trace, const EventView& event, int field);

/// The slots an event was given (a scalar is a list of one).
std::vector<std::int64_t> request_slots(const CallPlan& plan, const Trace& trace,
                                        const EventView& event);

/// What a Wait or Test completed, in the order of the list; null requests are not named.
std::vector<Completed> completed_by(const CallPlan& plan, const Trace& trace,
                                    const EventView& event);

}  // namespace chameleon::replay
