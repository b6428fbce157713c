// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// A collective as messages, for simulators that know none, or only those of the
/// world: what one member sends and receives, step by step. Textbook algorithms
/// (Thakur, Rabenseifner, Gropp: "Optimization of collective communication
/// operations in MPICH", 2005), the simplest of each: binomial trees for
/// broadcast and reduction, dissemination for barriers, a ring for allgather,
/// pairwise exchange for all-to-all, straight to and from the root for gather
/// and scatter. Steps of all members fit together; O(members) at most.

#include <vector>

#include "analysis/operations.h"

namespace chameleon::tools {

/// At most one message each way, at once. Partners are ranks of the communicator.
struct CollectiveStep {
  std::int32_t to = -1, from = -1;
  std::int64_t send_bytes = 0, receive_bytes = 0;
};

/// The steps of `operation` (kBegin or kEnd) with members `n`, for member `self`; `vectors` as
/// `RankOperations::vector_bytes` gave them in its event. False: it has no such form (neighbourhood
/// collectives, intercommunicators).
bool collective_steps(const CallPlan& plan, const Operation& operation, const VectorBytes& vectors,
                      std::int32_t n, std::int32_t self, std::vector<CollectiveStep>& steps);

}  // namespace chameleon::tools
