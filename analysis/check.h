// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Does a trace hang together? All ranks are simulated at once, each until it
/// must wait: every receive must find its message (in the order of its channel:
/// communicator, source, destination, tag; wildcards take what the run matched),
/// every collective must be called by all of its communicator in the same order
/// with the same call, root, op and amounts. Sends are taken as buffered, rooted
/// collectives wait only for the data they need. What is found is named: rank,
/// event number (from 1) and call. O(events), in memory of the messages and
/// requests in flight; a rank in turn runs at most a few thousand events ahead.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "trace/trace.h"

namespace chameleon {

/// Problems described; further ones are counted.
inline constexpr std::size_t kMostProblems = 10;

struct CheckReport {
  struct Problem {
    /// deadlock, collective, truncation, unreceived, incomplete_request, unknown_object
    std::string kind;
    std::uint32_t rank = 0;
    std::uint64_t event = 0;  ///< number in its rank, from 1
    std::string call;
    std::string text;  ///< a sentence with all of this
  };
  bool ok = true;                 ///< nothing wrong (what was cut does not count)
  std::vector<Problem> problems;  ///< the first `kMostProblems`
  std::uint64_t problem_count = 0;
  std::vector<Problem> cut;  ///< of an incomplete trace: what its end left open, first ones
  std::uint64_t cut_count = 0;
  std::map<std::string, std::uint64_t> unchecked;  ///< calls without a model, and how often
  std::uint64_t events = 0;
  std::uint64_t messages = 0;     ///< point to point, sent
  std::uint64_t bytes = 0;        ///< in those whose datatype is known
  std::uint64_t collectives = 0;  ///< each counted once for all its ranks
};

/// Simulates the whole trace. Error: the trace is damaged (see `RankView`).
Result<CheckReport> check(const Trace& trace);

}  // namespace chameleon
