// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The series over markers for `chameleon series` and `chameleon report`.

#include <nlohmann/json_fwd.hpp>

#include "model/trace.h"

namespace chameleon::tools {

/// An object for each span, times in seconds: docs/reference/command.md.
nlohmann::ordered_json series_rows(const Trace& trace);

}  // namespace chameleon::tools
