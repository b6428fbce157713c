// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The state graph at run time: from the vote of all ranks to what to do. Every
/// rank keeps one and gives it the same votes, so all decide alike without a
/// message. Pure: it knows neither MPI nor traces; its memory is whether there
/// are current clusters (`recluster`), how many markers were acted on, and
/// whether markers have stopped. The decisions are those of `kStateTable`.
/// Cost: O(1), no allocation. See Algorithm 6, Figure 5.1 and Table 5.2.
///
///     StateMachine machine;
///     const Decision decision = machine.step(sum_of_votes, markers_since_flush >= 100,
///                                            phases.recall(sum_of_votes.phase()));

#include <array>
#include <cstddef>
#include <cstdint>

#include "statemachine/phase_dictionary.h"
#include "statemachine/table.h"
#include "statemachine/vote.h"

namespace chameleon::statemachine {

struct Decision {
  State state;
  Action action;

  friend constexpr bool operator==(const Decision&, const Decision&) = default;
};

/// "AT", "C", "L", "F".
const char* state_name(State state);
/// "remember", "cluster and elect", …
const char* action_name(Action action);

/// Tells whether the action adds to the online trace at every fidelity, so that no flush is due
/// after it. kTake, kSwitch and kStandAlone do only where leads represent others.
constexpr bool merges(Action action) {
  return action == Action::kClusterAndElect || action == Action::kFlushAndKeep ||
         action == Action::kJoinAndFlush || action == Action::kFlushHistory ||
         action == Action::kFlushAndElect || action == Action::kTakeAndFlush ||
         action == Action::kSwitchAndFlush || action == Action::kStandAloneAndFlush ||
         action == Action::kFinish;
}

class StateMachine {
 public:
  /// Decides about an acted-on marker from the votes of all ranks, the dictionary's entry for the
  /// phase that they name, and how many ranks stray.
  Decision step(const Vote& sum, bool flush_due, Recall phase, Astray astray);

  /// As published: whoever changes concerns all ranks.
  Decision step(const Vote& sum, bool flush_due, Recall phase = Recall::kNew) {
    return step(sum, flush_due, phase, sum.changed() > 0 ? Astray::kMany : Astray::kNone);
  }

  /// Decides about MPI_Finalize, where there is no vote. A second time it does nothing new.
  Decision finalize();

  /// Markers stop without a vote: it was not answered in time, or this rank cannot continue.
  Decision stop();

  /// Markers that were voted on, the one that stopped them included: #AT + #C + #L.
  std::uint64_t acted() const { return acted_; }
  /// How often the state was entered: #AT, #C, #L, #F of Table 5.2.
  std::uint64_t count(State state) const { return counts_[static_cast<std::size_t>(state)]; }
  /// Actions that add to the online trace other than C's, F's included (#flush), also where there
  /// was nothing to add, as when C is left at once.
  std::uint64_t flushes() const { return flushes_; }
  /// True while there are no current clusters.
  bool recluster() const { return recluster_; }
  bool stopped() const { return stopped_; }
  /// The state of the last decision; AT before the first.
  State state() const { return state_; }

 private:
  Decision decide(const Cell& cell);

  std::array<std::uint64_t, 4> counts_{};
  std::uint64_t acted_ = 0;
  std::uint64_t flushes_ = 0;
  State state_ = State::kAllTracing;
  bool recluster_ = true;
  bool stopped_ = false;
};

}  // namespace chameleon::statemachine
