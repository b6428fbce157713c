// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// End-points whose readings differ in two parts of a trace. Merging keeps the readings in which
/// ranks agree (end_point.h). What a wildcard matched may by chance agree in the absolute reading
/// in one part, and in the relative one in the next; such parts could not be appended. On
/// MPI_COMM_WORLD a rank's place is known, so that one reading follows from the other.

#include "model/trace.h"

namespace chameleon::compress {

/// Gives the end-points of field `field`, of the same call executed by the same ranks in `a` and in
/// `b`, a reading both have. False, and nothing changes, if the calls are not on MPI_COMM_WORLD or
/// that costs more than `budget`, from which each value that is read anew is taken.
bool share_readings(const Trace& trace, std::size_t field, Node& a, const RankList& ranks_a,
                    Node& b, const RankList& ranks_b, std::int64_t& budget);

}  // namespace chameleon::compress
