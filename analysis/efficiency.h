// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Efficiencies as the POP centres of excellence define them, from the timeline and from a second
/// run of it on an ideal network (timeline.h):
///   parallel = load balance x communication,   communication = serialisation x transfer,
///   load balance = mean / longest computing of a rank,   communication = longest computing / run,
///   serialisation = longest computing / ideal run,       transfer = ideal run / run.
/// Costs two runs of the timeline.

#include "analysis/timeline.h"

namespace chameleon::analysis {

struct Efficiency {
  std::uint32_t ranks = 0;
  double run_ns = 0, ideal_ns = 0;  ///< from the first rank's end of MPI_Init to the last event
  double compute_ns = 0;            ///< of all ranks
  double most_compute_ns = 0;       ///< of the rank that computes longest

  double load_balance() const;
  double communication() const;
  double serialisation() const;
  double transfer() const;
  double parallel() const { return load_balance() * communication(); }

  std::uint64_t unmatched = 0;            ///< unmatched receives and collectives
  std::uint64_t events = 0, at_once = 0;  ///< as TimelineFacts
};

/// Computing of a run over that of a larger one: 1 if more ranks do not compute more in all, or,
/// where the problem grows with the ranks (`weak`), not more each.
double computation_scalability(const Efficiency& reference, const Efficiency& run, bool weak);

/// Error: the trace is damaged.
Result<Efficiency> efficiency_of(const Trace& trace, Loops loops = Loops::kAtOnce);

}  // namespace chameleon::analysis
