// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// End-points whose readings differ in two parts of a trace. Merging keeps the readings in which
/// ranks agree (end_point.h). Partners of a wildcard may agree by chance in the absolute reading in
/// one part, and in the relative one in the next. Such parts could not be appended. On
/// MPI_COMM_WORLD a rank's place is known, so that one reading follows from the other.

#include "model/trace.h"

namespace chameleon::compress {

/// Gives the end-points of `field` a reading that both nodes have. `a` and `b` are the same call,
/// executed by the same ranks. False, and nothing changes, if the calls are not on MPI_COMM_WORLD,
/// or if it would cost more than `budget`: 1 for each value that is converted.
bool share_readings(const Trace& trace, std::size_t field, Node& a, const RankList& ranks_a,
                    Node& b, const RankList& ranks_b, std::int64_t& budget);

}  // namespace chameleon::compress
