// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The markers of a program that sets none: `MarkerSearch` among the ranks of a job. Comparisons
/// travel like the vote of a marker, in a world of their own: a rank waits for others only at the
/// next collective of all ranks. docs/design/marker.md

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "markers/marker.h"
#include "markers/marker_search.h"
#include "record/time_account.h"
#include "world/mpi_world.h"

namespace chameleon::process {

class FoundMarkers {
 public:
  /// The first votes in `world` are of others. A comparison is given up after `patience` seconds.
  FoundMarkers(Markers wanted, MpiWorld world, double patience, TimeAccount& times)
      : search_(wanted), world_(std::move(world)), patience_(patience), times_(times) {}

  /// Several threads may call MPI. Those of other ranks may come to a comparison in other order.
  void may_have_threads() { patience_ = std::min(patience_, kThreadedPatience); }
  /// Whether the calling thread is the one whose collectives count: the first.
  bool is_of_thread();
  /// Whether this collective of all ranks is a marker. `threads`: several call MPI.
  std::optional<Marker> source(const MarkerCall& call, bool threads = false);
  /// Whether the last one took part in a comparison; and whether the markers have changed since
  /// this was last asked.
  bool compared() const { return compared_; }
  bool changed() { return std::exchange(changed_, false); }
  const MarkerSearch& search() const { return search_; }

  /// The program has set one itself. Whether this is the first.
  bool program_marks() { return !std::exchange(program_marks_, true); }
  /// Forwards the messages of a comparison that have arrived, without waiting. Whether more follow.
  bool progress() { return open_ && world_.progress(); }
  /// With all ranks in MPI_Finalize: no message is left behind.
  void end();

  /// The markers, in words. May throw.
  std::string what() const;
  /// Why there are none.
  const char* why_none() const;

 private:
  static constexpr std::uint64_t kMinuteNs = 60'000'000'000;
  /// Number of the first comparison, beyond the other votes in this communicator.
  static constexpr std::uint32_t kFirstVote = 16;
  static constexpr double kLastPatience = 1, kThreadedPatience = 1;  // s

  void compare();
  bool hear(double patience);

  MarkerSearch search_;
  MpiWorld world_;
  double patience_;
  TimeAccount& times_;
  std::uint32_t votes_ = kFirstVote;
  bool open_ = false, compared_ = false, changed_ = false, program_marks_ = false;
  bool threads_ = false;
  std::atomic<const void*> thread_{nullptr};
  std::uint64_t began_ = 0, began_ns_ = 0;  ///< the search
};

static_assert(FindsMarkers<FoundMarkers>);

}  // namespace chameleon::process
