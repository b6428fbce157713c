// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/type_elements.h"

#include <string_view>

namespace chameleon::analysis {
namespace {

const Predefined* find(const Trace& trace, Element element) {
  const auto list = trace.predefined.find("datatype");
  if (element < 0 || list == trace.predefined.end()) return nullptr;
  const auto place = static_cast<std::size_t>(element);
  return place < list->second.size() ? &list->second[place] : nullptr;
}

enum class Class : std::uint8_t { kAny, kInteger, kFloating, kComplex, kPair };

Class class_of(std::string_view name) {
  const auto has = [&](std::string_view part) { return name.find(part) != name.npos; };
  for (const char* any : {"MPI_BYTE", "MPI_PACKED", "MPI_LB", "MPI_UB"})
    if (name == any) return Class::kAny;
  if (name.ends_with("_INT") && name != "MPI_INT" && name != "MPI_UNSIGNED_INT")
    return Class::kPair;
  if (name.starts_with("MPI_2")) return Class::kPair;
  if (has("COMPLEX")) return Class::kComplex;
  if (has("FLOAT") || has("DOUBLE") || has("REAL")) return Class::kFloating;
  return Class::kInteger;
}

}  // namespace

bool elements_agree(const Trace& trace, Element sent, Element received) {
  if (sent == received) return true;
  const Predefined* const a = find(trace, sent);
  const Predefined* const b = find(trace, received);
  if (a == nullptr || b == nullptr || a->size == 0 || b->size == 0) return true;
  const Class first = class_of(a->name), second = class_of(b->name);
  if (first == Class::kAny || second == Class::kAny) return true;
  return first == second && a->size == b->size;
}

std::string element_name(const Trace& trace, Element element) {
  const Predefined* const found = find(trace, element);
  return found == nullptr ? "several datatypes" : found->name;
}

}  // namespace chameleon::analysis
