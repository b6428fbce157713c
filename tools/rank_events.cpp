// SPDX-License-Identifier: BSD-3-Clause
#include "rank_events.h"

#include <optional>

namespace chameleon::tools {
namespace {

std::optional<std::int64_t> number(const CallDescription& call, const EventView& event,
                                   std::string_view name) {
  const int field = field_index(call, name);
  if (field < 0) return std::nullopt;
  return event.values[static_cast<std::size_t>(field)];
}

}  // namespace

RankEvents::Place RankEvents::place_of(std::int64_t comm) const {
  const Communicator* found = communicators_.find(comm);
  if (found == nullptr) return {};
  return {found->self, found->peers().count};
}

RankEvents::Place RankEvents::place_of_request(const CallDescription& call,
                                               const EventView& event) const {
  std::optional<std::int64_t> slot = number(call, event, "request");
  if (!slot) {  // Waitany, Testany
    const auto requests = number(call, event, "array_of_requests");
    const auto index = number(call, event, field_index(call, "indx") >= 0 ? "indx" : "index");
    if (!requests || !index) return {};
    const auto slots = array_of(trace_, *requests);
    if (*index < 0 || static_cast<std::size_t>(*index) >= slots.size()) return {};
    slot = slots[static_cast<std::size_t>(*index)];
  }
  const auto found = requests_.find(*slot);
  return found == requests_.end() ? Place{} : found->second;
}

std::string RankEvents::statuses(const CallDescription& call, const EventView& event,
                                 std::int64_t key) const {
  const auto sources = array_of(trace_, key);
  const auto requests = number(call, event, "array_of_requests");
  const auto slots = requests ? array_of(trace_, *requests) : std::span<const std::int64_t>();
  const auto some = number(call, event, "array_of_indices");
  const auto indices = some ? array_of(trace_, *some) : std::span<const std::int64_t>();
  std::string text = "[";
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const EndPoint source{EndPointForm::kRelative, sources[i]};
    std::size_t at = i;
    if (some) at = i < indices.size() ? static_cast<std::size_t>(indices[i]) : slots.size();
    const auto place = at < slots.size() ? requests_.find(slots[at]) : requests_.end();
    if (i != 0) text += ",";
    if (source.special() == static_cast<std::int32_t>(SpecialRank::kNone))
      text += "-";
    else if (source.special() != 0 || place == requests_.end())
      text += std::to_string(sources[i]);
    else
      text += std::to_string(source.rank(place->second.self, place->second.size));
  }
  return text + "]";
}

std::string RankEvents::line(const CallDescription& call, const EventView& event,
                             const ValueText& text) {
  const auto comm = number(call, event, "comm");
  const Place place = comm ? place_of(*comm) : place_of_request(call, event);
  std::string line = call_text(call, [&](std::size_t i) -> std::string {
    if (i >= event.values.size()) return "";
    const Field& field = call.fields[i];
    const std::int64_t value = event.values[i];
    if (says_nothing(trace_, field, event.forms[i], value)) return "";
    if (field.stored == FieldKind::kArray && field.name == "array_of_statuses.source")
      return statuses(call, event, value);
    if (field.stored != FieldKind::kEndPoint || place.size == 0)
      return text.value(field, event.forms[i], value);
    const EndPoint point = event.end_point(i);
    if (point.special() != 0) return text.value(field, event.forms[i], value);
    return std::to_string(point.rank(place.self, place.size));
  });
  if (comm && number(call, event, "request")) requests_[*number(call, event, "request")] = place;
  if (Communicators::changed_by(call)) communicators_.apply(trace_, call, event);
  return line;
}

}  // namespace chameleon::tools
