// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// How a traced call becomes a real one, found once per call of the trace: where each parameter's
/// values are in its events, and which other parameters determine the size of each buffer. Fields
/// are found by name, so a trace of an older table remains readable. The `Follower` resolves the
/// objects to which an event refers.

#include <cstdint>
#include <map>
#include <vector>

#include "model/trace.h"
#include "replay/calls.h"

namespace chameleon::replay {

/// How many times its count a buffer holds.
enum class Repeat : std::uint8_t { kOnce, kCommSize, kInDegree, kOutDegree };

struct BufferPlan {
  int count = -1;          ///< parameter
  int type = -1;           ///< parameter
  int displacements = -1;  ///< parameter
  int bytes = -1;          ///< parameter that has the size in bytes instead
  int partitions = -1;     ///< parameter
  bool single = false;     ///< one element of the type: there is no count
  Repeat repeat = Repeat::kOnce;
  int input = -1;                   ///< buffer parameter: if that is in place, this is the input
  Repeat in_place = Repeat::kOnce;  ///< instead of `repeat`, then
  int dest = -1, source = -1;       ///< parameters: nothing moves if all of them are MPI_PROC_NULL
};

struct ParamPlan {
  ParamInfo info{};
  int field = -1;          ///< in the event's values; -1: not recorded
  bool end_point = false;  ///< recorded as one
  BufferPlan buffer;
};

struct CallPlan {
  const CallInfo* info = nullptr;
  const CallEntry* entry = nullptr;  ///< null: not re-issued
  std::vector<ParamPlan> params;
  int comm = -1, root = -1, status = -1, request = -1, flag = -1, index = -1;  ///< parameters
  int win = -1, file = -1;                                                     ///< parameters
  int target = -1, target_disp = -1, target_count = -1, target_type = -1;  ///< of one-sided calls
  bool scratch = false;  ///< re-issued only on scratch files
};

using CallPlans = std::map<std::uint16_t, CallPlan>;
CallPlans make_plans(const Trace& trace);

}  // namespace chameleon::replay
