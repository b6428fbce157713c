// SPDX-License-Identifier: BSD-3-Clause
#include "tools/critical_rows.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

namespace chameleon::tools {
namespace {

std::string call_name(const Trace& trace, std::uint16_t call) {
  const auto found = trace.calls.find(call);
  return found == trace.calls.end() ? "?" : found->second.name;
}

std::string row_name(const Trace& trace, const StreamPlace& place, const std::string& by,
                     CallSites& sites) {
  if (by == "rank") return std::to_string(trace.rank_of(place.stream));
  if (by == "call") return call_name(trace, place.call);
  if (by == "place") return call_name(trace, place.call) + " " + sites.site(place.path);
  return sites.function(place.path);
}

}  // namespace

std::vector<CriticalRow> critical_rows(const Trace& trace, const CriticalPath& path,
                                       const std::string& by, CallSites& sites) {
  std::map<std::string, CriticalRow> sums;
  for (const CriticalPlace& place : path.places) {
    CriticalRow& row = sums[row_name(trace, place, by, sites)];
    row.compute_ns += static_cast<double>(place.share.compute_ns);
    row.call_ns += static_cast<double>(place.share.call_ns + place.share.marker_ns);
    if (place.share.ns() > 0) row.ranks.insert(trace.rank_of(place.stream));
    row.path = place.path;
  }
  if (path.slack)
    for (const PlaceSlack& place : *path.slack) {
      CriticalRow& row = sums[row_name(trace, place, by, sites)];
      row.slack.add(place.slack);
      row.path = place.path;
    }
  const auto ranks = static_cast<double>(std::max<std::size_t>(trace.whole_ranks().size(), 1));
  for (const auto& [at, share] : path.all) {
    if (by == "rank") break;
    const auto row = sums.find(row_name(trace, {0, at.first, at.second}, by, sites));
    if (row != sums.end())
      row->second.mean_compute_ns += static_cast<double>(share.compute_ns) / ranks;
  }
  std::vector<CriticalRow> rows;
  for (auto& [name, row] : sums) {
    row.name = name;
    rows.push_back(std::move(row));
  }
  std::stable_sort(rows.begin(), rows.end(), [](const CriticalRow& a, const CriticalRow& b) {
    return a.path_ns() != b.path_ns() ? a.path_ns() > b.path_ns()
                                      : a.slack.least_ns < b.slack.least_ns;
  });
  return rows;
}

nlohmann::ordered_json critical_json(const CriticalPath& path,
                                     const std::vector<CriticalRow>& rows) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const CriticalRow& row : rows) {
    list.push_back({{"name", row.name},
                    {"seconds", row.path_ns() * 1e-9},
                    {"share", row.share(path)},
                    {"compute_seconds", row.compute_ns * 1e-9},
                    {"call_seconds", row.call_ns * 1e-9},
                    {"mean_compute_seconds", row.mean_compute_ns * 1e-9},
                    {"beyond_seconds", row.beyond_ns() * 1e-9},
                    {"ranks", row.ranks.to_string()}});
    if (row.slack.events == 0) continue;
    list.back()["least_slack_seconds"] = static_cast<double>(row.slack.least_ns) * 1e-9;
    list.back()["mean_slack_seconds"] = row.slack.mean_ns() * 1e-9;
  }
  return list;
}

}  // namespace chameleon::tools
