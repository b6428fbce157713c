// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// All facts of a trace for `chameleon info`: those of chameleon/facts.inc, and those that only a
/// newer version knows, by the names in the file. Nothing here names one of them.

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "model/trace.h"

namespace chameleon::tools {

/// `{"run": {NAME: VALUE}, "ranks": {NAME: {"unit", "sum" of what adds up, "least", "most",
/// "most_rank"}}}`; of texts `"values": {TEXT: RANKS}`. O(facts * ranks).
nlohmann::ordered_json facts_json(const Trace& trace);

/// A line for each fact that this version does not know: "NAME: sum 5 ns, most 3 ns of rank 1".
std::vector<std::string> carried_lines(const Trace& trace);

}  // namespace chameleon::tools
