// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Takes out of a trace what says whose it is and where it was made, so that it can be given away:
/// the command line, folders (of the run, of modules, of source files), hosts, the process number
/// of rank 0, rules, texts among the arguments of calls (names of files and objects), and facts
/// of newer versions that are texts. Calls, times and the structure stay; hosts and texts get
/// numbers, so that equal ones are still equal. Names of functions, of source files and of modules
/// without their folders stay: they are what a report is read by. O(trace).

#include "model/trace.h"

namespace chameleon::analysis {

void redact(Trace& trace);

}  // namespace chameleon::analysis
