// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// What the user asked for through CHAMELEON_* variables. Parsing is pure: it
/// takes the environment as a list and gives settings, warnings, or the one
/// line that says which variable is malformed.

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "markers/marker_search.h"
#include "online/options.h"
#include "record/options.h"
#include "world/waiting.h"

namespace chameleon::process {

struct Settings : RecordOptions, OnlineOptions {
  Settings() {
    voting = Voting::kDeferred;
    least_flush_seconds = 1;
    budget = kUsualBudget;
    leaves_out = false;
  }

  bool enable = true;
  bool python = true;  ///< call paths show Python's functions
  markers::Markers markers = markers::Markers::kProgram;
  std::string output;  ///< empty: PROGRAM.JOBID.cham
  /// Bytes of the tool's own, beyond which it stops recording.
  std::uint64_t memory = 512ULL << 20;
  bool spills = true;  ///< what takes much of that goes to files
  std::string spill;   ///< a folder for those of ranks; empty: that of the trace
  world::Waiting waiting = world::Waiting::kYield;  ///< of a rank that waits in the tool
  double stall = 60;  ///< seconds without progress after which ranks leave their words; 0: never
  bool stall_given = false;  ///< by the user
  bool stall_ends = false;   ///< the job ends then
  bool energy = false;       ///< instructions are counted, and the energy of nodes is read
  int verbose = 0;
  std::string rules_given;  ///< a file, or the text
  std::vector<std::string> warnings;
};

/// `environment` is a null-terminated list of NAME=VALUE, as `environ`.
Result<Settings> parse_settings(const char* const* environment);

/// Reads the rules that the settings name. Error: what is wrong with them; the settings have none
/// then.
Status load_rules(Settings& settings);

/// A size with an optional K, M or G (powers of 1024).
Result<std::uint64_t> parse_size(const std::string& text);

}  // namespace chameleon::process
