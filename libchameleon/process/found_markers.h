// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The markers of a program that sets none: `MarkerSearch` among the ranks of a job. What it asks
/// ranks to compare travels like the vote of a marker, in a world of its own: nobody waits for the
/// others but at the next collective of all ranks. docs/design/marker.md

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
  /// In `world`, whose first votes are others', a comparison is given up after `patience` seconds.
  FoundMarkers(Markers wanted, MpiWorld world, double patience, TimeAccount& times)
      : search_(wanted), world_(std::move(world)), patience_(patience), times_(times) {}

  /// Whether this collective of all ranks is a marker.
  std::optional<Marker> source(const MarkerCall& call);
  /// Whether the last one took part in a comparison; and whether other markers hold since then,
  /// for who asks first.
  bool compared() const { return compared_; }
  bool changed() { return std::exchange(changed_, false); }
  const MarkerSearch& search() const { return search_; }

  /// The program has set one itself. Whether that is news.
  bool program_marks() { return !std::exchange(program_marks_, true); }
  /// Passes on what has come of a comparison, without waiting. Whether there is more to come.
  bool progress() { return open_ && world_.progress(); }
  /// With all ranks in MPI_Finalize: no message is left behind.
  void end();

  /// What the markers are. May throw.
  std::string what() const;
  /// Why there are none.
  const char* why_none() const;

 private:
  static constexpr std::uint64_t kMinuteNs = 60'000'000'000;
  /// Of the first comparison, beyond those of the other votes in this communicator.
  static constexpr std::uint32_t kFirstVote = 16;
  static constexpr double kLastPatience = 1;  // s

  void compare();
  bool hear(double patience);

  MarkerSearch search_;
  MpiWorld world_;
  double patience_;
  TimeAccount& times_;
  std::uint32_t votes_ = kFirstVote;
  bool open_ = false, compared_ = false, changed_ = false, program_marks_ = false;
  std::uint64_t began_ = 0, began_ns_ = 0;  ///< the search
};
static_assert(FindsMarkers<FoundMarkers>);

}  // namespace chameleon::process
