// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// How a trace came about while the program ran: markers and the states they
/// led to, clusters with their leads, phases (dissertation, Table 5.2).

#include <array>
#include <cstdint>
#include <string>
#include <vector>

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

struct OnlineFacts {
  std::string clustering;  ///< off, k-farthest, ...; empty: not known
  std::string fidelity;
  std::uint64_t call_frequency = 1;
  std::uint32_t k = 0;
  std::uint64_t markers = 0;  ///< seen by rank 0
  std::uint64_t acted = 0;
  std::array<std::uint64_t, 4> states{};  ///< #AT, #C, #L, #F
  std::uint64_t flushes = 0;
  std::uint64_t clusterings = 0;  ///< times leads were elected
  std::uint64_t merge_bytes = 0;  ///< sent between ranks for merging, all ranks
  std::vector<Cluster> clusters;  ///< of the last election
  std::vector<Phase> phases;

  /// Phases kept at most: later ones join the last.
  static constexpr std::size_t kMostPhases = 4096;
};

}  // namespace chameleon::inline model
