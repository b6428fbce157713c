// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// What several threads of a rank share so that only the run knew the order: collectives on one
/// communicator, window or file; messages sent, or received, on one channel (communicator,
/// source, destination, tag); receives beside a wildcard that could take their message. Where
/// nothing is shared, each thread's own order is all there is to know. One reading of the
/// trace, O(events); memory of the channels of a rank.

#include <string>

#include "base/result.h"
#include "trace/trace.h"

namespace chameleon {

/// The first that is found, as "rank 1: threads 1 and 2 both ..."; empty if nothing is shared.
/// Error: the trace is damaged.
Result<std::string> shared_by_threads(const Trace& trace);

}  // namespace chameleon
