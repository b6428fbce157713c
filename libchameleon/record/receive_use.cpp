// SPDX-License-Identifier: BSD-3-Clause
#include "record/receive_use.h"

#include <vector>

#include "mpi/call_meaning.h"
#include "signature/call_parameters.h"

namespace chameleon::record {
namespace {

using Step = ReceiveUse::Step;

void find_values(const CallInfo& call, ReceiveUse& use) {
  const bool makes_comm = creates_communicator(call);
  for (std::size_t i = 0; i < params(call).size(); ++i) {
    const ParamInfo& param = params(call)[i];
    if (stored_values(param) == 0) continue;
    const int at = static_cast<int>(value_offset(call, i));
    switch (param.kind) {
      case Kind::kComm:
        if ((param.direction == Direction::kOut) == makes_comm) use.comm = at;
        break;
      case Kind::kSource: use.source = at; break;
      case Kind::kDatatype:
        if (!is_array(param)) use.type = at;
        break;
      case Kind::kMessage: use.message = at; break;
      case Kind::kRequest:
        use.request = at;
        use.many = is_array(param);
        break;
      case Kind::kIndex: use.index = at; break;
      case Kind::kStatus: use.status = at; break;
      default: break;
    }
  }
  if (const int made = made_datatype(call); made >= 0)
    use.type = static_cast<int>(value_offset(call, static_cast<std::size_t>(made)));
  use.flag = signature::success_flag(call);
  const int last = static_cast<int>(stored_values(call)) - 1;
  if (makes_comm) use.members = last;
  if (has_errors(call)) use.errors = last;
}

bool has_many_indices(const CallInfo& call) {
  for (const ParamInfo& param : params(call))
    if (param.kind == Kind::kIndex) return is_array(param);
  return false;
}

Step completing_step(const CallInfo& call, const ReceiveUse& use) {
  if (!use.many) return Step::kComplete;
  if (use.index < 0) return Step::kCompleteAll;
  return has_many_indices(call) ? Step::kCompleteSome : Step::kCompleteAny;
}

Step step_of(const CallInfo& call, const ReceiveUse& use) {
  const auto is = [&](Attribute any_of) { return has(call, any_of); };
  if (is(Attribute::kLocal)) return Step::kNothing;
  if (use.members >= 0) return Step::kMakeComm;
  if (made_datatype(call) >= 0) return Step::kMakeType;
  if (is(Attribute::kCompletes)) return completing_step(call, use);
  if (is(Attribute::kStarts)) return Step::kStart;
  if (is(Attribute::kCancels)) return Step::kCancel;
  if (is(Attribute::kProbe)) return use.message < 0 ? Step::kNothing : Step::kMatchedProbe;
  const bool posts = is(Attribute::kNonblocking | Attribute::kPersistent);
  if (is(Attribute::kRecv)) {
    // The end of an Isendrecv tells nothing of its receive, which counts where it begins.
    if (!posts || is(Attribute::kSend)) return Step::kReceive;
    return Step::kPost;
  }
  if (use.request < 0) return Step::kNothing;
  if (posts || is(Attribute::kRma | Attribute::kIo)) return Step::kPostOther;
  return is(Attribute::kFrees) ? Step::kEnd : Step::kNothing;
}

ReceiveUse use_of(const CallInfo& call) {
  ReceiveUse use;
  find_values(call, use);
  use.persistent = has(call, Attribute::kPersistent);
  use.step = step_of(call, use);
  return use;
}

}  // namespace

const ReceiveUse& receive_use(std::uint16_t call) {
  static const std::vector<ReceiveUse> uses = [] {
    std::vector<ReceiveUse> all(kCallIdEnd);
    for (const CallInfo& info : all_calls()) all[info.id] = use_of(info);
    return all;
  }();
  return uses[call];
}

}  // namespace chameleon::record
