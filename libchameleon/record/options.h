// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// What is recorded of a rank's calls, and how: the settings that this room uses.

#include <cstdint>
#include <string>
#include <vector>

#include "callpath/relaxed.h"
#include "signature/rules.h"
#include "signature/signature.h"

namespace chameleon::record {

enum class Timing { kNone, kHistogram, kFull };
const char* timing_name(Timing timing);  ///< none, histogram, full

/// Call sites that effort windows are of: calls made in functions with names like these.
struct EffortSites {
  std::vector<std::string> functions;  ///< globs; empty: windows are not of call sites
  bool compute = false;                ///< what is computed before such a call counts
  bool communication = false;          ///< and the time in it
};

struct RecordOptions {
  Timing timing = Timing::kHistogram;
  bool pairs = false;  ///< waits by sender (pair_log.h)
  bool all_events = false;
  std::vector<std::string> exclude;       ///< call names or globs, without MPI_
  std::vector<std::string> effort_calls;  ///< the same: those that effort windows are of
  EffortSites effort_sites;
  std::string effort_given;  ///< what effort windows are of, as the user gave it; empty: none
  std::uint64_t buffer = 8ULL << 20;
  std::string raw;                          ///< directory; empty: none
  callpath::FramesMatched frames;           ///< by which events are folded and signed
  bool counter = true;                      ///< time stamps from the processor's counter
  SignatureFormat format = kDefaultFormat;  ///< signatures that are needed
  CallPathForm signature = CallPathForm::kOrdered;
  bool reads_by_xor = false;  ///< partners, for signatures
  signature::Rules rules;     ///< what values are expected to be
  bool hashes = false;        ///< of each kind of parameter (fidelity `checked`)
};

/// Words separated by commas, added to `words`; false if one is empty.
bool words_of(const std::string& text, std::vector<std::string>& words);
/// Names of calls and globs (fnmatch) separated by commas, with or without MPI_, into `names`
/// without it; false if one is empty.
bool call_names_of(const std::string& text, std::vector<std::string>& names);
/// Whether one of `names` is that of `call`, which begins with MPI_.
bool names_call(const std::vector<std::string>& names, const char* call);

}  // namespace chameleon::record
