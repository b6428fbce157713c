// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Which calls a replay issues again, and why not the others. Stated once, for the replay itself,
/// for `chameleon check` and for docs/reference/mpi-coverage.md. No mpi.h, no state; a look-up
/// costs a few comparisons.

#include <cstdint>
#include <map>
#include <string>

#include "analysis/check.h"
#include "mpi/call_table.h"

namespace chameleon::analysis {

/// Why a replay does not issue the call, as the end of a sentence ("it needs other processes"), or
/// null if it does.
const char* why_not_reissued(const CallInfo& call);

/// The call is on a file, which a replay issues if it is given a folder for scratch files.
bool needs_scratch(const CallInfo& call);

/// The calls that a replay of a trace leaves out: reason, and how often each.
using LeftOut = std::map<std::string, std::map<std::string, std::uint64_t>>;
LeftOut find_left_out(const CheckReport& report, bool with_scratch);

}  // namespace chameleon::analysis
