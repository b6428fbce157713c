// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// What one rank contributes to a collective, as far as the ranks must agree:
/// the root as a world rank, the op, and the amounts of data. Amounts are either
/// one number that all must give, or a sum of hashes of (from, to, bytes) over
/// what is sent and over what is received, equal at the end exactly if each pair
/// agrees (up to a 64-bit collision): O(1) memory for any number of ranks.

#include <functional>

#include "analysis/check_state.h"

namespace chameleon {

struct Contribution {
  std::int64_t root = -1;  ///< world rank; -1: none, or not told (MPI_PROC_NULL)
  bool is_root = false;
  bool takes_part = true;  ///< false: passes MPI_PROC_NULL as the root
  std::int64_t op = -1;    ///< -1: none, or one of the application's
  std::int64_t amount = -1;
  std::uint64_t sent = 0, received = 0;
  bool pairs_known = true;
};

/// `size(type)`: bytes of a datatype of the rank, or kUnknownSize.
Contribution contribution_of(const Trace& trace, const CallPlan& plan, const EventView& event,
                             const Communicator& comm,
                             const std::function<std::int64_t(std::int64_t)>& size);

}  // namespace chameleon
