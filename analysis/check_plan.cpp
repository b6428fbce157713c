// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/check_plan.h"

#include <cstring>

#include "analysis/communicators.h"

namespace chameleon::analysis {
namespace {

/// Places of what every call has at most once, by the kinds of its fields.
void find_arguments(const CallDescription& call, CallPlan& plan) {
  const auto first = [](int& found, int place) {
    if (found < 0) found = place;
  };
  for (std::size_t i = 0; i < call.fields.size(); ++i) {
    const Field& field = call.fields[i];
    const std::string& kind = field.kind;
    const int place = static_cast<int>(i);
    const bool array = field.stored == FieldKind::kArray;
    if (const std::size_t dot = field.name.find('.'); dot != std::string::npos) {
      if (kind == "source") plan.status_source = place;
      if (kind == "tag") plan.status_tag = place;
      if (kind == "bytes") plan.status_bytes = place;
      continue;
    }
    if (kind == "comm") {
      first(plan.comm, place);
      plan.new_comm = place;
    } else if ((kind == "win" || kind == "file") && plan.object < 0) {
      plan.object = place;
      plan.object_is_file = kind == "file";
    } else if (kind == "members") {
      plan.members = place;
    } else if (kind == "error") {
      if (array)
        plan.errors = place;
      else
        plan.tells_class = true;
    } else if (kind == "tag") {
      first(plan.send_tag, place);
      plan.recv_tag = place;
    } else if (kind == "request") {
      first(array ? plan.requests : plan.request, place);
    } else if (kind == "index") {
      first(array ? plan.indices : plan.index, place);
    } else if (kind == "dest") {
      first(plan.dest, place);
    } else if (kind == "source") {
      first(plan.source, place);
    } else if (kind == "root") {
      first(plan.root, place);
    } else if (kind == "op") {
      plan.op = place;
    } else if (kind == "flag" && !array) {
      first(plan.flag, place);
    } else if (kind == "message") {
      first(plan.message, place);
    }
  }
  if (plan.members < 0) plan.new_comm = -1;
}

/// What the table tells of the parameters beyond their kinds.
void find_data(const CallDescription& call, CallPlan& plan) {
  const std::span<const ParamInfo> all = params(*plan.info);
  const CallMeaning& meaning = meaning_of(*plan.info);
  const auto field = [&](std::int8_t param) {
    return param < 0 ? -1 : field_index(call, all[static_cast<std::size_t>(param)].name);
  };
  const auto many = [&](std::int8_t param) {
    return param >= 0 && is_array(all[static_cast<std::size_t>(param)]);
  };
  const BufferParams& sent = meaning.sent;
  const BufferParams& received = meaning.received;
  plan.send_buffer = field(sent.buffer);
  plan.send_count = field(sent.count);
  plan.send_type = field(sent.type);
  plan.recv_buffer = field(received.buffer);
  plan.recv_count = field(received.count);
  plan.recv_type = field(received.type);
  plan.many_sent = many(sent.count);
  plan.many_received = many(received.count);
  plan.many_types = many(sent.type) || many(received.type);
  if (const int made = made_datatype(*plan.info); made >= 0)
    plan.new_type = field_index(call, all[static_cast<std::size_t>(made)].name);
  if (!has(*plan.info, Attribute::kPartitioned)) return;
  for (const ParamInfo& param : all)
    if (param.kind == Kind::kInt && plan.dest + plan.source > -2)
      plan.partitions = field_index(call, param.name);
}

/// Of a call that the table does not have, what a message to `dest` would be described by.
void find_message(const CallDescription& call, CallPlan& plan) {
  for (std::size_t i = 0; i < call.fields.size(); ++i) {
    const Field& field = call.fields[i];
    if (field.stored == FieldKind::kArray) continue;
    if (field.kind == "count" && plan.send_count < 0) plan.send_count = static_cast<int>(i);
    if (field.kind == "datatype" && plan.send_type < 0) plan.send_type = static_cast<int>(i);
  }
}

Action completing_action(const CallPlan& plan) {
  if (plan.requests < 0) return Action::kComplete;
  if (plan.indices >= 0) return Action::kCompleteSome;
  return plan.index >= 0 ? Action::kCompleteAny : Action::kCompleteAll;
}

Action action_of(const CallPlan& plan) {
  if (plan.info == nullptr) {
    if (plan.members >= 0) return Action::kCollective;
    return plan.new_type >= 0 ? Action::kDatatype : Action::kUnchecked;
  }
  const auto is = [&](Attribute any_of) { return has(*plan.info, any_of); };
  if (is(Attribute::kLocal | Attribute::kInit)) return Action::kNothing;
  if (is(Attribute::kFinalize)) return Action::kFinalize;
  // No call of the program, and each member comes to know a communicator or window on its own.
  if (is_discovery(*plan.info)) return plan.new_type >= 0 ? Action::kDatatype : Action::kNothing;
  if (plan.members >= 0) return Action::kCollective;
  if (plan.new_type >= 0) return Action::kDatatype;
  if (is(Attribute::kCompletes)) return completing_action(plan);
  if (is(Attribute::kStarts)) return Action::kStart;
  if (is(Attribute::kCancels)) return Action::kCancel;
  if (is(Attribute::kProbe))
    return is(Attribute::kCreates) ? Action::kMatchedProbe : Action::kProbe;
  // A partitioned message counts as sent when it is started; what marks its partitions is not
  // followed.
  if (is(Attribute::kPartitioned) && !is(Attribute::kPersistent)) return Action::kUnchecked;
  if (is(Attribute::kCollective))
    return plan.comm >= 0 || plan.object >= 0 ? Action::kCollective : Action::kUnchecked;
  if (is(Attribute::kSend)) return is(Attribute::kRecv) ? Action::kSendrecv : Action::kSend;
  if (is(Attribute::kRecv)) return plan.message < 0 ? Action::kRecv : Action::kMatchedRecv;
  if (is(Attribute::kNonblocking)) return Action::kOtherRequest;
  if (is(Attribute::kRma)) return Action::kUnchecked;
  return is(Attribute::kFrees) && plan.request >= 0 ? Action::kRequestFree : Action::kNothing;
}

}  // namespace

bool took_place(const CallPlan& plan, std::int64_t returned) {
  if (returned == 0) return true;
  if (plan.info != nullptr && plan.tells_class) return took_place(*plan.info, returned);
  switch (plan.action) {
    case Action::kComplete:
    case Action::kCompleteAll:
    case Action::kCompleteAny:
    case Action::kCompleteSome:
    case Action::kRecv:
    case Action::kSendrecv: return true;
    default: return false;
  }
}

CallPlan plan_call(const CallDescription& call) {
  CallPlan plan;
  plan.name = call.name;
  plan.info = find_call(call.name);
  plan.changes_communicators = Communicators::changed_by(call);
  find_arguments(call, plan);
  if (plan.info == nullptr) {
    plan.new_type = field_index(call, "newtype");
    find_message(call, plan);
  } else {
    const CallInfo& info = *plan.info;
    plan.name = without_large_counts(info).name + std::strlen("MPI_");
    plan.persistent = has(info, Attribute::kPersistent);
    plan.buffered = has(info, Attribute::kBuffered | Attribute::kPartitioned);
    find_data(call, plan);
  }
  plan.action = action_of(plan);
  if (plan.action == Action::kSendrecv && plan.request >= 0) plan.buffered = true;
  if (plan.info != nullptr && plan.action == Action::kCollective) {
    const CallMeaning& meaning = meaning_of(*plan.info);
    plan.waits = meaning.waits;
    plan.over_result = meaning.over_result;
    plan.combines = has(*plan.info, Attribute::kReduction);
    if (!has(*plan.info, Attribute::kNeighbor)) plan.movement = meaning.movement;
  }
  return plan;
}

}  // namespace chameleon::analysis
