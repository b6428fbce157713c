// SPDX-License-Identifier: BSD-3-Clause
#include "record/call_use.h"

#include "mpi/event_layout.h"

namespace chameleon::record {
namespace {

std::uint8_t inexactness_of(Kind kind) {
  switch (kind) {
    case Kind::kCount: return 1;
    case Kind::kSource: return 2;
    case Kind::kDest: return 3;
    case Kind::kTag: return 4;
    default: return 5;
  }
}

CallUse use_of(const CallInfo& call) {
  CallUse use;
  use.values.resize(stored_values(call));
  for (int i = 0; i < static_cast<int>(params(call).size()); ++i) {
    const ParamInfo& param = params(call)[static_cast<std::size_t>(i)];
    const auto stored = static_cast<std::size_t>(stored_values(param));
    if (stored == 0) continue;
    const auto at = static_cast<std::size_t>(value_offset(call, i));
    for (std::size_t k = 0; k < stored; ++k) {
      ValueUse& value = use.values[at + k];
      value.kind = inexactness_of(param.kind);
      // A status: source, tag, bytes.
      if (stored == 3) value.kind = k == 0 ? 2 : k == 1 ? 4 : 1;
      value.end_point = k == 0 && (is_end_point(call, param) || (stored == 3 && !is_array(param)));
      value.root = param.kind == Kind::kRoot;
    }
  }
  use.flag = success_flag(call);
  use.role = signature::role_of(call);
  for_each_signed(call, [&](const SignedValue& value) { use.signed_values.push_back(value); });
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
