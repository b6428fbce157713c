// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Which groups of a parameter have the same values, in any reading that both still have, when
/// ranks are merged.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "model/end_point.h"
#include "model/param.h"
#include "model/param_groups.h"
#include "model/value_sequence.h"

namespace chameleon::inline model {

/// In the order in which they are looked for.
inline constexpr EndPointForm kReadings[] = {EndPointForm::kBoth, EndPointForm::kRelative,
                                             EndPointForm::kAbsolute};

/// Values of form `present` read as `form`, if they still have that reading.
std::optional<ValueSequence> reading(const ValueSequence& values, EndPointForm present,
                                     EndPointForm form);

/// Finds groups by what they hold in each reading. 24 bytes a group of end-points, else 12.
class GroupIndex {
 public:
  /// For these, and as many as `more` to come.
  GroupIndex(ParamGroups& groups, std::size_t more, FieldKind kind);

  /// Its ranks become those of a group with the same values, or it is one more.
  void absorb(ParamGroup&& group);

 private:
  struct Slot {
    std::uint32_t key = 0, place = 0;  ///< the latter counts from 1: there is none at 0
  };

  bool end_points() const { return kind_ == FieldKind::kEndPoint; }
  std::span<const EndPointForm> forms() const {
    return {kReadings, end_points() ? std::size_t{3} : std::size_t{1}};
  }
  /// Where values are the same in both readings, they are so in the relative one.
  std::span<const EndPointForm> indexed() const {
    return end_points() ? forms().subspan(1) : forms();
  }
  template <class F>
  bool look(std::uint64_t key, F f);
  void add(const ParamGroup& group, std::uint32_t place);
  bool join(const ParamGroup& group, EndPointForm form);

  ParamGroups& groups_;
  FieldKind kind_;
  std::vector<Slot> slots_;
};

}  // namespace chameleon::inline model
