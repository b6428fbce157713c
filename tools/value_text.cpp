// SPDX-License-Identifier: BSD-3-Clause
#include "value_text.h"

#include <array>
#include <string_view>

#include "common.h"
#include "mpi/error_class.h"

namespace chameleon::tools {
namespace {

constexpr std::size_t kMostElements = 8;
constexpr std::size_t kMostGroups = 3;
constexpr std::size_t kMostTerms = 12;
constexpr std::size_t kUnlimited = 1000000;

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

bool is_status_part(const Field& field) {
  return ends_with(field.name, ".source") || ends_with(field.name, ".tag") ||
         ends_with(field.name, ".bytes");
}

/// It did not count in this call, or follows from another value.
bool is_not_recorded(const Field& field, std::int64_t value) {
  return field.stored == FieldKind::kPlain && value == kNotRecorded && !is_status_part(field);
}

std::string special_text(std::int32_t code) {
  switch (static_cast<SpecialRank>(code)) {
    case SpecialRank::kNone: return "-";
    case SpecialRank::kProcNull: return "PROC_NULL";
    case SpecialRank::kAnySource: return "ANY";
    case SpecialRank::kRoot: return "ROOT";
    case SpecialRank::kUndefined: return "UNDEFINED";
  }
  return "special " + std::to_string(code);
}

std::string signed_text(std::int64_t value) {
  return (value < 0 ? "" : "+") + std::to_string(value);
}

/// Relative where it stands for itself: dest and source say `+1`, a root `0`.
EndPointForm reading(const Field& field, EndPointForm form) {
  if (form != EndPointForm::kBoth) return form;
  return field.kind == "root" ? EndPointForm::kAbsolute : EndPointForm::kRelative;
}

std::int64_t project(EndPointForm form, std::int64_t packed) {
  return form == EndPointForm::kRelative ? packed_relative(packed) : packed_absolute(packed);
}

/// Replaces each value in the text of a sequence by `text(value)`; counts (`x3`)
/// and strides (`:8`) stay.
std::string with_values(const std::string& sequence,
                        const std::function<std::string(std::int64_t)>& text) {
  std::string result;
  for (std::size_t at = 0; at < sequence.size();) {
    const bool minus = sequence[at] == '-' && at + 1 < sequence.size() && sequence[at + 1] >= '0' &&
                       sequence[at + 1] <= '9';
    const bool digit = sequence[at] >= '0' && sequence[at] <= '9';
    if (!minus && !digit) {
      result += sequence[at++];
      continue;
    }
    std::size_t end = at + 1;
    while (end < sequence.size() && sequence[end] >= '0' && sequence[end] <= '9') ++end;
    const std::string number = sequence.substr(at, end - at);
    const char before = at == 0 ? ' ' : sequence[at - 1];
    result += before == 'x' || before == ':' ? number
                                             : text(static_cast<std::int64_t>(std::stoll(number)));
    at = end;
  }
  return result;
}

/// Unless it is one loop, which has its own: `(1,2)x5`.
std::string in_parentheses(const std::string& terms) {
  int depth = 0;
  for (std::size_t at = 0; at < terms.size(); ++at) {
    if (terms[at] == '(') ++depth;
    if (terms[at] == ')') --depth;
    if (depth == 0 && terms[at] == ',') return "(" + terms + ")";
  }
  return !terms.empty() && terms.front() == '(' ? terms : "(" + terms + ")";
}

/// Keeps an arrow and a minus apart.
std::string arrow(const char* sign, const std::string& value) {
  return std::string(sign) + (value.front() == '-' ? " " : "") + value;
}

}  // namespace

std::string ValueText::end_point(EndPointForm form, std::int64_t value) const {
  const EndPoint point{form, value};
  if (const std::int32_t code = point.special()) return special_text(code);
  return form == EndPointForm::kRelative ? signed_text(value) : std::to_string(value);
}

std::string ValueText::object(const std::string& kind, std::int64_t id) const {
  if (kind == "comm" && id == 0) return "WORLD";
  if (kind == "comm" && id == 1) return "SELF";
  if (kind == "request") return id == -1 ? "NULL" : std::to_string(id);
  if (id == -1) return "NULL";
  if (kind == "group" && id == -2) return "EMPTY";
  if (id <= -2) {
    const auto list = trace_.predefined.find(kind);
    const auto place = static_cast<std::uint64_t>(-2 - id);
    if (list != trace_.predefined.end() && place < list->second.size())
      return list->second[place].name;
    return "predefined " + kind + " " + std::to_string(place);
  }
  return kind + " " + std::to_string(id);
}

std::string ValueText::array(const Field& field, std::int64_t key) const {
  const auto found = trace_.arrays.find(static_cast<std::uint64_t>(key));
  if (found == trace_.arrays.end()) return "[?]";
  const auto& elements = found->second;
  if (field.kind == "string") {
    std::string text = "\"";
    for (const std::int64_t element : elements)
      text += element >= 32 && element < 127 ? static_cast<char>(element) : '?';
    return text + "\"";
  }
  Field element = field;
  element.stored = FieldKind::kPlain;
  const bool relative = ends_with(field.name, ".source");
  std::string text = "[";
  for (std::size_t i = 0; i < elements.size(); ++i) {
    if (i != 0) text += ",";
    if (!all_ && i == kMostElements && elements.size() > kMostElements + 1) {
      text += "... " + std::to_string(elements.size()) + " in all";
      break;
    }
    text += relative ? end_point(EndPointForm::kRelative, elements[i])
                     : value(element, EndPointForm::kAbsolute, elements[i]);
  }
  return text + "]";
}

std::string ValueText::value(const Field& field, EndPointForm form, std::int64_t value) const {
  if (field.stored == FieldKind::kArray) return array(field, value);
  if (field.stored == FieldKind::kEndPoint) {
    const EndPointForm as = reading(field, form);
    return end_point(as, form == EndPointForm::kBoth ? project(as, value) : value);
  }
  if (value == kNotRecorded) return "-";
  constexpr std::array kObjects = {"comm", "datatype",   "op",      "group",   "win",     "file",
                                   "info", "errhandler", "request", "message", "session", "keyval"};
  for (const char* kind : kObjects)
    if (field.kind == kind) return object(field.kind, value);
  if (field.kind == "error") return mpi::error_name(value);
  if (field.kind == "tag" && value < 0) return "ANY";
  if (is_time(field)) return duration_text(static_cast<double>(time_ns(field, value)));
  if (field.kind == "buffer") {
    constexpr std::array kBuffers = {"ordinary", "MPI_IN_PLACE", "MPI_BOTTOM", "null"};
    if (value >= 0 && value < static_cast<std::int64_t>(kBuffers.size()))
      return kBuffers[static_cast<std::size_t>(value)];
  }
  return std::to_string(value);
}

std::string ValueText::sequence(const Field& field, EndPointForm form,
                                const ValueSequence& values) const {
  if (values.empty()) return "-";
  if (values.is_constant()) return value(field, form, values.front());
  const std::size_t most = all_ ? kUnlimited : kMostTerms;
  if (field.stored == FieldKind::kEndPoint && form == EndPointForm::kBoth) {
    const EndPointForm as = reading(field, form);
    return in_parentheses(with_values(values.map_linear(ProjectEndPoint{as}).to_string(most),
                                      [&](std::int64_t one) { return end_point(as, one); }));
  }
  return in_parentheses(with_values(values.to_string(most),
                                    [&](std::int64_t one) { return value(field, form, one); }));
}

std::string ValueText::param(const Field& field, const Param& param, const RankList& ranks) const {
  struct Group {
    RankList ranks;
    std::string text;
  };
  std::vector<Group> groups;
  param.for_each_group(
      ranks, [&](const RankList& of, EndPointForm form, const ValueSequence& values) {
        RankList mine = of.intersection(ranks);
        if (mine.empty()) return;
        // Where an argument does not count nothing is said of it.
        if (values.is_constant() && is_not_recorded(field, values.front())) return;
        bool silent = values.is_constant() && says_nothing(trace_, field, form, values.front());
        groups.push_back({std::move(mine), silent ? "" : sequence(field, form, values)});
      });
  if (groups.empty()) return "";
  bool same = true;
  for (const Group& group : groups) same = same && group.text == groups.front().text;
  if (same) return groups.front().text;
  std::string text = "{";
  const std::size_t most = all_ ? groups.size() : kMostGroups;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (i != 0) text += " | ";
    if (i == most && groups.size() > most + 1) {
      text += "... " + std::to_string(groups.size()) + " groups";
      break;
    }
    text += streams_text(trace_, groups[i].ranks) + ": " +
            (groups[i].text.empty() ? "-" : groups[i].text);
  }
  return text + "}";
}

bool says_nothing(const Trace& trace, const Field& field, EndPointForm form, std::int64_t value) {
  if (field.stored == FieldKind::kArray) {
    const auto array = trace.arrays.find(static_cast<std::uint64_t>(value));
    if (array == trace.arrays.end()) return false;
    if (array->second.empty()) return true;
    if (!is_status_part(field)) return false;
    const bool source = ends_with(field.name, ".source");
    for (const std::int64_t element : array->second)
      if (source ? EndPoint{EndPointForm::kRelative, element}.special() !=
                       static_cast<std::int32_t>(SpecialRank::kNone)
                 : element != kNotRecorded)
        return false;
    return true;
  }
  if (field.stored == FieldKind::kEndPoint)
    return EndPoint{form, value}.special() == static_cast<std::int32_t>(SpecialRank::kNone);
  if (value == kNotRecorded) return true;
  if (field.name == "return" || field.kind == "buffer" || field.kind == "pointer")
    return value == 0;
  return field.kind == "function";
}

std::string call_text(const CallDescription& call,
                      const std::function<std::string(std::size_t)>& text) {
  // A call with two buffers (MPI_Sendrecv) reads as two messages.
  struct Message {
    std::string partner, tag, data, rest;
  };
  std::vector<Message> messages(1);
  std::string communicator, count;
  const auto add = [](std::string& to, const std::string& words) {
    if (words.empty()) return;
    if (!to.empty()) to += "  ";
    to += words;
  };
  for (std::size_t i = 0; i < call.fields.size(); ++i) {
    const Field& field = call.fields[i];
    if (is_time(field) || field.kind == "path") continue;  // shown as times and place
    if (field.kind == "buffer" && !messages.back().data.empty()) messages.emplace_back();
    Message& message = messages.back();
    if (!count.empty() && field.kind != "datatype") {  // a count of something else
      add(message.rest, "count=" + count);
      count.clear();
    }
    const bool scalar = field.stored != FieldKind::kArray;
    const std::string value = text(i);
    if (value.empty()) continue;
    if (is_status_part(field)) {
      add(message.rest, field.name + "=" + value);
    } else if (scalar && field.kind == "dest") {
      add(message.partner, arrow("->", value));
    } else if (scalar && field.kind == "source") {
      add(message.partner, arrow("<-", value));
    } else if (scalar && (field.kind == "root" || field.kind == "rank")) {
      add(message.partner, field.kind + " " + value);
    } else if (scalar && field.kind == "tag") {
      add(message.tag, "tag " + value);
    } else if (scalar && field.kind == "count" && count.empty()) {
      count = value;
    } else if (scalar && field.kind == "datatype" && !count.empty()) {
      add(message.data, count + " x " + value);
      count.clear();
    } else if (scalar && field.kind == "op") {
      add(message.data, value);
    } else if (field.name == "comm" && communicator.empty()) {
      communicator = "on " + value;
    } else if (field.kind == "buffer") {
      add(message.rest,
          value == "MPI_IN_PLACE" || value == "MPI_BOTTOM" ? value : field.name + "=" + value);
    } else {
      add(message.rest, field.name + "=" + value);
    }
  }
  if (!count.empty()) add(messages.back().rest, "count=" + count);
  std::string line;
  for (const Message& message : messages)
    for (const std::string* part : {&message.partner, &message.tag, &message.data, &message.rest})
      add(line, *part);
  add(line, communicator);
  return line;
}

}  // namespace chameleon::tools
