// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// `check` of a trace whose ranks have several threads: all streams of events run on the time
/// axis that exports use (timeline.h), each until it must wait. Found is a receive or collective
/// whose others never come, a message that is never received, and a collective in which ranks make
/// another call or name another root. Amounts of data are not compared. The trace must not share
/// channels between threads (thread_sharing.h), or what matches what is not told. O(events).

#include "analysis/check.h"

namespace chameleon {

/// Error: the trace is damaged.
Result<CheckReport> check_threads(const Trace& trace);

}  // namespace chameleon
