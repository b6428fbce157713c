// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <cmath>

#include "analysis/check_plan.h"
#include "analysis/rank_grid.h"
#include "analysis/timeline.h"
#include "analysis/work.h"
#include "tools/common.h"
#include "tools/efforts.h"
#include "tools/report/report.h"
#include "tools/series.h"

namespace chameleon::tools::report {
namespace {

constexpr int kLinesAround = 4;
constexpr std::size_t kMostSites = 20000;

constexpr std::array<const char*, kCallKinds> kKinds = {"send", "receive", "wait", "collective",
                                                        "other"};

/// The ranks that take longest at a place.
Json longest_json(const PlaceShare& share) {
  return {{"ranks", share.slowest.to_string()},
          {"most", std::llround(share.most_ns)},
          {"mean", std::llround(share.mean_ns)}};
}

Json paths(const Trace& trace, const Statistics& statistics, const Load& load, Sites& sites) {
  std::map<std::pair<std::uint64_t, std::string>, const PlaceLoad*> places;
  for (const PlaceLoad& place : load.places)
    if (const auto call = trace.calls.find(place.call); call != trace.calls.end())
      places[{place.path, call->second.name}] = &place;
  Json rows = Json::array();
  for (const StatisticsRow& row : sorted_rows(statistics.paths)) {
    Json one = {{"call", row.call},
                {"site", sites.index(row.path)},
                {"count", row.count},
                {"compute_seconds", row.compute_ns * 1e-9},
                {"call_seconds", row.call_ns * 1e-9},
                {"sent_bytes", row.bytes},
                {"ranks", row.ranks.to_string()}};
    if (const auto place = places.find({row.path, row.call}); place != places.end()) {
      one["compute_longest"] = longest_json(place->second->compute);
      one["in_call_longest"] = longest_json(place->second->in_call);
    }
    rows.push_back(std::move(one));
  }
  return rows;
}

/// What needs further readings of all events.
Status add_answers(const Trace& trace, Sites& sites, Json& json) {
  Result<Json> pair = pairs(trace);
  if (!pair) return pair.error();
  json["pairs"] = std::move(*pair);
  if (trace.threads > 1) return Unit{};
  Result<Json> pattern = patterns(trace, sites);
  if (!pattern) return pattern.error();
  json["patterns"] = std::move(*pattern);
  if (trace.timing == "none") return Unit{};
  Result<Json> factors = efficiency(trace);
  if (!factors) return factors.error();
  json["efficiency"] = std::move(*factors);
  return Unit{};
}

}  // namespace

std::size_t call_kind_index(const CallDescription& call) {
  switch (plan_call(call).action) {
    case Action::kSend:
    case Action::kStart: return 0;
    case Action::kRecv:
    case Action::kSendrecv:
    case Action::kProbe:
    case Action::kMatchedProbe:
    case Action::kMatchedRecv: return 1;
    case Action::kComplete:
    case Action::kCompleteAll:
    case Action::kCompleteAny:
    case Action::kCompleteSome: return 2;
    case Action::kCollective: return 3;
    default: return 4;
  }
}

const char* call_kind(const CallDescription& call) { return kKinds[call_kind_index(call)]; }

std::size_t Sites::frame(const std::string& text) {
  const auto [entry, fresh] = frame_index_.try_emplace(text, frames_.size());
  if (fresh) frames_.push_back(text);
  return entry->second;
}

void Sites::add_source(Json& site, const SourceLocation& location) {
  if (location.file.empty() || location.line <= 0) return;
  site["file"] = location.file;
  site["line"] = location.line;
  if (sources_ == nullptr) return;
  const auto [entry, fresh] = files_.try_emplace(location.file);
  if (fresh) entry->second = sources_->lines_of(location.file);
  const auto& lines = entry->second;
  const int first = std::max(1, location.line - kLinesAround);
  const int last = std::min(static_cast<int>(lines.size()), location.line + kLinesAround);
  if (location.line > last) return;  // not the file it was built from
  site["first"] = first;
  site["source"] = Json::array();
  for (int line = first; line <= last; ++line)
    site["source"].push_back(lines[static_cast<std::size_t>(line - 1)]);
}

std::size_t Sites::index(std::uint64_t path) {
  const auto [entry, fresh] = known_.try_emplace(path, sites_.size());
  if (!fresh) return entry->second;
  if (sites_.size() >= kMostSites) return entry->second = kMostSites - 1;
  Json site;
  site["site"] = frame(names_.site(path));
  site["frames"] = Json::array();
  for (const std::string& text : names_.frames(path)) site["frames"].push_back(frame(text));
  if (const SourceLocation* location = names_.location(path)) add_source(site, *location);
  sites_.push_back(std::move(site));
  return entry->second;
}

void Sites::write(Json& document) {
  document["frames"] = std::move(frames_);
  document["sites"] = std::move(sites_);
}

Result<Json> document(const Request& request) {
  const Trace& trace = request.trace;
  Result<Statistics> statistics = Statistics::make(trace, trace.ranks);
  if (!statistics) return statistics.error();
  Result<Load> shares = load_of(trace);
  if (!shares) return shares.error();
  Sites sites(trace, request.sources);

  Json json = json_document("report");
  json["trace"] = request.name;
  json["info"] = info_document(trace, request.file);
  json["stats"] = statistics_document(trace, request.file, *statistics, "call");
  json["paths"] = paths(trace, *statistics, *shares, sites);
  json["kinds"] = Json::object();
  for (const auto& [id, call] : trace.calls) json["kinds"][call.name] = call_kind(call);
  json["timing_text"] = timeline_text(trace);
  json["load"] = load(trace, *shares, sites);
  json["differences"] = differences(trace, sites);
  json["tree"] = tree(trace, *statistics, sites);
  json["times"] = times(trace, *statistics);
  json["series"] = series_rows(trace);
  if (!trace.efforts.empty()) {
    json["effort_text"] = effort_text(trace);
    json["efforts"] = effort_rows(trace.efforts);
  }
  const Result<std::vector<SlowSteps>> slow = slow_steps(trace);
  if (!slow) return slow.error();
  json["slow"] = slow_rows(
      trace, *slow, [&](Json& place, std::uint64_t path) { place["site"] = sites.index(path); });

  // Each rank costs something too, and a file may say less than its loops do.
  constexpr double kVisitsOfRank = 16;
  const double visits = std::max(visited_events(trace, trace.ranks),
                                 kVisitsOfRank * static_cast<double>(trace.world_size));
  const bool reads_events = visits <= static_cast<double>(request.most_events);
  const CommunicationMatrix* pairs = nullptr;
  Events read;
  if (reads_events) {
    Result<Events> result = events(request, *shares, sites);
    if (!result) return result.error();
    read = std::move(*result);
    pairs = &read.matrix;
    json["matrix"] = matrix(trace, read.matrix);
    json["sizes"] = std::move(read.sizes);
    json["timeline"] = std::move(read.timeline);
    if (!read.waits.is_null()) {
      json["waits"] = std::move(read.waits);
      json["critical"] = std::move(read.critical);
    }
    if (const Status told = add_answers(trace, sites, json); !told) return told.error();
  } else {
    json["left_out"] = "more than " + count_text(request.most_events) +
                       " calls: the matrix, message sizes and the timeline, which read every "
                       "call, are left out (--events)";
  }
  const RankGrid grid = rank_grid(trace, pairs);
  json["grid"] = {{"dims", grid.dims},
                  {"source", grid.source == RankGrid::Source::kCartesian   ? "MPI_Cart_create"
                             : grid.source == RankGrid::Source::kDistances ? "distances"
                                                                           : "none"}};
  sites.write(json);
  return json;
}

}  // namespace chameleon::tools::report
