// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// How a trace came about while the program ran: markers and the states they
/// led to, clusters with their leads, phases (dissertation, Table 5.2).

#include <cstdint>
#include <vector>

#include "model/facts.h"
#include "model/rank_list.h"

namespace chameleon::inline model {

/// Ranks that a lead traces for. Clusters of one Call-Path form a main cluster.
struct Cluster {
  std::uint64_t call_path = 0;  ///< Call-Path signature
  std::uint32_t lead = 0;
  RankList ranks;
};

/// A run of acted-on markers that led to the same state; `state` counts AT, C, L, F.
struct Phase {
  std::uint8_t state = 0;
  std::uint64_t first = 0;    ///< acted-on marker, from 1
  std::uint64_t markers = 0;  ///< acted on
  std::uint64_t changed = 0;  ///< ranks whose signature changed, at the first marker
  std::uint64_t end_ns = 0;   ///< of the last marker, on rank 0's clock from the start
};

struct OnlineFacts : MarkerFacts {
  std::vector<Cluster> clusters;  ///< of the last election
  std::vector<Phase> phases;

  /// Phases kept at most: later ones join the last.
  static constexpr std::size_t kMostPhases = 4096;
};

}  // namespace chameleon::inline model
