// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Why a job did not end: from the calls in which ranks were when their traces ended (CheckReport::
/// hanging), who waits for whom, and the smallest causes. A cause is a set of ranks that wait only
/// for each other, or a rank for which others wait and which itself waits for nobody: it has ended,
/// has called MPI_Finalize, is outside of MPI, is in a call that could return, or left no events
/// after the last flush. All other ranks that hang wait behind a cause. Strongly connected
/// components of the graph of waits (Tarjan 1972). O(ranks + ranks waited for), each set of missing
/// ranks once.

#include <functional>
#include <string>
#include <vector>

#include "analysis/check.h"

namespace chameleon::analysis {

struct Hang {
  enum class Kind : std::uint8_t {
    kEnded,      ///< ranks crashed, or ended the job, all alike; others need not wait for them
    kCircle,     ///< ranks wait for each other
    kFinalized,  ///< they wait for a rank that has called MPI_Finalize
    kOutside,    ///< for one that is outside of MPI: it computes, or waits for something else
    kInside,     ///< for one whose call could return
    kUnknown,    ///< for one of which nothing is known since the last flush
  };
  struct Cause {
    Kind kind = Kind::kCircle;
    RankList ranks;
    RankList waiting;  ///< directly for them, and not among them
  };
  std::vector<Cause> causes;  ///< the smallest first
  RankList behind;            ///< hang because of a cause, and are in none
  /// Whether the program can never go on: what else is waited for may still come.
  bool is_deadlock() const;
  /// Whether the program did something wrong: deadlocked, crashed, or a call ended the job.
  bool is_fault = false;
};

const char* kind_name(Hang::Kind kind);

/// Of a trace of one thread a rank that `check` has simulated.
Hang hang_of(const Trace& trace, const CheckReport& report);

/// The verdict in lines without a line end: the causes, who is where, and who waits behind.
/// `site`: a call path as "solver.c:88 exchange()".
std::vector<std::string> hang_text(const Hang& hang, const CheckReport& report,
                                   const std::function<std::string(std::uint64_t)>& site);

}  // namespace chameleon::analysis
