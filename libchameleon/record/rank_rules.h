// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The user's rules as one rank has them: which values of its events they give.

#include <functional>
#include <optional>
#include <span>
#include <utility>

#include "record/arguments.h"
#include "signature/call_rules.h"

namespace chameleon::record {

class RankRules {
 public:
  /// What the communicator of this id looks like now; nothing if it is gone.
  using ShapeOf = std::function<std::optional<CommShape>(std::int64_t)>;

  /// `rules` must outlive it.
  RankRules(const signature::Rules& rules, ShapeOf shape_of)
      : calls_(rules), shape_of_(std::move(shape_of)) {}

  const std::vector<signature::RuledValue>& of(std::uint16_t call) const { return calls_.of(call); }
  /// Who made a call with these values; nobody if its communicator is gone or has two groups.
  std::optional<signature::RuleCaller> caller(std::uint16_t call,
                                              std::span<const std::int64_t> values) const {
    const int place = calls_.comm_place(call);
    if (place < 0 || static_cast<std::size_t>(place) >= values.size()) return std::nullopt;
    const auto shape = shape_of_(values[static_cast<std::size_t>(place)]);
    if (!shape || shape->inter) return std::nullopt;
    return calls_.caller(call, values, shape->self, shape->size);
  }
  /// Whether a rule is of the value at a place.
  bool apply(std::uint16_t call, std::uint8_t at, const signature::RuleCaller& caller) const {
    return calls_.apply(call, at, caller);
  }
  /// The rule, from 1, that gives the value at a place; 0: none.
  std::uint32_t matching(std::uint16_t call, const signature::SignedValue& at,
                         std::span<const std::int64_t> values,
                         const signature::RuleCaller& caller) const {
    return calls_.matching(call, at, values, caller);
  }

 private:
  signature::CallRules calls_;
  ShapeOf shape_of_;
};

}  // namespace chameleon::record
