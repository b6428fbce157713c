// SPDX-License-Identifier: BSD-3-Clause
#include "tools/series.h"

#include <array>
#include <nlohmann/json.hpp>

namespace chameleon::tools {
namespace {

using Json = nlohmann::ordered_json;

Json took(const IntervalTally& tally) {
  Json json = Json::object();
  const auto add = [&](const char* name, const RankExtent& extent) {
    json[name] = {{"sum", static_cast<double>(extent.sum_ns) * 1e-9},
                  {"least", static_cast<double>(extent.least_ns) * 1e-9},
                  {"least_rank", extent.least_rank},
                  {"most", static_cast<double>(extent.most_ns) * 1e-9},
                  {"most_rank", extent.most_rank}};
  };
  add("compute", tally.compute);
  add("in_calls", tally.communication);
  add("busy", tally.busy);
  add("waiting", tally.waiting);
  return json;
}

}  // namespace

nlohmann::ordered_json series_rows(const Trace& trace) {
  constexpr std::array<const char*, 4> kStates = {"AT", "C", "L", "F"};
  Json rows = Json::array();
  for (const SeriesSpan& span : trace.series.spans()) {
    Json row = {{"first", span.first},
                {"intervals", span.intervals},
                {"end_seconds", static_cast<double>(span.end_ns) * 1e-9},
                {"state", kStates[span.state & 3U]},
                {"phase", span.phase}};
    row.update(took(span.all));
    row["slowest"] = {{"marker", span.slowest}};
    row["slowest"].update(took(span.worst));
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace chameleon::tools
