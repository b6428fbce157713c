// SPDX-License-Identifier: BSD-3-Clause
#include "replay/plan.h"

#include <string_view>

#include "analysis/communicators.h"
#include "analysis/reissue.h"
#include "mpi/call_meaning.h"

namespace chameleon::replay {
namespace {

/// How often a count that is the same for all partners is in a buffer of the call.
Repeat repeat_of(const CallInfo& call, std::size_t buffer) {
  const CallMeaning& meaning = meaning_of(call);
  if (!meaning.movement.moves()) return Repeat::kOnce;
  const bool neighbor = has(call, Attribute::kNeighbor);
  if (static_cast<std::size_t>(meaning.sent.buffer) == buffer) {
    if (meaning.movement.part == Movement::Part::kWhole) return Repeat::kOnce;
    return neighbor ? Repeat::kOutDegree : Repeat::kCommSize;
  }
  if (has(call, Attribute::kReduction) || meaning.movement.from_root()) return Repeat::kOnce;
  return neighbor ? Repeat::kInDegree : Repeat::kCommSize;
}

/// To whom, and from whom, what is in a buffer moves.
void find_partners(const CallPlan& call, Direction direction, BufferPlan& plan) {
  for (std::size_t i = 0; i < call.params.size(); ++i) {
    const Kind kind = call.params[i].info.kind;
    const auto place = static_cast<int>(i);
    if (kind == Kind::kDest && direction != Direction::kOut) plan.dest = place;
    if (kind == Kind::kSource && direction != Direction::kIn) plan.source = place;
  }
  if (call.target >= 0) plan.dest = call.target;
  if (call.root >= 0) plan.dest = call.root;
}

/// What follows a buffer, up to the next one, describes it; buffers side by side share.
BufferPlan plan_buffer(const CallPlan& call, std::size_t at) {
  BufferPlan plan;
  const auto& params = call.params;
  std::size_t from = at + 1;
  while (from < params.size() && params[from].info.kind == Kind::kBuffer) ++from;
  for (std::size_t i = from; i < params.size() && params[i].info.kind != Kind::kBuffer; ++i) {
    const ParamInfo& info = params[i].info;
    const auto place = static_cast<int>(i);
    const bool distance = info.kind == Kind::kDisplacement || info.kind == Kind::kAint;
    if (info.kind == Kind::kCount && plan.count < 0) plan.count = place;
    if (info.kind == Kind::kDatatype && plan.type < 0) plan.type = place;
    if (distance && is_array(info) && plan.displacements < 0) plan.displacements = place;
    if ((info.kind == Kind::kInt || info.kind == Kind::kAint) && !is_array(info)) {
      if (has(*call.info, Attribute::kPartitioned)) {
        plan.partitions = place;
      } else if (info.direction == Direction::kIn && plan.bytes < 0) {
        plan.bytes = place;
      }
    }
  }
  plan.single = plan.type >= 0 && plan.count < 0 && has(*call.info, Attribute::kRma);
  const bool counts =
      plan.count >= 0 && is_array(params[static_cast<std::size_t>(plan.count)].info);
  if (!counts) plan.repeat = repeat_of(*call.info, at);
  const int sent = meaning_of(*call.info).sent.buffer;
  if (sent >= 0 && static_cast<std::size_t>(sent) != at) {
    plan.input = sent;
    plan.in_place = plan.repeat != Repeat::kOnce || counts
                        ? plan.repeat
                        : repeat_of(*call.info, static_cast<std::size_t>(sent));
  }
  find_partners(call, params[at].info.direction, plan);
  return plan;
}

CallPlan make_plan(const CallDescription& description) {
  CallPlan plan;
  plan.info = find_call(description.name);
  if (plan.info == nullptr) return plan;
  plan.entry = find_entry(*plan.info);
  plan.scratch = needs_scratch(*plan.info);
  for (const ParamInfo& info : params(*plan.info)) {
    ParamPlan param;
    param.info = info;
    const auto place = static_cast<int>(plan.params.size());
    if (info.kind == Kind::kStatus)
      plan.status = place;
    else
      param.field = field_index(description, info.name);
    if (info.kind == Kind::kComm && info.direction == Direction::kIn && plan.comm < 0) {
      plan.comm = place;
    }
    if (info.kind == Kind::kWin) plan.win = place;
    if (info.kind == Kind::kFile) plan.file = place;
    if (has(*plan.info, Attribute::kRma)) {
      const std::string_view name = info.name;
      if (name == "target_rank") plan.target = place;
      if (name == "target_disp") plan.target_disp = place;
      if (name == "target_count") plan.target_count = place;
      if (name == "target_datatype" || name == "datatype") plan.target_type = place;
    }
    if (info.kind == Kind::kRoot) plan.root = place;
    if (info.kind == Kind::kRequest) plan.request = place;
    if (info.kind == Kind::kFlag && info.direction == Direction::kOut) plan.flag = place;
    if (info.kind == Kind::kIndex && info.direction == Direction::kOut) plan.index = place;
    plan.params.push_back(param);
  }
  for (std::size_t i = 0; i < plan.params.size(); ++i) {
    if (plan.params[i].info.kind == Kind::kBuffer) plan.params[i].buffer = plan_buffer(plan, i);
    const int field = plan.params[i].field;
    plan.params[i].end_point =
        field >= 0 &&
        description.fields[static_cast<std::size_t>(field)].stored == FieldKind::kEndPoint;
  }
  return plan;
}

}  // namespace

CallPlans make_plans(const Trace& trace) {
  CallPlans plans;
  for (const auto& [id, description] : trace.calls) plans.emplace(id, make_plan(description));
  return plans;
}

}  // namespace chameleon::replay
