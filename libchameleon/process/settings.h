// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// What the user asked for through CHAMELEON_* variables. Parsing is pure: it
/// takes the environment as a list and gives settings, warnings, or the one
/// line that says which variable is malformed.

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "cluster/double_step.h"
#include "flush/flush.h"

namespace chameleon::process {

enum class Timing { kNone, kHistogram, kFull };

struct Settings {
  bool enable = true;
  std::string output;  ///< empty: PROGRAM.JOBID.cham
  Timing timing = Timing::kHistogram;
  bool all_events = false;
  std::vector<std::string> exclude;  ///< call names or globs, without MPI_
  std::uint64_t buffer = 8ULL << 20;
  std::string raw;      ///< directory; empty: none
  bool counter = true;  ///< time stamps from the processor's counter
  std::uint64_t memory =
      512ULL << 20;  ///< bytes of the tool's own, beyond which it stops recording
  int verbose = 0;
  bool clustering = true;  ///< off: one merge of all ranks at finalize
  ClusterOptions cluster;  ///< algorithm, K, seed, distance, format
  Fidelity fidelity = Fidelity::kExact;
  CallPathForm signature = CallPathForm::kOrdered;
  std::uint64_t call_frequency = 1;  ///< every n-th marker is acted on
  std::uint64_t flush_every = 100;   ///< acted-on markers
  double marker_timeout = 60;        ///< seconds
  double budget = 0;                 ///< the tool's share of the run time; 0: as it comes
  std::vector<std::string> warnings;

  bool excludes(const std::string& call) const;
};

/// `environment` is a null-terminated list of NAME=VALUE, as `environ`.
Result<Settings> parse_settings(const char* const* environment);

/// A size with an optional K, M or G (powers of 1024).
Result<std::uint64_t> parse_size(const std::string& text);

}  // namespace chameleon::process
