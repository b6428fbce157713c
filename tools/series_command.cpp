// SPDX-License-Identifier: BSD-3-Clause
/// `chameleon series TRACE`: which time steps were slow, and whose fault that was.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "tools/call_sites.h"
#include "tools/common.h"
#include "tools/series.h"

namespace chameleon::tools {
namespace series_verb {

struct Options {
  std::string trace;
  std::size_t rows = 40;
  bool json = false, csv = false;
};

std::string markers_text(const SeriesSpan& span) {
  const std::string first = std::to_string(span.first);
  return span.intervals == 1 ? first
                             : first + "-" + std::to_string(span.first + span.intervals - 1);
}

/// "1.2 ms, most 3.4 ms on rank 5": the mean of a rank and interval.
std::string took_text(const RankExtent& extent, double instances) {
  return duration_text(static_cast<double>(extent.sum_ns) / std::max(instances, 1.0)) + ", most " +
         duration_text(static_cast<double>(extent.most_ns)) + " on " +
         std::to_string(extent.most_rank);
}

/// At most so many spans, neighbours joined.
std::vector<SeriesSpan> fewer(std::vector<SeriesSpan> spans, std::size_t most) {
  if (most == 0 || spans.size() <= most) return spans;
  const std::size_t each = (spans.size() + most - 1) / most;
  std::vector<SeriesSpan> joined;
  for (std::size_t i = 0; i < spans.size(); ++i)
    if (i % each == 0)
      joined.push_back(spans[i]);
    else
      join(joined.back(), spans[i]);
  return joined;
}

void print_text(const Trace& trace, const Options& options) {
  const Style style;
  const auto ranks = static_cast<double>(trace.world_size);
  std::printf("%-13s %-5s %-30s %-30s %-30s %s\n", "markers", "state", "compute (rank, interval)",
              "in calls", "waiting at the marker", "slowest");
  for (const SeriesSpan& span : fewer(trace.series.spans(), options.rows)) {
    const double instances = ranks * static_cast<double>(span.intervals);
    const std::string slowest = std::to_string(span.slowest) + ": rank " +
                                std::to_string(span.worst.compute.most_rank) + " computes " +
                                duration_text(static_cast<double>(span.worst.compute.most_ns));
    std::printf("%-13s %-5s %-30s %-30s %-30s %s\n", markers_text(span).c_str(),
                kStates[span.state & 3U], took_text(span.all.compute, instances).c_str(),
                took_text(span.all.communication, instances).c_str(),
                took_text(span.all.waiting, instances).c_str(), slowest.c_str());
  }
}

std::string place_text(const Trace& trace, CallSites& sites, const SlowPlace& place) {
  const auto call = trace.calls.find(place.call);
  return (call == trace.calls.end() ? std::to_string(place.call) : call->second.name) + "  " +
         sites.site(place.path) + " (" + duration_text(place.all_ns) + " there in the run)";
}

void print_slow(const Trace& trace, const std::vector<SlowSteps>& slow) {
  if (slow.empty()) return;
  const Style style;
  CallSites sites(trace);
  std::cout << "\n" << style.strong("slow steps") << "\n";
  for (const SlowSteps& one : slow) {
    const bool several = one.last > one.first;
    std::cout << (several ? "markers " : "marker ") << one.first
              << (several ? "-" + std::to_string(one.last) : "") << ": ";
    switch (one.whose) {
      case SlowSteps::Whose::kOne:
        std::cout << style.hot(ranks_text(one.ranks)) << " computes "
                  << duration_text(one.compute_ns) << ", " << duration_text(one.lost_ns)
                  << " longer than the mean";
        break;
      case SlowSteps::Whose::kMoves:
        std::cout << "in turn " << style.hot(ranks_text(one.ranks)) << " compute "
                  << duration_text(one.lost_ns) << " longer than the mean";
        break;
      case SlowSteps::Whose::kAll:
        std::cout << style.hot("no rank alone") << ", " << duration_text(one.lost_ns)
                  << " longer than other steps; a rank computes " << duration_text(one.compute_ns);
    }
    std::cout << "\n";
    if (one.computes)
      std::cout << "  computes before " << place_text(trace, sites, *one.computes) << "\n";
    if (one.waits) std::cout << "  waits in " << place_text(trace, sites, *one.waits) << "\n";
  }
}

void print_csv(const Trace& trace) {
  std::cout << "first,intervals,end_seconds,state,phase";
  for (const char* part : {"compute", "in_calls", "busy", "waiting"})
    for (const char* what : {"sum", "least", "least_rank", "most", "most_rank"})
      std::cout << "," << part << "_" << what;
  std::cout << ",slowest,slowest_compute_most,slowest_compute_most_rank,slowest_busy_most,"
               "slowest_busy_most_rank\n";
  for (const auto& row : series_rows(trace)) {
    std::cout << row["first"] << "," << row["intervals"] << "," << row["end_seconds"] << ","
              << row["state"].get<std::string>() << "," << row["phase"];
    for (const char* part : {"compute", "in_calls", "busy", "waiting"})
      for (const auto& [name, number] : row[part].items()) std::cout << "," << number;
    const auto& slowest = row["slowest"];
    std::cout << "," << slowest["marker"];
    for (const char* part : {"compute", "busy"})
      std::cout << "," << slowest[part]["most"] << "," << slowest[part]["most_rank"];
    std::cout << "\n";
  }
}

int series(const Options& options) {
  int status = kExitOk;
  const std::optional<Trace> trace = load_trace("series", options.trace, status);
  if (!trace) return status;
  Result<std::vector<SlowSteps>> slow = std::vector<SlowSteps>();
  if (!options.csv) slow = slow_steps(*trace);
  if (!slow) return fail("series", slow.error());
  if (options.json) {
    CallSites sites(*trace);
    nlohmann::ordered_json document = json_document("series");
    document["ranks"] = trace->world_size;
    document["intervals"] = 0;
    for (const SeriesSpan& span : trace->series.spans())
      document["intervals"] = document["intervals"].get<std::uint64_t>() + span.intervals;
    document["spans"] = series_rows(*trace);
    document["slow"] = slow_rows(*trace, *slow, [&](nlohmann::ordered_json& place, auto path) {
      place["path"] = sites.frames(path);
    });
    print_json(document);
  } else if (options.csv) {
    print_csv(*trace);
  } else if (trace->series.empty()) {
    std::cout << "no series: the run had no markers, or an earlier version traced it\n";
  } else {
    print_text(*trace, options);
    print_slow(*trace, *slow);
  }
  return kExitOk;
}

}  // namespace series_verb

void add_series_command(CLI::App& app, int& status) {
  using namespace series_verb;
  auto options = std::make_shared<Options>();
  CLI::App* verb =
      app.add_subcommand("series", "Show which time steps were slow, and on which rank");
  verb->add_option("trace", options->trace, "Trace file")->required();
  verb->add_option("--rows", options->rows, "Most rows printed, neighbours joined (40); 0: all");
  CLI::Option* json = verb->add_flag("--json", options->json, "One JSON object, with all spans");
  verb->add_flag("--csv", options->csv, "A line a span, with all numbers")->excludes(json);
  verb->callback([options, &status] { status = series(*options); });
}

}  // namespace chameleon::tools
