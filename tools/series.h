// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The series over markers for `chameleon series` and `chameleon report`.

#include <functional>
#include <nlohmann/json_fwd.hpp>

#include "analysis/slow_steps.h"

namespace chameleon::tools {

/// An object for each span, times in seconds: docs/reference/command.md.
nlohmann::ordered_json series_rows(const Trace& trace);

/// An object for each stretch; `put_site` adds the call path of a place to its object.
nlohmann::ordered_json slow_rows(
    const Trace& trace, const std::vector<SlowSteps>& slow,
    const std::function<void(nlohmann::ordered_json&, std::uint64_t path)>& put_site);

}  // namespace chameleon::tools
