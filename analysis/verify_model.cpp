// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/verify_model.h"

#include <algorithm>

#include "analysis/check_plan.h"
#include "analysis/datatype_size.h"

namespace chameleon::analysis {
namespace {

constexpr std::size_t kKinds = static_cast<std::size_t>(Kind::kOther) + 1;

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

bool names_nothing(std::string_view name) {
  return ends_with(name, "_NULL") || name == "MPI_KEYVAL_INVALID";
}

}  // namespace

Kind kind_of_name(std::string_view name) {
  for (std::size_t i = 0; i < kKinds; ++i)
    if (name == kind_name(static_cast<Kind>(i))) return static_cast<Kind>(i);
  return Kind::kOther;
}

RawModel::RawModel(const Trace& trace, const RawReader& reader, std::uint32_t rank)
    : any_source(reader.constant("MPI_ANY_SOURCE", -2)),
      proc_null(reader.constant("MPI_PROC_NULL", -1)),
      root(reader.constant("MPI_ROOT", -3)),
      any_tag(reader.constant("MPI_ANY_TAG", -1)),
      undefined(reader.constant("MPI_UNDEFINED", -32766)),
      trace_(trace),
      rank_(static_cast<std::int32_t>(rank)),
      objects_(kKinds),
      predefined_(kKinds) {
  for (const RawPredefined& object : reader.predefined()) {
    const Kind kind = kind_of_name(object.kind);
    predefined_[static_cast<std::size_t>(kind)][object.handle].push_back(object.name);
    if (object.name == "MPI_COMM_WORLD")
      places_[object.handle] = {rank_, static_cast<std::int32_t>(reader.world_size())};
    if (object.name == "MPI_COMM_SELF") places_[object.handle] = {0, 1};
    if (kind == Kind::kDatatype) type_sizes_[object.handle] = object.size;
  }
}

bool RawModel::is_null(Kind kind, std::int64_t handle) const {
  const auto& known = predefined_[static_cast<std::size_t>(kind)];
  const auto found = known.find(handle);
  return found != known.end() && names_nothing(found->second.front());
}

bool RawModel::has_ended(std::int64_t id) const {
  const Objects& known = objects_[static_cast<std::size_t>(Kind::kRequest)];
  return known.gone.count(id) > 0 && known.handle_of.count(id) == 0;
}

bool RawModel::predefined_matches(Kind kind, const Names& names, std::int64_t handle,
                                  std::int64_t id) {
  if (names_nothing(names.front())) return id == -1;
  if (names.front() == "MPI_COMM_WORLD") return id == 0;
  if (names.front() == "MPI_COMM_SELF") return id == 1;
  const auto listed = trace_.predefined.find(kind_name(kind));
  if (listed != trace_.predefined.end()) {
    const auto place = static_cast<std::size_t>(-2 - id);
    return id <= -2 && place < listed->second.size() &&
           std::find(names.begin(), names.end(), listed->second[place].name) != names.end();
  }
  // Predefined, but without a list of names: one id each, below -1.
  if (id > -2) return false;
  Objects& known = objects(kind);
  const auto [entry, fresh] = known.handle_of.try_emplace(id, handle);
  return entry->second == handle;
}

bool RawModel::matches(Kind kind, std::int64_t handle, std::int64_t id) {
  const auto& fixed = predefined_[static_cast<std::size_t>(kind)];
  if (const auto found = fixed.find(handle); found != fixed.end())
    return predefined_matches(kind, found->second, handle, id);
  Objects& known = objects(kind);
  const auto found = known.ids.find(handle);
  // A thread may be on its way out of a call on a request that another one has completed.
  const auto gone = known.gone.find(id);
  const bool late = kind == Kind::kRequest && gone != known.gone.end() && gone->second == handle;
  if (found == known.ids.end() || found->second.empty()) {
    if (late) return true;
    if (!create(kind, handle, id)) return false;
    known.taken_up.insert(id);
    return true;
  }
  auto& ids = found->second;
  if (std::find(ids.begin(), ids.end(), id) != ids.end()) return true;
  const auto open = std::find(ids.begin(), ids.end(), kUnknownId);
  if (late) return true;
  if (open == ids.end() || known.handle_of.count(id) > 0) return false;
  *open = id;
  known.handle_of[id] = handle;
  return true;
}

bool RawModel::create(Kind kind, std::int64_t handle, std::int64_t id) {
  const auto& fixed = predefined_[static_cast<std::size_t>(kind)];
  if (const auto found = fixed.find(handle); found != fixed.end())
    return id == kUnknownId || predefined_matches(kind, found->second, handle, id);
  Objects& known = objects(kind);
  if (known.taken_up.erase(id) > 0) release(kind, known.handle_of[id], id);
  if (id != kUnknownId && (id < 0 || !known.handle_of.try_emplace(id, handle).second)) {
    known.ids[handle].push_back(kUnknownId);
    return false;
  }
  known.ids[handle].push_back(id);
  return true;
}

void RawModel::release(Kind kind, std::int64_t handle, std::int64_t id) {
  Objects& known = objects(kind);
  const auto found = known.ids.find(handle);
  if (found == known.ids.end() || found->second.empty()) return;
  auto& ids = found->second;
  auto at = std::find(ids.begin(), ids.end(), id);
  if (at == ids.end()) at = std::prev(ids.end());
  known.handle_of.erase(*at);
  known.taken_up.erase(*at);
  if (kind == Kind::kRequest) known.gone[*at] = handle;
  ids.erase(at);
  if (!ids.empty()) return;
  known.ids.erase(found);
  if (kind == Kind::kComm) places_.erase(handle);
}

CommPlace RawModel::place(std::int64_t comm) const {
  const auto found = places_.find(comm);
  return found == places_.end() ? CommPlace{0, 1} : found->second;
}

void RawModel::learn_comm(std::int64_t comm, std::span<const std::int64_t> members) {
  if (members.empty()) return;
  const auto bar = std::find(members.begin(), members.end(), -1);
  const auto self = std::find(members.begin(), bar, rank_);
  const auto size =
      bar == members.end() ? members.size() : static_cast<std::size_t>(members.end() - bar - 1);
  places_[comm] = {self == bar ? -1 : static_cast<std::int32_t>(self - members.begin()),
                   static_cast<std::int32_t>(size)};
}

std::int64_t RawModel::type_size(std::int64_t datatype) const {
  const auto found = type_sizes_.find(datatype);
  return found == type_sizes_.end() ? kUnknownSize : found->second;
}

void RawModel::learn_type(const RawEvent& event, const CallInfo& call) {
  const int param = made_datatype(call);
  if (param < 0) return;
  const std::int64_t made =
      event.number(params(call)[static_cast<std::size_t>(param)].name, INT64_MIN);
  if (made == INT64_MIN) return;
  const std::int64_t size = constructed_size(
      &call, [&](const char* name) { return event.number(name, -1); },
      [&](const char* name) { return event.array(name); },
      [&](std::int64_t type) { return type_size(type); });
  const auto& fixed = predefined_[static_cast<std::size_t>(Kind::kDatatype)];
  if (fixed.count(made) == 0) type_sizes_[made] = size;
}

void RawModel::post(std::int64_t handle, const RawRequest& request) {
  requests_[handle].push_back(request);
}

RawRequest* RawModel::request(std::int64_t handle, std::int64_t id) {
  const auto found = requests_.find(handle);
  if (found == requests_.end() || found->second.empty()) return nullptr;
  for (RawRequest& request : found->second)
    if (request.id == id) return &request;
  return &found->second.back();
}

void RawModel::drop_request(std::int64_t handle, std::int64_t id) {
  release(Kind::kRequest, handle, id);
  const auto found = requests_.find(handle);
  if (found == requests_.end()) return;
  auto& open = found->second;
  auto at = std::find_if(open.begin(), open.end(),
                         [id](const RawRequest& request) { return request.id == id; });
  if (at == open.end() && !open.empty()) at = std::prev(open.end());
  if (at != open.end()) open.erase(at);
  if (open.empty()) requests_.erase(found);
}

void RawModel::keep_message(std::int64_t handle, std::int64_t id, const RawStatus& status) {
  messages_[id == kUnknownId ? handle : id] = status;
}

void RawModel::drop_message(std::int64_t handle, std::int64_t id) {
  // MPI_MESSAGE_NO_PROC is every thread's, and always the same.
  if (id == kUnknownId || id >= 0) messages_.erase(id == kUnknownId ? handle : id);
}

RawRequest RawModel::posted(const RawEvent& event, std::int64_t message_id) const {
  RawRequest request;
  request.receives = true;
  request.active = true;
  const auto either = [&](const char* first, const char* second) {
    return event.number(first, event.number(second, 0));
  };
  request.source = event.number("source", 0);
  request.tag = either("recvtag", "tag");
  request.comm = place(event.number("comm", INT64_MIN));
  const std::int64_t count = either("recvcount", "count");
  const std::int64_t size = type_size(either("recvtype", "datatype"));
  request.bytes = count == 0 ? 0 : size == kUnknownSize ? -1 : count * size;
  request.transfers = event.find("fh") != nullptr;
  if (request.transfers && event.find("count") == nullptr) request.bytes = -1;
  if (const RawValue* message = event.find("message"); message && !event.find("source")) {
    auto found = messages_.find(message_id);
    if (found == messages_.end()) found = messages_.find(event.scalar(*message));
    if (found != messages_.end()) {
      request.source = found->second.source;
      request.tag = found->second.tag;
    }
  }
  return request;
}

bool took_place(const RawEvent& raw, const CallInfo* info) {
  const std::int64_t error = raw.number("return", 0);
  return info == nullptr ? error == 0 : took_place(*info, error);
}

bool has_ended(const RawEvent& raw, std::size_t k) {
  const std::span<const std::int64_t> errors = raw.array("errors");
  return k >= errors.size() || errors[k] != kErrPending;
}

}  // namespace chameleon::analysis
