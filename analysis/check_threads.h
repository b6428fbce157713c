// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// `check` of a trace whose ranks have several threads: all streams of events run on the time axis
/// that exports use (timeline.h), each until it must wait. It finds a receive or collective that is
/// never matched, a message that is never received or longer than its receive, and a collective in
/// which ranks make another call or disagree in root, op or amounts. Uncertain amounts are not
/// compared: those of a datatype of another thread, which gave its id to types of several sizes,
/// and of a rank's receives after one whose message is not known. Channels and communicators that
/// threads of a rank share (thread_sharing.h) are left out, for the matching is not known; what
/// never ends beside them is in doubt, as is a fault if a thread uses one of several objects that
/// had the same id. O(events); memory of messages in
/// flight and collectives begun.

#include "analysis/check.h"
#include "analysis/thread_sharing.h"

namespace chameleon::analysis {

/// Error: the trace is damaged.
Result<CheckReport> check_threads(const Trace& trace, const SiteOf& site = {});

}  // namespace chameleon::analysis
