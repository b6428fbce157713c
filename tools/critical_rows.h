// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// A critical path by function, call, place or rank, as `critical` prints it and `report` shows it;
/// with slacks, what is not on it too.

#include <algorithm>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "analysis/critical_path.h"
#include "tools/call_sites.h"

namespace chameleon::tools {

struct CriticalRow {
  std::string name;
  double compute_ns = 0, call_ns = 0;  ///< on the path; at markers counts as in calls
  double mean_compute_ns = 0;          ///< of a rank, on the path or not
  RankList ranks;                      ///< that are on the path here
  std::uint64_t path = 0;              ///< of a place
  Slack slack;                         ///< of all its calls; no events: not known

  double path_ns() const { return compute_ns + call_ns; }
  /// The most that balance here would save.
  double beyond_ns() const { return std::max(compute_ns - mean_compute_ns, 0.0); }
  double share(const CriticalPath& of) const {
    return of.end_ns > 0 ? path_ns() / static_cast<double>(of.end_ns) : 0;
  }
};

/// `by`: function, call, place or rank. Longest on the path first; among those that are not on it
/// the one with the least slack.
std::vector<CriticalRow> critical_rows(const Trace& trace, const CriticalPath& path,
                                       const std::string& by, CallSites& sites);
nlohmann::ordered_json critical_json(const CriticalPath& path,
                                     const std::vector<CriticalRow>& rows);

}  // namespace chameleon::tools
