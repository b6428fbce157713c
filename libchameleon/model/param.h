// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// One parameter of an event, over all ranks and iterations that execute it: a
/// map *ranks -> value sequence*. As long as all ranks agree (always, before
/// ranks are merged) there is one sequence; afterwards a group for each distinct
/// sequence, or a spread (param_spread.h) instead of a group for each rank.
/// End-points keep the reading (absolute, relative) that ranks share.

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "model/end_point.h"
#include "model/param_spread.h"
#include "model/rank_list.h"
#include "model/value_sequence.h"

namespace chameleon::inline model {

/// The properties of a stored value that the trace model uses.
enum class FieldKind : std::uint8_t {
  kPlain = 0,     ///< a number
  kEndPoint = 1,  ///< a partner, see end_point.h
  kArray = 2,     ///< the content hash of an array in the trace's array table
};

/// A number for each of some ranks; none is in two of them.
struct RankCount {
  RankList ranks;
  std::uint64_t count;
};
using RankCounts = std::vector<RankCount>;

class Param {
 public:
  Param() = default;
  explicit Param(ValueSequence values) : values_(std::move(values)) {}
  Param(const Param& other) { *this = other; }
  Param(Param&&) noexcept = default;
  Param& operator=(const Param& other);
  Param& operator=(Param&&) noexcept = default;

  /// The only sequence; valid while `!grouped()`.
  ValueSequence& values() { return values_; }
  const ValueSequence& values() const { return values_; }
  EndPointForm form() const { return form_; }
  bool grouped() const { return groups_ != nullptr; }
  /// Null unless one stands for groups.
  const ParamSpread* spread() const {
    return groups_ && groups_->spread ? &*groups_->spread : nullptr;
  }
  /// Valid while `grouped()` and not a spread.
  const ParamGroups& groups() const { return groups_->list; }

  /// Calls f(ranks, form, values) for each group; `all` stands for the ranks of an only one. They
  /// may be gone after `f`.
  template <class F>
  void for_each_group(const RankList& all, F f) const {
    if (!groups_) return f(all, form_, values_);
    if (const ParamSpread* one = spread())
      return one->for_each([&](std::uint32_t rank, std::int64_t value) {
        f(RankList::single(rank), one->form, ValueSequence(value, one->times));
      });
    for (const ParamGroup& group : groups_->list) f(group.ranks, group.form, group.values);
  }

  /// The group `rank` belongs to: its values and form, or null. `own` holds the values where the
  /// parameter does not. O(groups) at worst.
  const ValueSequence* find(std::uint32_t rank, EndPointForm& form, ValueSequence& own) const;

  /// A parameter of the same groups whose every value is 1: iteration counts of
  /// a loop put around what was executed once.
  Param ones() const;

  /// Joins in time: what the same ranks did next. Groups are split to those both
  /// have, and end-points put in a reading both have. Requires `can_append` where
  /// forms or groups may differ. O(terms of `later`), and of what is split.
  void append(Param&& later, const RankList& mine, const RankList& theirs);
  /// Whether every rank's end-points have a common reading, groups do not overlap,
  /// and what must be split is small. O(intervals log groups), memory O(groups).
  bool can_append(const Param& later, const RankList& mine, const RankList& theirs) const;

  /// For iteration counts of the same ranks: adds `more`, one visit for each rank, to the last
  /// visit, which continues. Requires `can_extend_last`.
  void extend_last(const Param& more, const RankList& mine, const RankList& theirs);
  /// Whether each rank has a last visit and one more value, and their sum is a count.
  bool can_extend_last(const Param& more, const RankList& mine, const RankList& theirs) const;

  /// Removes the last values of each rank in `ranks`, as many as `counts` says, and returns them.
  /// Each rank must have that many.
  Param take_last(const RankList& ranks, const RankCounts& counts);
  bool each_has(const RankList& ranks, const RankCounts& counts) const;

  /// Joins across ranks: `mine` and `theirs` are disjoint. Equal sequences
  /// share a group. O(groups), with hashing.
  void merge(Param&& other, const RankList& mine, const RankList& theirs, FieldKind kind);

  /// Drops the reading of end-points that is not needed: relative for partners,
  /// absolute for roots. Lossless. Call once, when merging is over.
  void canonicalize(bool prefer_relative);

  void set_groups(ParamGroups groups);
  void set_spread(ParamSpread spread);
  void set_form(EndPointForm form) { form_ = form; }

 private:
  struct Groups {
    ParamGroups list;
    std::optional<ParamSpread> spread;  ///< instead of the list
  };
  /// For two parameters without groups: takes the first reading in which their values are the same.
  bool share_reading(const Param& other);
  ParamGroups take_groups(const RankList& ranks);
  bool spread_like(const Param& other) const;
  bool extend_spread(const Param& other, const RankList& theirs);
  /// With groups in place of a spread.
  void take_apart();
  Param apart() const;
  template <class F>
  void take_common(Param later, const RankList& mine, const RankList& theirs, F f);

  ValueSequence values_;
  EndPointForm form_ = EndPointForm::kBoth;
  std::unique_ptr<Groups> groups_;
};

/// Groups as they are kept: a spread is one.
inline std::uint64_t group_count(const Param& param) {
  return param.grouped() && param.spread() == nullptr ? param.groups().size() : 1;
}

}  // namespace chameleon::inline model
