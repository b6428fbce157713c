// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The vote of all ranks at an acted-on marker: 16 bytes, summed up a tree. It counts ranks: whose
/// Call-Path signature changed (Algorithm 6, lines 7 to 13), that have reached MPI_Finalize, that
/// have a fault, that exceed the tool's budget, whose last flush is long ago, and that have to wait
/// for votes. It also has a sum of phase hashes. Counts saturate, so that a sum over any number of
/// ranks is never mistaken for zero. `combine` is associative and commutative, so that every tree
/// gives the same vote. Cost: O(1), no allocation; may be sent as two 64-bit unsigned integers.

#include <cstdint>
#include <type_traits>

#include "base/rooms.h"

namespace chameleon::statemachine {

class Vote {
 public:
  static constexpr std::uint32_t kMostRanks = 0xffffff;  ///< changed and finalizing: 24 bits
  static constexpr std::uint32_t kMostFaults = 0xff;     ///< 8 bits
  static constexpr std::uint32_t kMostCosts = 0x3;       ///< 2 bits each
  static constexpr std::uint32_t kMostDue = 0x3;         ///< 2 bits
  static constexpr std::uint32_t kMostLate = 0x3;        ///< 2 bits

  constexpr Vote() = default;
  constexpr Vote(std::uint32_t changed, std::uint32_t finalizing, std::uint32_t faults,
                 std::uint64_t phase = 0, std::uint32_t events_over_budget = 0,
                 std::uint32_t markers_within_budget = 0, std::uint32_t due = 0,
                 std::uint32_t late = 0)
      : counts_(pack(changed, finalizing, faults, events_over_budget, markers_within_budget, due,
                     late)),
        phase_(phase) {}

  /// Ranks whose Call-Path signature is not that of their previous interval.
  constexpr std::uint32_t changed() const { return counts_ & kMostRanks; }
  constexpr std::uint32_t finalizing() const { return (counts_ >> 24) & kMostRanks; }
  constexpr std::uint32_t faults() const { return (counts_ >> 48) & kMostFaults; }
  /// Markers stop: some rank has no more of them, or cannot continue.
  constexpr bool halts() const { return finalizing() > 0 || faults() > 0; }
  /// Ranks whose events exceed the tool's budget.
  constexpr std::uint32_t events_over_budget() const { return (counts_ >> 56) & kMostCosts; }
  /// Ranks whose markers are within the tool's budget. A rank that waits at a marker for slower
  /// ones looks over budget; all ranks never do.
  constexpr std::uint32_t markers_within_budget() const { return (counts_ >> 58) & kMostCosts; }
  /// Ranks for which the last flush is long ago, or which hold much since then.
  constexpr std::uint32_t due() const { return (counts_ >> 60) & kMostDue; }
  /// Ranks that have to wait for too many votes.
  constexpr std::uint32_t late() const { return (counts_ >> 62) & kMostLate; }
  /// Sum over ranks of a hash of each rank's signature: the same phase, the same sum.
  constexpr std::uint64_t phase() const { return phase_; }

  friend constexpr bool operator==(const Vote&, const Vote&) = default;

  /// Adds `theirs` to `mine`.
  friend constexpr void combine(Vote& mine, const Vote& theirs) {
    mine = Vote(mine.changed() + theirs.changed(), mine.finalizing() + theirs.finalizing(),
                mine.faults() + theirs.faults(), mine.phase_ + theirs.phase_,
                mine.events_over_budget() + theirs.events_over_budget(),
                mine.markers_within_budget() + theirs.markers_within_budget(),
                mine.due() + theirs.due(), mine.late() + theirs.late());
  }

 private:
  static constexpr std::uint64_t at_most(std::uint64_t value, std::uint64_t most) {
    return value < most ? value : most;
  }
  static constexpr std::uint64_t pack(std::uint64_t changed, std::uint64_t finalizing,
                                      std::uint64_t faults, std::uint64_t events_over_budget,
                                      std::uint64_t markers_within_budget, std::uint64_t due,
                                      std::uint64_t late) {
    return at_most(changed, kMostRanks) | at_most(finalizing, kMostRanks) << 24 |
           at_most(faults, kMostFaults) << 48 | at_most(events_over_budget, kMostCosts) << 56 |
           at_most(markers_within_budget, kMostCosts) << 58 | at_most(due, kMostDue) << 60 |
           at_most(late, kMostLate) << 62;
  }

  std::uint64_t counts_ = 0;
  std::uint64_t phase_ = 0;
};

static_assert(sizeof(Vote) == 16 && std::is_trivially_copyable_v<Vote> &&
              std::is_standard_layout_v<Vote>);

}  // namespace chameleon::statemachine
