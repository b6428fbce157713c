// SPDX-License-Identifier: BSD-3-Clause
#include "rank_events.h"

namespace chameleon::tools {
namespace {

/// The communicator of the request that a status is of; null: not known.
const Communicator* comm_of_status(const FollowedEvent& event, int status) {
  for (const Completion& completion : event.completions)
    if (completion.status == status && completion.posting != nullptr)
      return completion.posting->comm.get();
  return nullptr;
}

std::string partner_text(const Field& field, const EndPoint& end, const Communicator* comm,
                         const ValueText& text) {
  const Partner partner = resolve(end, comm);
  if (partner.special == 0 && comm != nullptr) return std::to_string(partner.rank);
  return text.value(field, end.form, end.value);
}

std::string sources_text(const Follower& follower, const FollowedEvent& event, std::size_t at,
                         const ValueText& text) {
  Field element = event.call->fields[at];
  element.stored = FieldKind::kEndPoint;
  std::string list = "[";
  int status = 0;
  for (const std::int64_t source : follower.array(event, static_cast<int>(at))) {
    if (status != 0) list += ",";
    list += partner_text(element, {EndPointForm::kRelative, source}, comm_of_status(event, status),
                         text);
    ++status;
  }
  return list + "]";
}

}  // namespace

std::string event_text(const Follower& follower, const FollowedEvent& event,
                       const ValueText& text) {
  return call_text(*event.call, [&](std::size_t i) -> std::string {
    const Field& field = event.call->fields[i];
    const std::int64_t value = event.view.values[i];
    if (says_nothing(follower.trace(), field, event.view.forms[i], value)) return "";
    if (field.stored == FieldKind::kArray && field.name == "array_of_statuses.source")
      return sources_text(follower, event, i, text);
    if (field.stored == FieldKind::kEndPoint)
      return partner_text(field, event.view.end_point(i), event.comm, text);
    return text.value(field, event.view.forms[i], value);
  });
}

}  // namespace chameleon::tools
