// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Communicators that the traced run did not see being made: their events say only the members.
/// All of them are made before the first event, because members meet one at different points of
/// their runs. One that not all of its members have is not made.

#include <mpi.h>

#include <vector>

#include "analysis/follow.h"

namespace chameleon::replay {

/// Those of this rank, which `reader` reads, in the order of their events; null: one that cannot be
/// made. Collective over `comm`, whose ranks are the trace's. O(events) if the trace has any.
std::vector<MPI_Comm> make_known_communicators(Follower reader, MPI_Comm comm);

}  // namespace chameleon::replay
