// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Which values of a call enter signatures, by the table of MPI calls. In a header, so that each
/// runtime has that of its own table.

#include "mpi/event_layout.h"
#include "signature/signature.h"

namespace chameleon::signature {

/// A value that the program passed in, as a scalar of a kind that has a signature.
struct SignedValue {
  std::uint8_t at = 0;  ///< among the event's values
  Parameter parameter{};
  bool end_point = false;
  TypeRange range{};  ///< of kDataOperation
};

inline bool is_signed(const ParamInfo& param) {
  switch (param.kind) {
    case Kind::kSource:
    case Kind::kDest:
    case Kind::kCount:
    case Kind::kTag:
    case Kind::kKey:
    case Kind::kColor:
    case Kind::kDatatype:
    case Kind::kOp:
    case Kind::kComm: break;
    default: return false;
  }
  return param.direction == Direction::kIn && param.length.rule == Length::Rule::kScalar;
}

inline Parameter parameter_of(Kind kind) {
  switch (kind) {
    case Kind::kSource: return Parameter::kSource;
    case Kind::kDest: return Parameter::kDestination;
    case Kind::kCount: return Parameter::kCount;
    case Kind::kTag: return Parameter::kTag;
    case Kind::kKey: return Parameter::kKey;
    case Kind::kColor: return Parameter::kColor;
    default: return Parameter::kDataOperation;
  }
}

inline TypeRange range_of(Kind kind) {
  return kind == Kind::kOp     ? TypeRange::kOperation
         : kind == Kind::kComm ? TypeRange::kCommunicator
                               : TypeRange::kDatatype;
}

/// Calls `use` with each signed value of a call.
template <class Use>
void for_each_signed(const CallInfo& call, Use use) {
  for (std::size_t i = 0; i < params(call).size(); ++i) {
    const ParamInfo& param = params(call)[i];
    if (!is_signed(param) || stored_values(param) != 1) continue;
    use(SignedValue{static_cast<std::uint8_t>(value_offset(call, i)), parameter_of(param.kind),
                    is_end_point(call, param), range_of(param.kind)});
  }
}

/// The value that says whether a Test or a probe succeeded: its flag, or how many requests
/// MPI_Testsome completed. 0: it did not. -1: it is no such call.
inline int success_flag(const CallInfo& call) {
  if (!has(call, Attribute::kCompletes) && !has(call, Attribute::kProbe)) return -1;
  const bool counts = has(call, Attribute::kTest);
  for (std::size_t i = 0; i < params(call).size(); ++i) {
    const ParamInfo& param = params(call)[i];
    const bool tells =
        param.kind == Kind::kFlag || (counts && param.kind == Kind::kCount && !is_array(param));
    if (param.direction == Direction::kOut && tells) return static_cast<int>(value_offset(call, i));
  }
  return -1;
}

inline CallRole role_of(const CallInfo& call) {
  if (success_flag(call) >= 0) return CallRole::kPoll;
  const bool waits = has(call, Attribute::kCollective) && !has(call, Attribute::kNonblocking);
  return waits ? CallRole::kCollective : CallRole::kOther;
}

}  // namespace chameleon::signature
