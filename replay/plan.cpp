// SPDX-License-Identifier: BSD-3-Clause
#include "replay/plan.h"

#include <string_view>

#include "analysis/reissue.h"
#include "mpi/call_meaning.h"

namespace chameleon::replay {
namespace {

int find_field(const CallDescription& call, const std::string& name) {
  for (std::size_t i = 0; i < call.fields.size(); ++i)
    if (call.fields[i].name == name) return static_cast<int>(i);
  return -1;
}

bool is_array(const ParamInfo& info) { return info.length.rule != Length::Rule::kScalar; }

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
  return plan;
}

CallPlan make_plan(const CallDescription& description) {
  CallPlan plan;
  plan.info = find_call(description.name);
  plan.fields = description.fields.size();
  plan.members = find_field(description, "members");
  plan.compute = find_field(description, "compute");
  if (plan.info == nullptr) return plan;
  plan.entry = find_entry(*plan.info);
  plan.scratch = needs_scratch(*plan.info);
  for (const ParamInfo& info : params(*plan.info)) {
    ParamPlan param;
    param.info = info;
    const auto place = static_cast<int>(plan.params.size());
    if (info.kind == Kind::kStatus) {
      param.status_source = find_field(description, std::string(info.name) + ".source");
      param.status_tag = find_field(description, std::string(info.name) + ".tag");
      param.status_bytes = find_field(description, std::string(info.name) + ".bytes");
      plan.status = place;
    } else {
      param.field = find_field(description, info.name);
    }
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

const std::vector<std::int64_t>& array_of(const Trace& trace, const EventView& event, int field) {
  static const std::vector<std::int64_t> kEmpty;
  if (field < 0 || static_cast<std::size_t>(field) >= event.values.size()) return kEmpty;
  const auto id = static_cast<std::uint64_t>(event.values[static_cast<std::size_t>(field)]);
  const auto found = trace.arrays.find(id);
  return found == trace.arrays.end() ? kEmpty : found->second;
}

std::vector<std::int64_t> request_slots(const CallPlan& plan, const Trace& trace,
                                        const EventView& event) {
  if (plan.request < 0) return {};
  const ParamPlan& param = plan.params[static_cast<std::size_t>(plan.request)];
  if (param.field < 0) return {};
  if (is_array(param.info)) return array_of(trace, event, param.field);
  return {event.values[static_cast<std::size_t>(param.field)]};
}

std::vector<Completed> completed_by(const CallPlan& plan, const Trace& trace,
                                    const EventView& event) {
  const auto value = [&](int param) {
    const int field = param < 0 ? -1 : plan.params[static_cast<std::size_t>(param)].field;
    return field < 0 ? 0 : event.values[static_cast<std::size_t>(field)];
  };
  if (plan.flag >= 0 && value(plan.flag) == 0) return {};
  const std::vector<std::int64_t> slots = request_slots(plan, trace, event);
  std::vector<std::size_t> positions;
  if (plan.index < 0) {
    for (std::size_t i = 0; i < slots.size(); ++i) positions.push_back(i);
  } else if (const ParamPlan& index = plan.params[static_cast<std::size_t>(plan.index)];
             is_array(index.info)) {
    for (const std::int64_t i : array_of(trace, event, index.field))
      positions.push_back(static_cast<std::size_t>(i));
  } else {
    positions.push_back(static_cast<std::size_t>(value(plan.index)));
  }
  std::vector<Completed> completed;
  for (const std::size_t position : positions) {
    // MPI_UNDEFINED is far outside too.
    if (position >= slots.size() || slots[position] < 0) continue;
    completed.push_back({position, slots[position]});
  }
  return completed;
}

}  // namespace chameleon::replay
