// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/verify_events.h"

#include <cstdio>
#include <optional>

#include "analysis/verify_text.h"
#include "mpi/event_layout.h"

namespace chameleon::analysis {
namespace {

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

/// Of calls that name no communicator.
constexpr CommPlace kNoPlace{0, 1};

/// Where the record's end-points are counted; nothing for a call that names no communicator.
std::optional<CommPlace> recorded_place(const RawEvent& raw, const RawModel& model,
                                        const CallInfo* info) {
  if (info != nullptr)
    for (const ParamInfo& param : params(*info))
      if (param.kind == Kind::kComm && param.direction == Direction::kIn)
        return model.place(raw.number(param.name, INT64_MIN));
  return std::nullopt;
}

}  // namespace

Comparison::Plan& Comparison::plan(const RawEvent& raw, const SeenEvent* seen) {
  Plan& plan = plans_[call_];
  bool fits =
      plan.params.size() == raw.values.size() && (seen == nullptr || plan.call == seen->call);
  for (std::size_t i = 0; fits && i < plan.params.size(); ++i)
    fits = plan.params[i].name == raw.values[i].name;
  if (fits) return plan;
  plan = Plan{};
  plan.info = find_call(raw.call);
  if (seen != nullptr) plan.call = seen->call;
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
    if (plan.call != nullptr)
      param.field = field_index(*plan.call,
                                param.kind == Kind::kStatus ? param.name + ".source" : param.name);
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

void Comparison::both(const RawEvent& raw, const SeenEvent& seen, Place place,
                      std::uint64_t number) {
  call_ = raw.call;
  number_ = number;
  count(Column::kEvents, true);
  kinds_ = place == Place::kDeclared ? std::uint32_t{kInexactAll} : seen.kinds;
  count(Column::kLoop, place == Place::kSame);
  kinds_ = seen.kinds;
  const Plan& plan = this->plan(raw, &seen);
  const CallInfo* info = plan.info;
  const bool failed = !took_place(raw, info);
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
  if (raw.path != 0) path(raw.path, seen.view.path);
  follow(raw, plan, &seen);
}

void Comparison::path(std::uint64_t called, std::uint64_t told) {
  count(Column::kPath, called == told);
  const auto text = [](std::uint64_t signature) {
    char digits[24];
    std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(signature));
    return std::string(digits);
  };
  if (called != told) mismatch(Column::kPath, "call path", text(called), text(told));
}

void Comparison::missing(const RawEvent& raw, std::uint32_t kinds, std::uint64_t number) {
  call_ = raw.call;
  // Kinds of values say nothing of an event that is not there.
  kinds_ = (kinds & kInexactEvents) != 0 ? std::uint32_t{kInexactAll} : 0;
  number_ = number;
  ++report_.missing_events;
  count(Column::kEvents, false);
  count(Column::kLoop, false);
  if (raw.path != 0) count(Column::kPath, false);
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

void Comparison::extra(const SeenEvent& seen, std::uint64_t number) {
  call_ = seen.call == nullptr ? "?" : seen.call->name;
  kinds_ = (seen.kinds & kInexactEvents) != 0 ? std::uint32_t{kInexactAll} : 0;
  number_ = number;
  ++report_.extra_events;
  mismatch(Column::kEvents, "", "not called", "called");
}

bool Comparison::end_point_matches(std::int64_t rank, const EndPoint& end, CommPlace place,
                                   std::optional<CommPlace> recorded) const {
  const Partner partner = resolve(end, place.or_else(recorded.value_or(kNoPlace)));
  if (rank == model_.proc_null) return partner.is(SpecialRank::kProcNull);
  if (rank == model_.any_source) return partner.is(SpecialRank::kAnySource);
  if (rank == model_.root) return partner.is(SpecialRank::kRoot);
  // A partner outside the communicator is an error of the program. How many ranks a window has is
  // not known: theirs are recorded as they are.
  if (rank < 0 || (recorded && rank >= recorded->size)) return partner.is(SpecialRank::kUndefined);
  return partner.special == 0 && partner.rank == rank;
}

std::span<const std::int64_t> Comparison::array(const SeenEvent& seen, int field) const {
  return array_of(trace_, seen.view.values[static_cast<std::size_t>(field)]);
}

bool Comparison::array_matches(const RawEvent& raw, const RawValue& token, const Param& param,
                               std::span<const std::int64_t> stored) {
  const std::span<const std::int64_t> given = raw.array(token);
  if (given.size() != stored.size()) return false;
  const bool one_by_one = param.kind == Kind::kRequest &&
                          (raw.find("indx") != nullptr || raw.find("array_of_indices") != nullptr);
  const CallInfo* info = plans_[call_].info;
  const bool made =
      param.direction == Direction::kOut && info != nullptr && has(*info, Attribute::kCreates);
  const auto same = [&](std::int64_t element, std::int64_t told) {
    if (!is_object(param.kind)) return element == told;
    if (made) return model_.create(param.kind, element, told);
    return model_.matches(param.kind, element, told) ||
           (one_by_one && model_.is_null(param.kind, element) && model_.has_ended(told));
  };
  bool matched = true;
  for (std::size_t i = 0; i < given.size(); ++i) matched = same(given[i], stored[i]) && matched;
  return matched;
}

void Comparison::value(const RawEvent& raw, const RawValue& token, const Param& param,
                       const SeenEvent& seen) {
  const auto at = static_cast<std::size_t>(param.field);
  if (param.field < 0) {
    count(param.column, false);
    return mismatch(param.column, param.name, std::string(token.text), "not recorded");
  }
  const Plan& plan = plans_[call_];
  const Field& field = seen.call->fields[at];
  const std::int64_t stored = seen.view.values[at];
  bool matched = false;
  std::string text;
  if (field.stored == FieldKind::kArray) {
    matched = token.shape == RawValue::Shape::kArray &&
              array_matches(raw, token, param, array(seen, param.field));
    if (!matched) text = list_text(array(seen, param.field));
  } else if (token.shape != RawValue::Shape::kNumber) {
    text = number_text(stored);
  } else if (field.stored == FieldKind::kEndPoint) {
    const EndPoint end = seen.view.end_point(at);
    const std::optional<CommPlace> recorded = recorded_place(raw, model_, plan.info);
    matched = end_point_matches(raw.scalar(token), end, seen.place, recorded);
    if (!matched) text = end_point_text(end, seen.place.or_else(recorded.value_or(kNoPlace)));
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

std::int64_t Comparison::id_of(const SeenEvent* seen, std::string_view name, std::size_t i) const {
  if (seen == nullptr) return RawModel::kUnknownId;
  const int field = field_index(*seen->call, name);
  if (field < 0) return RawModel::kUnknownId;
  const auto at = static_cast<std::size_t>(field);
  if (seen->call->fields[at].stored != FieldKind::kArray) return seen->view.values[at];
  const std::span<const std::int64_t> ids = array(*seen, field);
  return i < ids.size() ? ids[i] : RawModel::kUnknownId;
}

}  // namespace chameleon::analysis
