// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Whose times a trace has, in words and for `--json`.

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "model/trace.h"

namespace chameleon::tools {

/// "of 7 classes of ranks, members within 3 %"; empty where a trace has no classes.
std::string times_text(const Trace& trace);
/// A line for each class that has several members, "ranks 0-3, within 3 %", and one for all ranks
/// that are classes of their own; none where all ranks are.
std::vector<std::string> time_class_lines(const Trace& trace);
/// "those of ranks 0-3, within 3 %", or "its own"; empty where a trace has no classes.
std::string times_of_rank_text(const Trace& trace, std::uint32_t rank);
/// A line for each class that these streams have the times of: "rank 3: its own", "ranks 0-1: those
/// of ranks 0-7, within 3 %".
std::vector<std::string> times_of_lines(const Trace& trace, const RankList& streams);
/// `[{"ranks": "0-1", "of": "0-7", "spread": 0.03}]`, of streams.
nlohmann::ordered_json times_of_json(const Trace& trace, const RankList& streams);
/// `[{"ranks": "0-3", "spread": 0.03}]`, of streams.
nlohmann::ordered_json time_classes_json(const Trace& trace);
/// `[{"ranks": "0", "phase": 1, "compute_seconds": 0.5, ...}]`; the phase is null after the last
/// marker.
nlohmann::ordered_json totals_json(const Trace& trace);

}  // namespace chameleon::tools
