// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/datatypes.h"

#include <algorithm>

#include "analysis/communicators.h"

namespace chameleon::analysis {

Datatypes::Datatypes(const Trace& trace) : trace_(&trace) {
  const auto list = trace.predefined.find("datatype");
  if (list != trace.predefined.end()) predefined_ = &list->second;
}

std::int64_t Datatypes::size(std::int64_t type, std::uint32_t thread) const {
  if (type <= -2) {
    const auto place = static_cast<std::size_t>(-2 - type);
    return predefined_ != nullptr && place < predefined_->size()
               ? static_cast<std::int64_t>((*predefined_)[place].size)
               : kUnknownSize;
  }
  const std::int64_t place = place_of_object(type, trace_->threads);
  if (place < 0 || static_cast<std::size_t>(place) >= sizes_.size()) return kUnknownSize;
  if (!doubted_.empty() && doubted_.contains(place) && object_thread(type) != thread)
    return kUnknownSize;
  return std::max(sizes_[static_cast<std::size_t>(place)], kUnknownSize);
}

std::int64_t Datatypes::bytes(std::int64_t count, std::int64_t type, std::uint32_t thread) const {
  if (count == 0) return 0;
  const std::int64_t one = size(type, thread);
  std::int64_t all = 0;
  if (count < 0 || one < 0 || __builtin_mul_overflow(count, one, &all)) return kUnknownSize;
  return all;
}

Element Datatypes::element(std::int64_t type, std::uint32_t thread) const {
  if (type <= -2) return static_cast<Element>(-2 - type);
  const std::int64_t place = place_of_object(type, trace_->threads);
  if (place < 0 || static_cast<std::size_t>(place) >= elements_.size()) return kMixed;
  if (!doubted_.empty() && doubted_.contains(place) && object_thread(type) != thread) return kMixed;
  return elements_[static_cast<std::size_t>(place)];
}

/// That of the types which the constructor puts together, if they have one.
Element Datatypes::element_made(const CallDescription& call, const CallPlan& plan,
                                const EventView& event, std::uint32_t thread) const {
  Element common = kMixed;
  bool first = true, same = true;
  const auto add = [&](std::int64_t type) {
    const Element one = element(type, thread);
    same = same && one != kMixed && (first || one == common);
    common = one;
    first = false;
  };
  for (std::size_t i = 0; i < call.fields.size(); ++i) {
    if (call.fields[i].kind != "datatype" || static_cast<int>(i) == plan.new_type) continue;
    if (call.fields[i].stored != FieldKind::kArray)
      add(event.values[i]);
    else
      for (const std::int64_t type : array_of(*trace_, event.values[i])) add(type);
  }
  return same ? common : kMixed;
}

void Datatypes::apply(const CallDescription& call, const CallPlan& plan, const EventView& event,
                      std::uint32_t thread) {
  const auto value = [&](const char* name) {
    const int field = field_index(call, name);
    return field < 0 ? -1 : event.values[static_cast<std::size_t>(field)];
  };
  const std::int64_t id = event.values[static_cast<std::size_t>(plan.new_type)];
  const std::int64_t made = place_of_object(id, trace_->threads);
  if (made < 0 || made >= kMost) return;
  const std::int64_t bytes = constructed_size(
      plan.info, value,
      [&](const char* name) -> std::span<const std::int64_t> {
        if (field_index(call, name) < 0) return {};
        return array_of(*trace_, value(name));
      },
      [&](std::int64_t type) { return size(type, thread); });
  const Element element = element_made(call, plan, event, thread);
  if (sizes_.size() <= static_cast<std::size_t>(made)) {
    sizes_.resize(static_cast<std::size_t>(made) + 1, kNoType);
    elements_.resize(sizes_.size(), kMixed);
  }
  elements_[static_cast<std::size_t>(made)] = element;
  std::int64_t& known = sizes_[static_cast<std::size_t>(made)];
  if (known != kNoType && known != bytes) resized_.insert(made);
  known = bytes;
}

}  // namespace chameleon::analysis
