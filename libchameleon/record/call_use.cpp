// SPDX-License-Identifier: BSD-3-Clause
#include "record/call_use.h"

#include "mpi/event_layout.h"

namespace chameleon::record {
namespace {

Parameter parameter_of(Kind kind) {
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

TypeRange range_of(Kind kind) {
  return kind == Kind::kOp     ? TypeRange::kOperation
         : kind == Kind::kComm ? TypeRange::kCommunicator
                               : TypeRange::kDatatype;
}

std::uint8_t inexactness_of(Kind kind) {
  switch (kind) {
    case Kind::kCount: return 1;
    case Kind::kSource: return 2;
    case Kind::kDest: return 3;
    case Kind::kTag: return 4;
    default: return 5;
  }
}

bool signs_parameter(Kind kind) {
  return kind == Kind::kSource || kind == Kind::kDest || kind == Kind::kCount ||
         kind == Kind::kTag || kind == Kind::kKey || kind == Kind::kColor ||
         kind == Kind::kDatatype || kind == Kind::kOp || kind == Kind::kComm;
}

CallUse use_of(const CallInfo& call) {
  CallUse use;
  use.values.resize(stored_values(call));
  const bool polls = has(call, Attribute::kCompletes) || has(call, Attribute::kProbe);
  for (int i = 0; i < static_cast<int>(params(call).size()); ++i) {
    const ParamInfo& param = params(call)[static_cast<std::size_t>(i)];
    const auto stored = static_cast<std::size_t>(stored_values(param));
    if (stored == 0) continue;
    const auto at = static_cast<std::size_t>(value_offset(call, i));
    for (std::size_t k = 0; k < stored; ++k) {
      ValueUse& value = use.values[at + k];
      value.kind = inexactness_of(param.kind);
      if (stored == 1 && !is_array(param) && signs_parameter(param.kind) &&
          param.direction == Direction::kIn)
        value.parameter = static_cast<std::int8_t>(parameter_of(param.kind));
      // A status: source, tag, bytes.
      if (stored == 3) value.kind = k == 0 ? 2 : k == 1 ? 4 : 1;
      value.end_point = k == 0 && (is_end_point(call, param) || (stored == 3 && !is_array(param)));
      value.root = param.kind == Kind::kRoot;
      value.range = range_of(param.kind);
    }
    if (param.kind == Kind::kFlag && param.direction == Direction::kOut && polls)
      use.flag = static_cast<int>(at);
  }
  for (const ParamInfo& param : params(call))
    use.creates =
        use.creates || ((param.kind == Kind::kComm || param.kind == Kind::kGroup) &&
                        param.direction == Direction::kOut && has(call, Attribute::kCreates));
  return use;
}

}  // namespace

const CallUse& call_use(std::uint16_t call) {
  static const std::vector<CallUse> uses = [] {
    std::vector<CallUse> all(kCallIdEnd);
    for (const CallInfo& info : all_calls()) all[info.id] = use_of(info);
    return all;
  }();
  return uses[call];
}

}  // namespace chameleon::record
