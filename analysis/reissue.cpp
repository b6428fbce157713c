// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/reissue.h"

namespace chameleon::analysis {

const char* why_not_reissued(const CallInfo& call) {
  switch (static_cast<CallId>(call.id)) {
    // Local, but with work of their own.
    case CallId::kPack:
    case CallId::kPackC:
    case CallId::kUnpack:
    case CallId::kUnpackC:
    case CallId::kPackExternal:
    case CallId::kPackExternalC:
    case CallId::kUnpackExternal:
    case CallId::kUnpackExternalC:
    case CallId::kReduceLocal:
    case CallId::kReduceLocalC: return nullptr;
    case CallId::kCommSpawn:
    case CallId::kCommSpawnMultiple:
    case CallId::kCommAccept:
    case CallId::kCommConnect:
    case CallId::kCommJoin:
    case CallId::kOpenPort:
    case CallId::kClosePort:
    case CallId::kPublishName:
    case CallId::kUnpublishName:
    case CallId::kLookupName: return "it needs other processes";
    case CallId::kRegisterDatarep:
    case CallId::kRegisterDatarepC: return "its conversions are functions of the program";
    case CallId::kPcontrol: return "it is no event: it switches recording";
    default: break;
  }
  if (has(call, Attribute::kMpit)) return "it is not recorded";
  if (has(call, Attribute::kLocal)) return "it asks or converts, without effect";
  if (has(call, Attribute::kInit | Attribute::kFinalize)) return "the replay has its own";
  if (has(call, Attribute::kAbort)) return "it would end the replay";
  return nullptr;
}

bool needs_scratch(const CallInfo& call) {
  if (!has(call, Attribute::kIo)) return false;
  for (const ParamInfo& param : params(call))
    if (param.kind == Kind::kFile || std::string_view(param.name) == "filename") return true;
  return false;
}

Reissue::Reissue(const FollowPlan& plan) : trace_(plan.trace), calls_(plan.calls.size()) {
  for (std::size_t id = 0; id < calls_.size(); ++id)
    if (plan.described[id] != nullptr) calls_[id] = plan_of(*plan.described[id], plan.calls[id]);
}

Reissue::Call Reissue::plan_of(const CallDescription& description, const CallPlan& plan) {
  Call call;
  if (plan.info == nullptr) {
    call.why = "it is not known";
    return call;
  }
  call.why = why_not_reissued(*plan.info);
  call.on_file = needs_scratch(*plan.info);
  call.finds_parent = static_cast<CallId>(plan.info->id) == CallId::kCommGetParent;
  for (const ParamInfo& param : params(*plan.info)) {
    if (!is_object(param.kind) || param.kind == Kind::kRequest) continue;
    Object object;
    object.kind = static_cast<std::uint8_t>(param.kind);
    object.field = field_index(description, param.name);
    if (object.field < 0) continue;
    object.array =
        description.fields[static_cast<std::size_t>(object.field)].stored == FieldKind::kArray;
    object.in = param.direction != Direction::kOut;
    object.out = param.direction == Direction::kOut;
    call.objects.push_back(object);
  }
  return call;
}

template <class Function>
void Reissue::for_each_id(const FollowedEvent& event, const Object& object,
                          Function function) const {
  const std::int64_t value = event.value(object.field);
  if (!object.array) return function(value);
  for (const std::int64_t id : array_of(*trace_, value)) function(id);
}

bool Reissue::is_made(std::uint8_t kind, std::int64_t id) const {
  // What MPI itself has, and what does not count here.
  const bool is_comm = kind == static_cast<std::uint8_t>(Kind::kComm);
  if (id < (is_comm ? 2 : 0)) return true;
  const auto found = made_.find({kind, id});
  return found != made_.end() && found->second;
}

bool Reissue::has_all(const FollowedEvent& event, const Call& call) const {
  bool all = true;
  for (const Object& object : call.objects)
    if (object.in)
      for_each_id(event, object, [&](std::int64_t id) { all = all && is_made(object.kind, id); });
  return all;
}

void Reissue::make(const FollowedEvent& event, const Call& call, bool issued) {
  for (const Object& object : call.objects)
    if (object.out)
      for_each_id(event, object, [&](std::int64_t id) {
        if (id >= 0) made_[{object.kind, id}] = issued;
      });
}

const char* Reissue::why_not(const FollowedEvent& event) {
  if (event.call == nullptr) return "its values are not those of its call";
  const Call& call = calls_[event.view.node->call];
  const char* why = call.why;
  if (why == nullptr && event.failed() && !(event.plan->tells_class && event.took_place()))
    why = event.is_pending() ? "it was in progress when the trace ended"
                             : "it failed in the traced run";
  // A process that another one spawned has a parent; a replay's has not.
  if (why == nullptr && call.finds_parent && !call.objects.empty() &&
      event.value(call.objects[0].field) >= 0)
    why = "it needs other processes";
  if (why == nullptr && !has_all(event, call))
    why = "it is on an object that the replay does not have";
  make(event, call, why == nullptr);
  return why == nullptr && call.on_file ? kOnFile : why;
}

bool Reissue::is_loss(const FollowedEvent& event) {
  return event.plan == nullptr || event.plan->info == nullptr ||
         !has(*event.plan->info, Attribute::kLocal | Attribute::kInit | Attribute::kFinalize);
}

void note_left_out(LeftOut& left_out, Reissue& reissue, const FollowedEvent& event) {
  const char* why = reissue.why_not(event);
  if (why != nullptr && event.call != nullptr && Reissue::is_loss(event))
    ++left_out[why][event.call->name];
}

LeftOut find_left_out(const CheckReport& report, bool with_scratch) {
  LeftOut left_out = report.left_out;
  if (with_scratch) left_out.erase(Reissue::kOnFile);
  return left_out;
}

}  // namespace chameleon::analysis
