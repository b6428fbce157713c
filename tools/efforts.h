// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Effort windows for `chameleon sample` and `chameleon report`.

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "analysis/effort_error.h"
#include "model/trace.h"

namespace chameleon::tools {

/// The kind of effort, as CHAMELEON_EFFORT names it.
std::string effort_of(const Trace& trace);
/// The same for people.
std::string effort_text(const Trace& trace);
/// An object for each window, times in seconds: docs/reference/command.md.
nlohmann::ordered_json effort_rows(const Efforts& efforts);

}  // namespace chameleon::tools
