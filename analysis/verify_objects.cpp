// SPDX-License-Identifier: BSD-3-Clause
// What events do to the objects of a `RawModel`.
#include "analysis/verify_events.h"
#include "mpi/event_layout.h"

namespace chameleon::analysis {
namespace {

/// Positions of the requests a completing call reports, in the order of its statuses.
std::vector<std::size_t> reported(const RawEvent& raw, std::int64_t undefined) {
  std::vector<std::size_t> positions;
  if (raw.number("flag", 1) == 0) return positions;
  if (const RawValue* index = raw.find("indx")) {
    const std::int64_t position = raw.scalar(*index);
    if (position != undefined && position >= 0)
      positions.push_back(static_cast<std::size_t>(position));
  } else if (raw.find("array_of_indices") != nullptr) {
    for (const std::int64_t position : raw.array("array_of_indices"))
      if (position >= 0) positions.push_back(static_cast<std::size_t>(position));
  } else {
    const std::size_t count =
        raw.find("request") != nullptr ? 1 : raw.array("array_of_requests").size();
    for (std::size_t i = 0; i < count; ++i) positions.push_back(i);
  }
  return positions;
}

/// The handle at a position, and the name of the parameter it is in.
std::pair<std::int64_t, const char*> request_at(const RawEvent& raw, std::size_t position) {
  if (const RawValue* one = raw.find("request")) return {raw.scalar(*one), "request"};
  const std::span<const std::int64_t> all = raw.array("array_of_requests");
  return {position < all.size() ? all[position] : INT64_MIN, "array_of_requests"};
}

}  // namespace

RawRequest* Comparison::request_of_status(const RawEvent& raw, const SeenEvent* seen,
                                          std::size_t at) {
  const std::vector<std::size_t> positions = reported(raw, model_.undefined);
  if (at >= positions.size()) return nullptr;
  const auto [handle, name] = request_at(raw, positions[at]);
  return model_.request(handle, id_of(seen, name, positions[at]));
}

void Comparison::complete(const RawEvent& raw, const SeenEvent* seen) {
  std::size_t k = 0;
  for (const std::size_t position : reported(raw, model_.undefined)) {
    if (!has_ended(raw, k++)) continue;
    const auto [handle, name] = request_at(raw, position);
    const std::int64_t id = id_of(seen, name, position);
    RawRequest* request = model_.request(handle, id);
    if (request == nullptr) continue;
    if (request->persistent)
      request->active = false;
    else
      model_.drop_request(handle, id);
  }
}

// After the event was compared.
void Comparison::follow(const RawEvent& raw, const Plan& plan, const SeenEvent* seen) {
  if (plan.info == nullptr) return;
  const CallInfo& info = *plan.info;
  if (!took_place(raw, &info)) return;
  if (has(info, Attribute::kCompletes)) return complete(raw, seen);
  std::int64_t used_message = INT64_MIN, used_id = RawModel::kUnknownId;
  for (std::size_t i = 0; i < plan.params.size(); ++i) {
    const Param& param = plan.params[i];
    const RawValue& token = raw.values[i];
    if (!is_object(param.kind) || token.shape != RawValue::Shape::kNumber) continue;
    const std::int64_t handle = raw.scalar(token);
    if (param.direction == Direction::kOut) {
      make(raw, plan, param, handle, seen);
    } else if (has(info, Attribute::kFrees) && param.direction == Direction::kInOut) {
      const std::int64_t id = id_of(seen, param.name, 0);
      if (param.kind == Kind::kRequest) {
        model_.drop_request(handle, id);
        continue;
      }
      if (param.kind == Kind::kMessage) {
        used_message = handle;
        used_id = id;
      }
      model_.release(param.kind, handle, id);
    }
  }
  // Only now: the request of an Imrecv, the last parameter, asks for it.
  if (used_message != INT64_MIN) model_.drop_message(used_message, used_id);
  model_.learn_type(raw, info);
  if (has(info, Attribute::kStarts)) start(raw, seen);
}

void Comparison::make(const RawEvent& raw, const Plan& plan, const Param& param,
                      std::int64_t handle, const SeenEvent* seen) {
  const CallInfo& info = *plan.info;
  const bool posts = has(info, Attribute::kNonblocking | Attribute::kPersistent);
  if (seen == nullptr && (has(info, Attribute::kCreates) || posts))
    model_.create(param.kind, handle, RawModel::kUnknownId);
  if (param.kind == Kind::kRequest && posts && !model_.is_null(Kind::kRequest, handle)) {
    RawRequest request;
    // The status of an Isendrecv's request says nothing: MPICH leaves it as it was.
    if ((has(info, Attribute::kRecv) && !has(info, Attribute::kSend)) || transfers_file_data(info))
      request = model_.posted(raw, id_of(seen, "message", 0));
    request.id = id_of(seen, param.name, 0);
    request.persistent = has(info, Attribute::kPersistent);
    request.active = !request.persistent;
    model_.post(handle, request);
  }
  if (param.kind == Kind::kComm) model_.learn_comm(handle, raw.array("members"));
  if (param.kind != Kind::kMessage) return;
  const RawValue* status = raw.find("status");
  if (status != nullptr && status->shape == RawValue::Shape::kStatus)
    model_.keep_message(handle, id_of(seen, param.name, 0), raw.status(*status, 0));
}

void Comparison::start(const RawEvent& raw, const SeenEvent* seen) {
  const std::size_t count =
      raw.find("request") != nullptr ? 1 : raw.array("array_of_requests").size();
  for (std::size_t i = 0; i < count; ++i) {
    const auto [handle, name] = request_at(raw, i);
    if (RawRequest* request = model_.request(handle, id_of(seen, name, i))) request->active = true;
  }
}

}  // namespace chameleon::analysis
