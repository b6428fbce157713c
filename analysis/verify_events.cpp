// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/verify_events.h"

#include "analysis/partner.h"
#include "mpi/event_layout.h"

namespace chameleon::analysis {
namespace {

constexpr std::size_t kShownElements = 8;

bool is_object(Kind kind) {
  switch (kind) {
    case Kind::kComm:
    case Kind::kDatatype:
    case Kind::kRequest:
    case Kind::kGroup:
    case Kind::kOp:
    case Kind::kWin:
    case Kind::kFile:
    case Kind::kInfo:
    case Kind::kErrhandler:
    case Kind::kMessage:
    case Kind::kSession:
    case Kind::kKeyval: return true;
    default: return false;
  }
}

Column column_of(Kind kind) {
  switch (kind) {
    case Kind::kCount: return Column::kCount;
    case Kind::kSource: return Column::kSource;
    case Kind::kDest: return Column::kDest;
    case Kind::kTag: return Column::kTag;
    case Kind::kRoot: return Column::kRoot;
    case Kind::kComm: return Column::kComm;
    case Kind::kDatatype: return Column::kDatatype;
    case Kind::kRequest: return Column::kRequest;
    case Kind::kOp: return Column::kOp;
    default: return Column::kOther;
  }
}

Inexactness kind_of(Column column) {
  switch (column) {
    case Column::kLoop:
    case Column::kEvents: return kInexactEvents;
    case Column::kCount: return kInexactCount;
    case Column::kSource: return kInexactSource;
    case Column::kDest: return kInexactDest;
    case Column::kTag: return kInexactTag;
    default: return kInexactOther;
  }
}

std::string list_text(std::span<const std::int64_t> values) {
  std::string text = "[";
  for (std::size_t i = 0; i < values.size() && i < kShownElements; ++i)
    text += (i > 0 ? "," : "") + std::to_string(values[i]);
  return text + (values.size() > kShownElements ? ",...]" : "]");
}

std::string end_point_text(const EndPoint& end, RawShape comm) {
  static const char* const kNames[] = {
      "", "not recorded", "MPI_PROC_NULL", "MPI_ANY_SOURCE", "MPI_ROOT", "MPI_UNDEFINED"};
  const Partner partner = resolve(end, CommPlace{comm.self, comm.size});
  if (partner.special > 0 && partner.special < 6) return kNames[partner.special];
  return std::to_string(partner.rank);
}

std::string number_text(std::int64_t value) {
  return value == kNotRecorded ? "not recorded" : std::to_string(value);
}

/// The shape of the communicator that end-points of the event are in.
RawShape event_shape(const RawEvent& raw, const RawModel& model, const CallInfo* info) {
  if (info == nullptr) return {};
  for (const ParamInfo& param : params(*info))
    if (param.kind == Kind::kComm && param.direction == Direction::kIn)
      return model.shape(raw.number(param.name, INT64_MIN));
  return {};
}

}  // namespace

Comparison::Plan& Comparison::plan(const RawEvent& raw, const EventView* seen) {
  Plan& plan = plans_[call_];
  bool fits = plan.params.size() == raw.values.size() &&
              (seen == nullptr || (plan.has_view && plan.view_call == seen->node->call));
  for (std::size_t i = 0; fits && i < plan.params.size(); ++i)
    fits = plan.params[i].name == raw.values[i].name;
  if (fits) return plan;
  plan = Plan{};
  plan.info = find_call(raw.call);
  const CallDescription* call = nullptr;
  if (seen != nullptr) {
    call = &trace_.calls.at(seen->node->call);
    plan.has_view = true;
    plan.view_call = seen->node->call;
  }
  for (const RawValue& token : raw.values) {
    Param param;
    param.name = token.name;
    if (plan.info != nullptr)
      for (const ParamInfo& known : params(*plan.info))
        if (param.name == known.name) {
          param.kind = known.kind;
          param.direction = known.direction;
        }
    param.column = column_of(param.kind);
    if (call != nullptr)
      param.field =
          field_index(*call, param.kind == Kind::kStatus ? param.name + ".source" : param.name);
    plan.params.push_back(std::move(param));
  }
  return plan;
}

void Comparison::count(Column column, bool matched) {
  VerifyReport::Share& share = report_.columns[static_cast<std::size_t>(column)];
  ++share.total;
  if (matched) {
    ++share.matched;
  } else if ((kinds_ & kind_of(column)) != 0) {
    ++share.declared;
    found_ |= kind_of(column);
  }
}

void Comparison::mismatch(Column column, std::string parameter, std::string raw,
                          std::string trace) {
  ++report_.mismatch_count;
  report_.differing.insert(trace_.rank_of(stream_));
  const bool declared = (kinds_ & kind_of(column)) != 0;
  if (declared) {
    ++report_.declared_count;
    found_ |= kind_of(column);
  }
  auto& list = declared ? report_.declared_mismatches : report_.mismatches;
  if (list.size() < kMostMismatches)
    list.push_back({trace_.rank_of(stream_), trace_.thread_of(stream_), number_, call_,
                    std::move(parameter), std::move(raw), std::move(trace)});
}

void Comparison::both(const RawEvent& raw, const EventView& seen, Place place, std::uint32_t kinds,
                      std::uint64_t number) {
  call_ = raw.call;
  number_ = number;
  count(Column::kEvents, true);
  kinds_ = place == Place::kDeclared ? std::uint32_t{kInexactAll} : kinds;
  count(Column::kLoop, place == Place::kSame);
  kinds_ = kinds;
  const Plan& plan = this->plan(raw, &seen);
  const bool failed = raw.number("return", 0) != 0;
  const CallInfo* info = plan.info;
  for (std::size_t i = 0; i < plan.params.size(); ++i) {
    const Param& param = plan.params[i];
    const RawValue& token = raw.values[i];
    if (param.kind == Kind::kStatus) {
      const bool told = info != nullptr && param.field >= 0 &&
                        (has(*info, Attribute::kRecv | Attribute::kProbe | Attribute::kCompletes) ||
                         transfers_file_data(*info));
      if (told && token.shape != RawValue::Shape::kNothing) statuses(raw, token, param, seen);
    } else if (token.shape == RawValue::Shape::kNothing ||
               (failed && param.direction == Direction::kOut)) {
      count(param.column, true);
    } else {
      value(raw, token, param, seen);
    }
  }
  follow(raw, plan, &seen);
}

void Comparison::missing(const RawEvent& raw, std::uint32_t kinds, std::uint64_t number) {
  call_ = raw.call;
  // Kinds of values say nothing of an event that is not there.
  kinds_ = (kinds & kInexactEvents) != 0 ? std::uint32_t{kInexactAll} : 0;
  number_ = number;
  ++report_.missing_events;
  count(Column::kEvents, false);
  count(Column::kLoop, false);
  const Plan& plan = this->plan(raw, nullptr);
  for (const Param& param : plan.params) {
    if (param.kind != Kind::kStatus) {
      count(param.column, false);
      continue;
    }
    for (const Column part : {Column::kSource, Column::kTag, Column::kCount}) count(part, false);
  }
  mismatch(Column::kEvents, "", "called", "missing");
  follow(raw, plan, nullptr);
}

void Comparison::extra(const std::string& call, std::uint32_t kinds, std::uint64_t number) {
  call_ = call;
  kinds_ = (kinds & kInexactEvents) != 0 ? std::uint32_t{kInexactAll} : 0;
  number_ = number;
  ++report_.extra_events;
  mismatch(Column::kEvents, "", "not called", "called");
}

bool Comparison::end_point_matches(std::int64_t rank, const EndPoint& end, RawShape comm,
                                   Kind kind) const {
  const Partner partner = resolve(end, CommPlace{comm.self, comm.size});
  if (rank == model_.proc_null) return partner.is(SpecialRank::kProcNull);
  if (rank == model_.any_source) return partner.is(SpecialRank::kAnySource);
  if (rank == model_.root) return partner.is(SpecialRank::kRoot);
  // A partner outside the communicator is an error of the program; a mere rank
  // may be one of another communicator (the remote leader) and must be known.
  if (rank < 0 || (rank >= comm.size && kind != Kind::kRank))
    return partner.is(SpecialRank::kUndefined);
  return partner.special == 0 && partner.rank == rank;
}

std::span<const std::int64_t> Comparison::array(const EventView& seen, int field) const {
  return array_of(trace_, seen.values[static_cast<std::size_t>(field)]);
}

bool Comparison::array_matches(const RawEvent& raw, const RawValue& token, const Param& param,
                               std::span<const std::int64_t> stored) {
  const std::span<const std::int64_t> given = raw.array(token);
  if (given.size() != stored.size()) return false;
  bool matched = true;
  for (std::size_t i = 0; i < given.size(); ++i)
    matched = (is_object(param.kind) ? model_.matches(param.kind, given[i], stored[i])
                                     : given[i] == stored[i]) &&
              matched;
  return matched;
}

void Comparison::value(const RawEvent& raw, const RawValue& token, const Param& param,
                       const EventView& seen) {
  const auto at = static_cast<std::size_t>(param.field);
  if (param.field < 0 || at >= seen.values.size()) {
    count(param.column, false);
    return mismatch(param.column, param.name, std::string(token.text), "not recorded");
  }
  const Plan& plan = plans_[call_];
  const Field& field = trace_.calls.at(seen.node->call).fields[at];
  const std::int64_t stored = seen.values[at];
  bool matched = false;
  std::string text;
  if (field.stored == FieldKind::kArray) {
    matched = token.shape == RawValue::Shape::kArray &&
              array_matches(raw, token, param, array(seen, param.field));
    if (!matched) text = list_text(array(seen, param.field));
  } else if (token.shape != RawValue::Shape::kNumber) {
    text = number_text(stored);
  } else if (field.stored == FieldKind::kEndPoint) {
    const RawShape comm = event_shape(raw, model_, plan.info);
    matched = end_point_matches(raw.scalar(token), seen.end_point(at), comm, param.kind);
    if (!matched) text = end_point_text(seen.end_point(at), comm);
  } else if (is_object(param.kind)) {
    const bool made = param.direction == Direction::kOut && plan.info != nullptr &&
                      (has(*plan.info, Attribute::kCreates) || param.kind == Kind::kRequest);
    matched = made ? model_.create(param.kind, raw.scalar(token), stored)
                   : model_.matches(param.kind, raw.scalar(token), stored);
    if (!matched) text = "id " + number_text(stored);
  } else {
    matched = raw.scalar(token) == stored;
    if (!matched) text = number_text(stored);
  }
  count(param.column, matched);
  if (!matched)
    mismatch(param.column, param.name, std::string(token.text.substr(0, 80)), std::move(text));
}

std::int64_t Comparison::id_of(const EventView* seen, std::string_view name, std::size_t i) const {
  if (seen == nullptr) return RawModel::kUnknownId;
  const CallDescription& call = trace_.calls.at(seen->node->call);
  const int field = field_index(call, name);
  if (field < 0) return RawModel::kUnknownId;
  if (call.fields[static_cast<std::size_t>(field)].stored != FieldKind::kArray)
    return seen->values[static_cast<std::size_t>(field)];
  const std::span<const std::int64_t> ids = array(*seen, field);
  return i < ids.size() ? ids[i] : RawModel::kUnknownId;
}

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

RawRequest* Comparison::request_of_status(const RawEvent& raw, const EventView* seen,
                                          std::size_t at) {
  const std::vector<std::size_t> positions = reported(raw, model_.undefined);
  if (at >= positions.size()) return nullptr;
  const auto [handle, name] = request_at(raw, positions[at]);
  return model_.request(handle, id_of(seen, name, positions[at]));
}

void Comparison::statuses(const RawEvent& raw, const RawValue& token, const Param& param,
                          const EventView& seen) {
  const CallInfo& info = *plans_[call_].info;
  const auto at = static_cast<std::size_t>(param.field);
  if (at + 2 >= seen.values.size()) return;
  const bool many = token.shape != RawValue::Shape::kStatus;
  const std::size_t statuses = many ? token.count / 4 : 1;
  const bool failed = raw.number("return", 0) != 0;
  std::span<const std::int64_t> columns[3];
  if (many)
    for (std::size_t part = 0; part < 3; ++part)
      columns[part] = array(seen, param.field + static_cast<int>(part));
  bool source_ok = true, tag_ok = true, bytes_ok = true;

  RawRequest own;
  const bool completes = has(info, Attribute::kCompletes);
  const bool probes = has(info, Attribute::kProbe);
  if (!completes) {
    own = model_.posted(raw);
    if (probes && raw.number("flag", 1) == 0) own.active = false;
  }
  for (std::size_t i = 0; i < statuses; ++i) {
    EndPoint source{EndPointForm::kRelative,
                    kFirstSpecialRelative + static_cast<std::int32_t>(SpecialRank::kNone)};
    std::int64_t tag = kNotRecorded, bytes = kNotRecorded;
    if (!many) {
      source = seen.end_point(at);
      tag = seen.values[at + 1];
      bytes = seen.values[at + 2];
    } else {
      if (i < columns[0].size()) source.value = columns[0][i];
      if (i < columns[1].size()) tag = columns[1][i];
      if (i < columns[2].size()) bytes = columns[2][i];
    }
    const RawRequest* posted = completes ? request_of_status(raw, &seen, i) : &own;
    const RawStatus got = raw.status(token, i);
    const bool told = !resolve(source, CommPlace{}).is(SpecialRank::kNone);
    if (posted == nullptr || !posted->receives || !posted->active || got.cancelled != 0 || failed) {
      source_ok = source_ok && !told;
      tag_ok = tag_ok && tag == kNotRecorded;
      bytes_ok = bytes_ok && bytes == kNotRecorded;
      continue;
    }
    const bool nobody = posted->source == model_.proc_null;
    // Some MPIs leave the status of a receive from MPI_PROC_NULL as it was.
    if (nobody && !told && tag == kNotRecorded && (bytes == kNotRecorded || bytes == got.bytes))
      continue;
    if (posted->transfers) {
      source_ok = source_ok && !told;
      tag_ok = tag_ok && tag == kNotRecorded;
      const std::int64_t said = bytes != kNotRecorded ? bytes : posted->bytes;
      bytes_ok = bytes_ok && (said == -1 || said == got.bytes);
      continue;
    }
    source_ok =
        source_ok && (told ? end_point_matches(got.source, source, posted->comm, Kind::kSource)
                           : got.source == posted->source);
    tag_ok = tag_ok && got.tag == (tag != kNotRecorded ? tag : posted->tag);
    const std::int64_t wanted = nobody ? 0 : posted->bytes;  // from nobody comes nothing
    const bool as_posted = !probes && (wanted == -1 || got.bytes == wanted);
    bytes_ok = bytes_ok && (bytes != kNotRecorded ? bytes == got.bytes : as_posted);
  }
  const auto judge = [&](const char* part, Column column, bool matched, std::size_t offset) {
    count(column, matched);
    if (matched) return;
    mismatch(column, param.name + part, std::string(token.text.substr(0, 80)),
             many          ? list_text(columns[offset])
             : offset == 0 ? end_point_text(seen.end_point(at), own.comm)
                           : number_text(seen.values[at + offset]));
  };
  judge(".source", Column::kSource, source_ok, 0);
  judge(".tag", Column::kTag, tag_ok, 1);
  judge(".bytes", Column::kCount, bytes_ok, 2);
}

void Comparison::complete(const RawEvent& raw, const EventView* seen) {
  for (const std::size_t position : reported(raw, model_.undefined)) {
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

// What the event does to handles, after it was compared.
void Comparison::follow(const RawEvent& raw, const Plan& plan, const EventView* seen) {
  if (plan.info == nullptr) return;
  const CallInfo& info = *plan.info;
  if (has(info, Attribute::kCompletes)) return complete(raw, seen);
  if (raw.number("return", 0) != 0) return;
  const bool posts = has(info, Attribute::kNonblocking | Attribute::kPersistent);
  std::int64_t used_message = INT64_MIN;
  for (std::size_t i = 0; i < plan.params.size(); ++i) {
    const Param& param = plan.params[i];
    const RawValue& token = raw.values[i];
    if (!is_object(param.kind) || token.shape != RawValue::Shape::kNumber) continue;
    const std::int64_t handle = raw.scalar(token);
    const std::int64_t id = id_of(seen, param.name, 0);
    if (param.direction == Direction::kOut) {
      if (seen == nullptr && (has(info, Attribute::kCreates) || posts))
        model_.create(param.kind, handle, RawModel::kUnknownId);
      if (param.kind == Kind::kRequest && posts && !model_.is_null(Kind::kRequest, handle)) {
        RawRequest request;
        // The status of an Isendrecv's request says nothing: MPICH leaves it as it was.
        if ((has(info, Attribute::kRecv) && !has(info, Attribute::kSend)) ||
            transfers_file_data(info))
          request = model_.posted(raw);
        request.id = id;
        request.persistent = has(info, Attribute::kPersistent);
        request.active = !request.persistent;
        model_.post(handle, request);
      }
      if (param.kind == Kind::kComm) model_.learn_comm(handle, raw.array("members"));
      if (const RawValue* status = raw.find("status"); param.kind == Kind::kMessage &&
                                                       status != nullptr &&
                                                       status->shape == RawValue::Shape::kStatus)
        model_.messages[handle] = raw.status(*status, 0);
    } else if (has(info, Attribute::kFrees) && param.direction == Direction::kInOut) {
      if (param.kind == Kind::kRequest) {
        model_.drop_request(handle, id);
        continue;
      }
      if (param.kind == Kind::kMessage) used_message = handle;
      model_.release(param.kind, handle, id);
    }
  }
  // Only now: the request of an Imrecv, the last parameter, asks for it.
  if (used_message != INT64_MIN) model_.messages.erase(used_message);
  model_.learn_type(raw, info);
  if (!has(info, Attribute::kStarts)) return;
  const std::size_t count =
      raw.find("request") != nullptr ? 1 : raw.array("array_of_requests").size();
  for (std::size_t i = 0; i < count; ++i) {
    const auto [handle, name] = request_at(raw, i);
    if (RawRequest* request = model_.request(handle, id_of(seen, name, i))) request->active = true;
  }
}

}  // namespace chameleon::analysis
