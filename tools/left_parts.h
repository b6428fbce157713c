// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The parts that ranks left beside the trace of a run that did not reach MPI_Finalize.

#include <string>
#include <vector>

#include "analysis/recover.h"

namespace chameleon::tools {

/// TRACE.rankN for any N, by name.
std::vector<std::string> parts_of(const std::string& trace);

/// The end of the run ("SIGTERM") in the words of the first part that is of a rank which ended
/// by itself; empty without parts.
std::string why_ended(const std::string& trace);

/// Joins the parts that fit to the trace, which is incomplete. The result names all others.
analysis::Recovery join_parts(Trace& trace, const std::string& path);

}  // namespace chameleon::tools
