// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Rows of waits, by call or by call path, as `stats --waits` prints them.

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "analysis/place_waits.h"
#include "tools/call_sites.h"
#include "tools/common.h"

namespace chameleon::tools {

struct WaitRow {
  std::string call;
  std::uint64_t path = 0;  ///< 0: of all
  WaitTimes times;
  RankList longest;  ///< the ranks that wait nearly as long as the one that waits longest
};

/// Rows for these ranks, most waiting first.
std::vector<WaitRow> wait_rows(const Trace& trace, const WaitReport& waits, const RankList& ranks,
                               bool by_path);

void print_wait_rows(const Trace& trace, const WaitReport& waits, const RankList& ranks,
                     bool by_path, const Style& style);

/// Seconds by kind, with transfer and excess.
nlohmann::ordered_json wait_times_json(const WaitTimes& times);
nlohmann::ordered_json wait_rows_json(const Trace& trace, const WaitReport& waits,
                                      const RankList& ranks, bool by_path);

/// The table `waits` of these ranks.
void print_wait_csv(const Trace& trace, const WaitReport& waits, const RankList& ranks);

/// The basis of the waits of a trace, and how certain they are.
std::vector<std::string> wait_notes(const Trace& trace, const WaitReport& waits);

}  // namespace chameleon::tools
