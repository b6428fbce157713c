// SPDX-License-Identifier: BSD-3-Clause
#include "model/group_index.h"

#include <utility>

#include "base/hash.h"

namespace chameleon::inline model {
namespace {

std::optional<ValueSequence> reading_of(const ParamGroup& group, EndPointForm form) {
  return reading(group.values, group.form, form);
}

std::uint64_t key_of(EndPointForm form, const ValueSequence& values) {
  return mix(combine(values.hash(), static_cast<std::uint64_t>(form)));
}

}  // namespace

std::optional<ValueSequence> reading(const ValueSequence& values, EndPointForm present,
                                     EndPointForm form) {
  if (present == form) return values;
  if (present == EndPointForm::kBoth) return values.map_linear(ProjectEndPoint{form});
  return std::nullopt;
}

GroupIndex::GroupIndex(ParamGroups& groups, std::size_t more, FieldKind kind)
    : groups_(groups), kind_(kind), slots_((groups.size() + more) * indexed().size() * 3 / 2 + 1) {
  std::uint32_t place = 0;
  for (const ParamGroup& group : groups_) add(group, place++);
}

void GroupIndex::absorb(ParamGroup&& group) {
  for (const EndPointForm form : forms())
    if (join(group, form)) return;
  add(group, static_cast<std::uint32_t>(groups_.size()));
  groups_.push(std::move(group));
}

/// Calls `f(slot)` for those that a key may be in, the last one unused, until it gives true.
template <class F>
bool GroupIndex::look(std::uint64_t key, F f) {
  std::size_t at = (key >> 32) * slots_.size() >> 32;
  while (!f(slots_[at])) {
    if (slots_[at].place == 0) return false;
    if (++at == slots_.size()) at = 0;
  }
  return true;
}

void GroupIndex::add(const ParamGroup& group, std::uint32_t place) {
  for (const EndPointForm form : indexed())
    if (const auto values = reading_of(group, form)) {
      const std::uint64_t key = key_of(form, *values);
      look(key, [&](Slot& slot) {
        if (slot.place != 0) return false;
        slot = {static_cast<std::uint32_t>(key), place + 1};
        return true;
      });
    }
}

/// Whether a group has the same values in that reading; then it has these ranks too.
bool GroupIndex::join(const ParamGroup& group, EndPointForm form) {
  const auto values = reading_of(group, form);
  if (!values) return false;
  const bool by_relative = end_points() && form == EndPointForm::kBoth;
  const std::uint64_t key =
      by_relative ? key_of(EndPointForm::kRelative, *reading_of(group, EndPointForm::kRelative))
                  : key_of(form, *values);
  return look(key, [&](const Slot& slot) {
    if (slot.place == 0 || slot.key != static_cast<std::uint32_t>(key)) return false;
    ParamGroup& same = groups_.open(slot.place - 1);
    auto present = reading_of(same, form);
    if (!present || !(*present == *values)) return false;
    if (same.form != form) same.values = std::move(*present);
    same.form = form;
    groups_.add_ranks(slot.place - 1, group.ranks);
    return true;
  });
}

}  // namespace chameleon::inline model
