// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Values in arithmetic progression, one for each of some ranks in ascending order: the key of
/// MPI_Comm_split, the tag of a worker. A job of a million ranks would have as many groups.

#include <cstdint>
#include <optional>

#include "model/end_point.h"
#include "model/param_groups.h"
#include "model/rank_list.h"
#include "model/value_sequence.h"

namespace chameleon::inline model {

struct ParamSpread {
  static constexpr std::size_t kFewest = 16;  ///< ranks; fewer are groups

  RankList ranks;
  EndPointForm form = EndPointForm::kBoth;
  std::int64_t first = 0, stride = 0;  ///< the latter within 32 bits and not 0: no two are equal
  std::uint64_t times = 1;             ///< that each rank has its value

  /// Whether the same ranks have the same values, however often.
  bool is_like(const ParamSpread& other) const {
    return first == other.first && stride == other.stride && form == other.form &&
           ranks == other.ranks;
  }
  /// The value of the rank at this place among them.
  std::int64_t at(std::uint64_t place) const {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(first) +
                                     static_cast<std::uint64_t>(stride) * place);
  }
  /// Calls `f(rank, value)` in ascending order.
  template <class F>
  void for_each(F f) const {
    std::uint64_t place = 0;
    ranks.for_each([&](std::uint32_t rank) { f(rank, at(place++)); });
  }
  /// The rank's value; nothing if it has none. O(runs).
  std::optional<std::int64_t> value_of(std::uint32_t rank) const;
  /// All values once, in the order of ranks.
  ValueSequence values() const;
  ParamGroups groups() const;

  /// Adds ranks above all of it whose values continue it; false, and nothing added, if they do not.
  bool extend(const ParamSpread& next);
  /// The same of a group of one rank.
  bool extend(const RankList& of, EndPointForm of_form, const ValueSequence& of_values);

  /// Groups in ascending order of one rank each, if they are such a progression and not few.
  static std::optional<ParamSpread> of(const ParamGroups& groups);
  /// The same of ranks and their values, in the same order, each `times` times.
  static std::optional<ParamSpread> of(const RankList& ranks, EndPointForm form,
                                       const ValueSequence& values, std::uint64_t times);
};

}  // namespace chameleon::inline model
