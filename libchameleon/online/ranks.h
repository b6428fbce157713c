// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The ranks that a world has here: its own, or all of them. What happens to one is done to each.

#include <array>
#include <bitset>
#include <cstdint>
#include <utility>

#include "cluster/effort_sums.h"
#include "online/ballot.h"
#include "online/cluster_room.h"
#include "online/rank.h"
#include "online/step_log.h"

namespace chameleon::online {

/// An interval until all ranks' votes have decided about it.
struct Undecided {
  ClosedInterval interval;
  bool at_marker = false;  ///< it ended at a marker, not in MPI_Finalize
  bool regained = false;   ///< not to be compared: the frequency of markers had changed
  bool astray = false;     ///< its Call-Path is not that by which the rank was clustered
};

/// A rank and what was decided about it.
struct Member {
  Rank* rank = nullptr;
  /// By the number of the interval.
  std::array<Undecided, kMostUndecided> undecided;
  Ballot former, latter;       ///< of the last two intervals
  IntervalTimes times;         ///< of the last interval
  StepLog steps;               ///< since the last flush
  std::uint64_t previous = 0;  ///< Call-Path signature of the interval before that was recorded
  std::uint64_t settled = 0;   ///< its part of the phase for which the current clusters were made
  std::size_t threads = 1;     ///< with streams, at the last marker
  Governor::Spent spent;       ///< at the last marker, where there is a budget
  std::uint64_t emptied_bytes = 0;  ///< of memory, after the last flush
  std::uint64_t differs = 0;        ///< not 0: it was found to differ from its lead, by doing this
  std::uint32_t time_class = 0;     ///< of its first stream, when times were last gathered
  RankEfforts efforts;              ///< in the present effort window
  /// By the place of clusters in their room: nobody can represent it in one of their phases.
  std::bitset<ClusterRoom::kRoom> alone;
  bool keeps_own = false;      ///< it, or its lead, strayed since a flush that was due
  bool over = false;           ///< its last interval was closed, in MPI_Finalize
  bool keeps_history = false;  ///< nor what it did since its last share
};

template <class World>
using Members = typename World::template PerRank<Member>;

/// f(), and what failed is the rank's failure.
template <class F>
bool guarded(Rank& rank, F f) {
  const Failure failure = attempt(f);
  rank.note_failure(failure);
  return failure == Failure::kNone;
}

}  // namespace chameleon::online
