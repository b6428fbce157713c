// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// What happens at markers: the settings that this room uses.

#include <cstdint>

#include "cluster/by_signatures.h"
#include "cluster/effort_options.h"
#include "flush/flush.h"

namespace chameleon::online {

/// As `call_frequency`: found while the program runs (markers/pace.h).
inline constexpr std::uint64_t kAutoFrequency = 0;

/// When the result of a marker's vote is acted on: at that marker, for which all ranks wait there,
/// or at the next one, where it is known already.
enum class Voting : std::uint8_t { kBlocking, kDeferred };

/// The budget if the user gives none.
inline constexpr double kUsualBudget = 0.02;

struct OnlineOptions {
  bool clustering = true;  ///< off: one merge of all ranks at finalize
  Voting voting = Voting::kBlocking;
  ClusterOptions cluster;  ///< algorithm, K, seed, distance, format
  Fidelity fidelity = Fidelity::kExact;
  /// Share of the ranks that may stray while leads go on tracing for the others; 0: none.
  double few = 0.25;
  Filter filter = Filter::kAuto;  ///< whether kinds of values in which nobody differs are sent
  bool follows_rules = false;     ///< leads' values do
  std::uint64_t call_frequency = kAutoFrequency;  ///< every n-th marker is acted on
  std::uint64_t flush_every = 100;                ///< acted-on markers
  double least_flush_seconds = 0;  ///< after a flush, before another because of these
  double flush_seconds = 30;       ///< between flushes, where markers come
  /// By these alone; else flushes take at most half of the budget.
  bool flush_seconds_given = false;
  bool keeps_times = true;
  std::uint32_t time_classes = 16;  ///< most groups of ranks with times of their own
  double marker_timeout = 60;       ///< seconds
  /// Bytes of values of parameters that rank 0 keeps; beyond them they become distributions.
  std::uint64_t trace_limit = 64ULL << 20;
  /// Bytes of the trace that rank 0 keeps in memory; beyond them the file alone has it.
  std::uint64_t online_limit = UINT64_MAX;
  EffortOptions effort;
  double budget = 0;  ///< the tool's share of the run time; 0: as it comes
  /// So that it is kept, times and calls are left out too, not only markers.
  bool leaves_out = true;
  std::uint64_t series_limit = 8U << 10;  ///< bytes in a file
};

}  // namespace chameleon::online
