// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Values that the user's rules give, from a lead to the ranks that it stands for.

#include "flush/plan.h"

namespace chameleon::flush {

/// Gives each rank of `entry` what the rules give it where they give all of the sender's values, in
/// calls on MPI_COMM_WORLD. Where one of the ranks would have no such value, all keep the sender's.
/// `sites` are the sender's. O(ranks) for each of these parameters.
void apply_rules(Trace& trace, const FlushPlan::Entry& entry, const signature::Rules& rules,
                 const signature::CallSites& sites);

}  // namespace chameleon::flush
