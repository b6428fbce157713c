// SPDX-License-Identifier: BSD-3-Clause
// Statuses: the record has every one whole; the trace holds what the posting does not tell.
#include "analysis/verify_events.h"
#include "analysis/verify_text.h"
#include "mpi/event_layout.h"

namespace chameleon::analysis {

void Comparison::statuses(const RawEvent& raw, const RawValue& token, const Param& param,
                          const SeenEvent& seen) {
  const CallInfo& info = *plans_[call_].info;
  if (static_cast<std::size_t>(param.field) + 2 >= seen.view.values.size()) return;
  const bool many = token.shape != RawValue::Shape::kStatus;
  const std::size_t statuses = many ? token.count / 4 : 1;
  const bool failed = !took_place(raw, &info);
  const bool completes = has(info, Attribute::kCompletes);
  const bool probes = has(info, Attribute::kProbe);
  RawRequest own;
  if (!completes) {
    own = model_.posted(raw, id_of(&seen, "message", 0));
    if (probes && raw.number("flag", 1) == 0) own.active = false;
  }
  StatusParts same;
  for (std::size_t i = 0; i < statuses; ++i) {
    const RawRequest* posted = completes ? request_of_status(raw, &seen, i) : &own;
    compare_status(raw.status(token, i), failed || !has_ended(raw, i) ? nullptr : posted,
                   seen_status(seen, param, many, i), probes, same);
  }
  judge_statuses(token, param, seen, same);
}

Comparison::SeenStatus Comparison::seen_status(const SeenEvent& seen, const Param& param, bool many,
                                               std::size_t i) const {
  const auto at = static_cast<std::size_t>(param.field);
  const std::vector<std::int64_t>& values = seen.view.values;
  if (!many) return {seen.view.end_point(at), values[at + 1], values[at + 2], seen.place};
  SeenStatus status;
  status.place = seen.status_place(i);
  const auto element = [&](int part) -> const std::int64_t* {
    const std::span<const std::int64_t> column = array(seen, param.field + part);
    return i < column.size() ? &column[i] : nullptr;
  };
  if (const std::int64_t* source = element(0)) status.source = {EndPointForm::kRelative, *source};
  if (const std::int64_t* tag = element(1)) status.tag = *tag;
  if (const std::int64_t* bytes = element(2)) status.bytes = *bytes;
  return status;
}

/// `posted`: what the record says the receive asked for; null if the status says nothing.
void Comparison::compare_status(const RawStatus& got, const RawRequest* posted,
                                const SeenStatus& seen, bool probes, StatusParts& same) const {
  const bool has_source = seen.has_source();
  const bool has_tag = seen.tag != kNotRecorded, has_bytes = seen.bytes != kNotRecorded;
  if (posted == nullptr || !posted->receives || !posted->active || got.cancelled != 0) {
    same.source = same.source && !has_source;
    same.tag = same.tag && !has_tag;
    same.bytes = same.bytes && !has_bytes;
    return;
  }
  if (posted->source == model_.proc_null) {
    // The source alone says what the status is, and nothing of it need be told. Some MPIs leave it
    // as it was. What is told, of a rank that has a partner, is wrong on its own account.
    same.source = same.source && (!has_source || end_point_matches(got.source, seen.source,
                                                                   seen.place, posted->comm));
    same.tag = same.tag && (!has_tag || seen.tag == got.tag);
    same.bytes = same.bytes && (!has_bytes || seen.bytes == got.bytes);
    return;
  }
  if (posted->transfers) {
    const std::int64_t said = has_bytes ? seen.bytes : posted->bytes;
    same.source = same.source && !has_source;
    same.tag = same.tag && !has_tag;
    same.bytes = same.bytes && (said == -1 || said == got.bytes);
    return;
  }
  same.source = same.source &&
                (has_source ? end_point_matches(got.source, seen.source, seen.place, posted->comm)
                            : got.source == posted->source);
  same.tag = same.tag && got.tag == (has_tag ? seen.tag : posted->tag);
  const bool as_posted = !probes && (posted->bytes == -1 || got.bytes == posted->bytes);
  same.bytes = same.bytes && (has_bytes ? seen.bytes == got.bytes : as_posted);
}

void Comparison::judge_statuses(const RawValue& token, const Param& param, const SeenEvent& seen,
                                const StatusParts& same) {
  const auto at = static_cast<std::size_t>(param.field);
  const bool many = token.shape != RawValue::Shape::kStatus;
  const auto text = [&](int part) {
    if (many) return list_text(array(seen, param.field + part));
    if (part == 0) return end_point_text(seen.view.end_point(at), seen.place);
    return number_text(seen.view.values[at + static_cast<std::size_t>(part)]);
  };
  const auto judge = [&](const char* name, Column column, bool matched, int part) {
    count(column, matched);
    if (!matched)
      mismatch(column, param.name + name, std::string(token.text.substr(0, 80)), text(part));
  };
  judge(".source", Column::kSource, same.source, 0);
  judge(".tag", Column::kTag, same.tag, 1);
  judge(".bytes", Column::kCount, same.bytes, 2);
}

}  // namespace chameleon::analysis
