// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Names in a trace are a stranger's: of calls, files, functions, hosts, and whatever was declared.
/// Verbs print them in many places, so they are made printable at one: where a trace is loaded.

#include "model/trace.h"

namespace chameleon::tools {

/// Replaces what a terminal would obey, and what is no UTF-8, in every text of the trace
/// (base/plain_text.h). The names of files may then be no names of files any more.
void make_names_printable(Trace& trace);

}  // namespace chameleon::tools
