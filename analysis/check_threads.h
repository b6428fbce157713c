// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// `check` of a trace whose ranks have several threads: all streams of events run on the time
/// axis that exports use (timeline.h), each until it must wait. Found is a receive or collective
/// whose others never come, a message that is never received or longer than its receive, and a
/// collective in which ranks make another call or disagree in root, op or amounts. An amount is not
/// compared where it is not certain: of a datatype of another thread, which gave its id to types of
/// several sizes, and of a rank's receives after one whose message is not told. The trace must not
/// share channels between threads (thread_sharing.h), or what matches what is not told; where a
/// thread uses one of several objects that had the same id, what is found is in doubt. O(events);
/// memory of messages in flight and collectives begun.

#include "analysis/check.h"

namespace chameleon::analysis {

/// Error: the trace is damaged.
Result<CheckReport> check_threads(const Trace& trace);

}  // namespace chameleon::analysis
