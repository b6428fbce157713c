// SPDX-License-Identifier: BSD-3-Clause
#include "tools/series.h"

#include <array>
#include <nlohmann/json.hpp>

#include "tools/common.h"

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

nlohmann::ordered_json slow_rows(const Trace& trace, const std::vector<SlowSteps>& slow,
                                 const std::function<void(Json&, std::uint64_t path)>& put_site) {
  constexpr std::array<const char*, 3> kWhose = {"one", "moves", "all"};
  const auto place = [&](const SlowPlace& of) {
    const auto call = trace.calls.find(of.call);
    Json json = {{"call", call == trace.calls.end() ? std::to_string(of.call) : call->second.name},
                 {"excess_seconds", of.excess_ns * 1e-9},
                 {"seconds", of.all_ns * 1e-9}};
    put_site(json, of.path);
    return json;
  };
  Json rows = Json::array();
  for (const SlowSteps& one : slow) {
    Json row = {{"first", one.first},
                {"last", one.last},
                {"begin_seconds", static_cast<double>(one.begin_ns) * 1e-9},
                {"end_seconds", static_cast<double>(one.end_ns) * 1e-9},
                {"whose", kWhose[static_cast<std::size_t>(one.whose)]},
                {"ranks", one.ranks.to_string()},
                {"lost_seconds", one.lost_ns * 1e-9},
                {"compute_seconds", one.compute_ns * 1e-9}};
    if (one.computes) row["computes"] = place(*one.computes);
    if (one.waits) row["waits"] = place(*one.waits);
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace chameleon::tools
