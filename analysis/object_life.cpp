// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/object_life.h"

#include <algorithm>
#include <unordered_map>

#include "analysis/communicators.h"
#include "analysis/object_keys.h"
#include "mpi/call_meaning.h"

namespace chameleon::analysis {
namespace {

enum class ObjectKind : std::uint64_t { kComm, kRequest, kType, kMessage, kWindow, kFile };

constexpr int kKindShift = 56;

std::uint64_t key_of(ObjectKind kind, std::int64_t id) {
  return static_cast<std::uint64_t>(kind) << kKindShift | static_cast<std::uint64_t>(id);
}

/// Whether an object's id is free again by an event that is followed.
bool ends_once(std::uint64_t key) {
  return is_request(key) || key >> kKindShift == static_cast<std::uint64_t>(ObjectKind::kMessage);
}

bool ends_requests(Action action) {
  return action == Action::kComplete || action == Action::kCompleteAll ||
         action == Action::kCompleteAny || action == Action::kCompleteSome;
}

}  // namespace

bool is_request(std::uint64_t key) {
  return key >> kKindShift == static_cast<std::uint64_t>(ObjectKind::kRequest);
}

bool orders_calls(std::uint64_t key) {
  const std::uint64_t kind = key >> kKindShift;
  return kind == static_cast<std::uint64_t>(ObjectKind::kComm) ||
         kind == static_cast<std::uint64_t>(ObjectKind::kWindow) ||
         kind == static_cast<std::uint64_t>(ObjectKind::kFile);
}

std::vector<CallPlan> plan_calls(const Trace& trace) {
  std::vector<CallPlan> plans;
  std::size_t calls = 0;
  for (const auto& [id, call] : trace.calls) calls = std::max<std::size_t>(calls, id + 1U);
  plans.resize(calls);
  for (const auto& [id, call] : trace.calls) plans[id] = plan_call(call);
  return plans;
}

ObjectRoles::ObjectRoles(const Trace& trace, const std::vector<CallPlan>& plans)
    : trace_(&trace), plans_(&plans), roles_(plans.size()) {
  for (const auto& [id, call] : trace.calls) {
    Roles& roles = roles_[id];
    const CallPlan& plan = plans[id];
    for (std::size_t i = 0; i < call.fields.size(); ++i) {
      const Field& field = call.fields[i];
      const int place = static_cast<int>(i);
      if (field.stored != FieldKind::kPlain) continue;
      if (field.kind == "comm" && !(plan.members >= 0 && place == plan.new_comm))
        roles.comms.push_back(place);
      if (place == plan.new_type)
        roles.new_type = place;
      else if (field.kind == "datatype")
        roles.types.push_back(place);
    }
  }
}

void ObjectRoles::find(const EventView& event, std::uint32_t stream, ObjectUse& use) const {
  for (auto* keys : {&use.makes, &use.needs, &use.sees, &use.ends}) keys->clear();
  const std::uint16_t id = event.node->call;
  const auto call = trace_->calls.find(id);
  if (call == trace_->calls.end() || call->second.fields.size() != event.values.size() ||
      event.values.empty())
    return;
  const CallPlan& plan = (*plans_)[id];
  const Roles& roles = roles_[id];
  use.persistent = plan.persistent;
  use.frees = plan.action == Action::kRequestFree;
  use.handed = false;
  const std::uint32_t thread = trace_->thread_of(stream);
  const auto value = [&](int field) { return event.values[static_cast<std::size_t>(field)]; };
  const auto add = [&](std::vector<std::uint64_t>& to, ObjectKind kind, std::int64_t id) {
    if (is_object(id)) to.push_back(key_of(kind, id));
  };
  const auto need = [&](ObjectKind kind, std::int64_t id) {
    if (object_thread(id) != thread) add(use.needs, kind, id);
  };
  for (const int field : roles.comms) need(ObjectKind::kComm, value(field));
  for (const int field : roles.types) need(ObjectKind::kType, value(field));
  if (plan.members >= 0 && plan.new_comm >= 0)
    add(use.makes, ObjectKind::kComm, value(plan.new_comm));
  if (roles.new_type >= 0) add(use.makes, ObjectKind::kType, value(roles.new_type));
  if (plan.object >= 0) {
    const ObjectKind kind = plan.object_is_file ? ObjectKind::kFile : ObjectKind::kWindow;
    if (plan.comm >= 0 || (plan.info != nullptr && is_discovery(*plan.info)))
      add(use.makes, kind, value(plan.object));
    else
      need(kind, value(plan.object));
  }
  if (plan.message >= 0) {
    if (plan.action == Action::kMatchedRecv) {
      need(ObjectKind::kMessage, value(plan.message));
      add(use.ends, ObjectKind::kMessage, value(plan.message));
    } else if (plan.flag < 0 || value(plan.flag) != 0) {
      add(use.makes, ObjectKind::kMessage, value(plan.message));
    }
  }
  find_requests(event, plan, thread, use);
}

void ObjectRoles::find_requests(const EventView& event, const CallPlan& plan, std::uint32_t thread,
                                ObjectUse& use) const {
  const auto value = [&](int field) { return event.values[static_cast<std::size_t>(field)]; };
  const auto need = [&](std::int64_t id) {
    if (!is_object(id) || object_thread(id) == thread) return;
    auto& needs = plan.action == Action::kCancel ? use.sees : use.needs;
    needs.push_back(key_of(ObjectKind::kRequest, id));
  };
  // What is completed or freed. A call that was not successful does nothing to the others.
  const auto end = [&](std::int64_t id) {
    need(id);
    if (is_object(id)) use.ends.push_back(key_of(ObjectKind::kRequest, id));
  };
  const bool done = plan.flag < 0 || value(plan.flag) != 0;
  const bool completes = ends_requests(plan.action);
  const bool uses = completes || plan.action == Action::kStart || plan.action == Action::kCancel ||
                    plan.action == Action::kRequestFree;
  if (plan.request >= 0) {
    const std::int64_t id = value(plan.request);
    if (!uses) {
      if (is_object(id) && object_thread(id) == thread && plan.action != Action::kNothing &&
          plan.action != Action::kUnchecked)
        use.makes.push_back(key_of(ObjectKind::kRequest, id));
      return;
    }
    if (plan.action == Action::kRequestFree || (completes && done))
      end(id);
    else if (!completes)
      need(id);
  }
  if (plan.requests < 0 || !uses) return;
  const auto slots = array_of(*trace_, value(plan.requests));
  if (!completes)
    for (const std::int64_t id : slots) need(id);
  const auto end_at = [&](std::int64_t i) {
    if (i >= 0 && static_cast<std::size_t>(i) < slots.size())
      end(slots[static_cast<std::size_t>(i)]);
  };
  if (!done) return;
  if (plan.action == Action::kCompleteAll)
    for (const std::int64_t id : slots) end(id);
  else if (plan.action == Action::kCompleteAny && plan.index >= 0)
    end_at(value(plan.index));
  else if (plan.action == Action::kCompleteSome && plan.indices >= 0)
    for (const std::int64_t i : array_of(*trace_, value(plan.indices))) end_at(i);
}

Result<HandOvers> HandOvers::find(const Trace& trace, const ObjectRoles& roles,
                                  std::uint32_t stream) {
  Result<RankView> view = RankView::make(trace, stream);
  if (!view) return Error{view.error().kind, "the trace is damaged: " + view.error().message, 0};
  HandOvers found;
  std::unordered_map<std::uint64_t, std::uint64_t> open;  // key to the event that made it
  EventView event;
  ObjectUse use;
  for (std::uint64_t number = 1; view->next(event); ++number) {
    roles.find(event, stream, use);
    for (const std::uint64_t key : use.ends) open.erase(key);
    if (use.persistent) continue;
    for (const std::uint64_t key : use.makes) {
      if (!is_request(key)) continue;
      const auto [made, fresh] = open.try_emplace(key, number);
      if (fresh) continue;
      found.events_.push_back(made->second);
      made->second = number;
    }
  }
  for (const auto& [key, number] : open) found.events_.push_back(number);
  std::sort(found.events_.begin(), found.events_.end());
  return found;
}

ObjectLife::ObjectLife() {
  for (const std::int64_t id : {0, 1})  // MPI_COMM_WORLD and MPI_COMM_SELF
    alive_.insert(key_of(ObjectKind::kComm, id));
}

bool ObjectLife::ready(std::uint64_t key) const {
  return alive_.contains(key) &&
         (!is_request(key) || handed_.contains(key) || persistent_.contains(key));
}

bool ObjectLife::may_go(const ObjectUse& use) const {
  return std::all_of(use.needs.begin(), use.needs.end(),
                     [&](std::uint64_t key) { return ready(key); }) &&
         std::all_of(use.sees.begin(), use.sees.end(),
                     [&](std::uint64_t key) { return alive_.contains(key); }) &&
         std::none_of(use.makes.begin(), use.makes.end(),
                      [&](std::uint64_t key) { return ends_once(key) && alive_.contains(key); });
}

bool ObjectLife::pass(const ObjectUse& use) {
  for (const std::uint64_t key : use.makes) {
    alive_.insert(key);
    if (use.persistent) persistent_.insert(key);
    if (use.handed && is_request(key)) handed_.insert(key);
  }
  for (const std::uint64_t key : use.ends) {
    if (persistent_.contains(key)) {
      if (!use.frees) continue;  // it can be started again
      persistent_.erase(key);
    }
    handed_.erase(key);
    alive_.erase(key);
  }
  return !use.makes.empty() || !use.ends.empty();
}

}  // namespace chameleon::analysis
