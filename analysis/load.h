// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// How work is shared among ranks: computing and MPI time of each rank, and the places
/// where ranks compute for different times. A rank's whole times are those it measured itself
/// (`RankFacts::call_ns`), where the trace has them and ranks have one thread; else, and at a
/// place, they are those of place_times.h.
/// The efficiencies are those of the POP project: load balance = mean / longest computing,
/// communication efficiency = longest computing / run time, parallel efficiency = their product.
/// O(nodes x ranks) time, with full timing O(events); memory O(places x ranks).

#include <cstdint>
#include <optional>
#include <vector>

#include "base/result.h"
#include "model/trace.h"

namespace chameleon::analysis {

struct RankLoad {
  std::uint32_t rank = 0;
  double events = 0, compute_ns = 0, call_ns = 0;  ///< of all its threads
};

/// A kind of time over the ranks that come to a place.
struct PlaceShare {
  double sum_ns = 0, mean_ns = 0, least_ns = 0, most_ns = 0;  ///< a rank
  RankList slowest;  ///< nearer to the longest than to the mean
};

struct PlaceLoad {
  std::uint16_t call = 0;
  std::uint64_t path = 0;
  std::uint64_t ranks = 0;
  PlaceShare compute;  ///< before the calls
  PlaceShare in_call;
};

struct Load {
  std::vector<RankLoad> ranks;    ///< ascending
  std::vector<PlaceLoad> places;  ///< largest difference of longest and mean computing first
  bool measured = false;          ///< the times in `ranks` are what each rank measured
  bool places_left_out = false;   ///< there would be more than kMostPlaceTimes numbers

  double mean_compute_ns() const;
  double most_compute_ns() const;
  /// Longest computing and MPI time of a rank: the run, from its events, if it has one thread.
  double run_ns() const;
  double longest_ns = 0;  ///< the same of a stream
};

/// The time of a rank's run outside MPI and the tool, as measured. None if it is not known: the
/// trace does not have the time in calls, not all calls were recorded, or the parts exceed the run
/// by more than 1 %. If they exceed it by less, through errors of short times, it is 0.
std::optional<std::uint64_t> measured_compute_ns(const RankFacts& facts);

inline constexpr std::uint64_t kMostPlaceTimes = 32'000'000;

/// Error: the trace is damaged.
Result<Load> load_of(const Trace& trace);

}  // namespace chameleon::analysis
