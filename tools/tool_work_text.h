// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The ranks' work for the tracer and their idle time there (analysis/tool_work.h), for
/// `chameleon info`.

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

#include "model/trace.h"

namespace chameleon::tools {

/// Lines with their labels; none if the trace does not know it.
std::vector<std::pair<std::string, std::string>> tool_work_lines(const Trace& trace);

/// Adds `idle_seconds`, summed over ranks by state, and `roles`: means of leads and other ranks.
void add_tool_work(const Trace& trace, nlohmann::ordered_json& document);

}  // namespace chameleon::tools
