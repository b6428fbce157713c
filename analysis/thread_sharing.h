// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// What several threads of a rank share so that only the run knew the order: collectives on one
/// communicator, window or file (of more than this rank); communicators made for one group;
/// messages sent, or received, on one channel (communicator, source, destination, tag); receives
/// beside a wildcard that could take their message. A persistent receive counts where it is
/// started, and a probe that takes nothing does not. Where nothing is shared, each thread's own
/// order is all there is to know, once it is known which object each thread means: of objects
/// that had the same id one after the other, and are another thread's, it is not. A reading of the
/// trace each, O(events); memory of the channels and objects of a rank.

#include <string>

#include "base/result.h"
#include "model/trace.h"

namespace chameleon::analysis {

/// The first that is found, as "rank 1: threads 1 and 2 both ..."; empty if nothing is shared.
/// Error: the trace is damaged.
Result<std::string> shared_by_threads(const Trace& trace);

/// Why it is not told which object a thread means: a communicator, window or file of another
/// thread, which gave its id to several, or a send that another thread posted and that need not
/// wait for its receive, since an MPI may give one handle to all of these that are complete. "rank
/// 1: thread 2 uses ..."; empty if there is none. Error: the trace is damaged.
Result<std::string> doubted_between_threads(const Trace& trace);

}  // namespace chameleon::analysis
