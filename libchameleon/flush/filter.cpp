// SPDX-License-Identifier: BSD-3-Clause
#include "flush/filter.h"

#include "base/hash.h"

namespace chameleon::flush {

const char* filter_name(Filter filter) {
  return filter == Filter::kAuto ? "auto" : filter == Filter::kOn ? "on" : "off";
}

bool filter_of(std::string_view text, Filter& filter) {
  for (const Filter each : {Filter::kAuto, Filter::kOn, Filter::kOff})
    if (text == filter_name(each)) return filter = each, true;
  return false;
}

ValueKind kind_of(const Field& field) {
  if (field.kind == "count") return ValueKind::kCount;
  return field.kind == "tag" ? ValueKind::kTag : ValueKind::kOther;
}

bool travels(const Trace& trace, const Node& node, std::size_t param, ValueKinds kinds) {
  if (kinds == kAllValueKinds) return true;
  if (node.is_loop()) return has(kinds, ValueKind::kIterations);
  const auto call = trace.calls.find(node.call);
  if (call == trace.calls.end() || param >= call->second.fields.size())
    return has(kinds, ValueKind::kOther);
  const Field& field = call->second.fields[param];
  return field.stored == FieldKind::kEndPoint || has(kinds, kind_of(field));
}

void KindsSeen::add(ValueKind kind, std::uint64_t hash) {
  std::uint64_t& sum = hashes[static_cast<std::size_t>(kind)];
  sum = combine(sum, hash);
}

void KindsSeen::join(const KindsSeen& other) {
  differ = static_cast<ValueKinds>(differ | other.differ);
  for (std::size_t i = 0; i < kValueKinds; ++i)
    if (hashes[i] != other.hashes[i]) differ = static_cast<ValueKinds>(differ | 1U << i);
}

void KindsSeen::encode(ByteWriter& writer) const {
  for (const std::uint64_t hash : hashes) writer.u64(hash);
  writer.u8(differ);
}

KindsSeen KindsSeen::decode(ByteReader& reader) {
  KindsSeen seen;
  for (std::uint64_t& hash : seen.hashes) hash = reader.u64();
  seen.differ = reader.u8();
  if (seen.differ > kAllValueKinds) reader.fail();
  return seen;
}

}  // namespace chameleon::flush
