// SPDX-License-Identifier: BSD-3-Clause
/// `chameleon critical TRACE`: which functions and ranks the length of the run depends on.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "tools/common.h"
#include "tools/critical_rows.h"
#include "tools/csv.h"

namespace chameleon::tools {
namespace critical_verb {

struct Options {
  std::string trace, by = "function";
  std::size_t limit = 20;
  bool json = false, csv = false;
};

std::string cell(const std::string& text, std::size_t width) {
  return text.size() >= width ? " " + text : std::string(width - text.size(), ' ') + text;
}

void print_text(const Options& options, const Trace& trace, const CriticalPath& path,
                const std::vector<CriticalRow>& rows, const Style& style) {
  const bool by_rank = options.by == "rank";
  std::size_t width = 8;
  for (const CriticalRow& row : rows) width = std::max(width, row.name.size());
  std::string head = options.by;
  head.resize(width, ' ');
  std::cout << style.strong(head + "    on path   of run  computing   in calls" +
                            (path.slack ? "      slack" : "") +
                            (by_rank ? "" : "  rank's mean  beyond it  ranks"))
            << "\n";
  for (std::size_t i = 0; i < rows.size() && (options.limit == 0 || i < options.limit); ++i) {
    const CriticalRow& row = rows[i];
    std::string name = row.name;
    name.resize(width, ' ');
    std::cout << name << cell(duration_text(row.path_ns()), 11)
              << cell(share_text(row.share(path)), 9) << cell(duration_text(row.compute_ns), 11)
              << cell(duration_text(row.call_ns), 11);
    if (path.slack)
      std::cout << cell(row.slack.events > 0 ? duration_text(row.slack.mean_ns()) : "", 11);
    if (!by_rank)
      std::cout << cell(duration_text(row.mean_compute_ns), 13)
                << cell(duration_text(row.beyond_ns()), 11) << "  "
                << (row.ranks.empty() ? "-" : row.ranks.to_string());
    std::cout << "\n";
  }
  std::cout << "\nthe path is " << duration_text(static_cast<double>(path.end_ns))
            << " long, ends on rank " << path.last << ", and goes from rank to rank "
            << count_text(path.jumps) << (path.jumps == 1 ? " time" : " times") << "\n"
            << style.faint(timeline_text(trace)) << "\n";
  if (const std::string text = at_once_text(path.events, path.at_once); !text.empty())
    std::cout << style.faint(text) << "\n";
  if (!path.slack)
    std::cout << style.faint("slack is not known: more than " +
                             count_text(SlackBuilder::kMostEvents) + " calls differ, or " +
                             count_text(SlackBuilder::kMostEdges * SlackBuilder::kMostEvents) +
                             " of their messages and collective operations")
              << "\n";
  if (path.lost_jumps > 0)
    std::cout << style.faint(count_text(path.lost_jumps) +
                             " waits are not followed: their cause is too long ago")
              << "\n";
}

void print_csv(const std::string& by, const std::vector<CriticalRow>& rows) {
  std::cout << by
            << ",path_ns,compute_ns,call_ns,mean_compute_ns,beyond_ns,least_slack_ns,"
               "mean_slack_ns,ranks\n";
  const auto ns = [](double value) { return std::to_string(std::llround(value)); };
  for (const CriticalRow& row : rows) {
    std::cout << csv_text(row.name) << ',' << ns(row.path_ns()) << ',' << ns(row.compute_ns) << ','
              << ns(row.call_ns) << ',' << ns(row.mean_compute_ns) << ',' << ns(row.beyond_ns())
              << ',';
    if (row.slack.events > 0)
      std::cout << row.slack.least_ns << ',' << ns(row.slack.mean_ns());
    else
      std::cout << ',';
    std::cout << ',' << csv_text(row.ranks.to_string()) << '\n';
  }
}

void print_document(const Options& options, const Trace& trace, const CriticalPath& path,
                    const std::vector<CriticalRow>& rows) {
  nlohmann::ordered_json document = json_document("critical");
  document["ranks"] = trace.world_size;
  document["timing"] = trace.timing;
  document["by"] = options.by;
  document["seconds"] = static_cast<double>(path.end_ns) * 1e-9;
  document["last_rank"] = path.last;
  document["jumps"] = path.jumps;
  document["lost_jumps"] = path.lost_jumps;
  document["events"] = path.events;
  document["at_once"] = path.at_once;
  document["rows"] = critical_json(path, rows);
  print_json(document);
}

int run_critical(const Options& options) {
  int status = kExitOk;
  const std::optional<Trace> trace = load_unthreaded("critical", options.trace, status);
  if (!trace) return status;
  if (trace->timing == "none")
    return fail("critical",
                options.trace + " has no times: run again with CHAMELEON_TIMING=histogram or full",
                kExitRefused);
  const Result<CriticalPath> path = critical_path(*trace, Loops::kAtOnce, true);
  if (!path) return fail("critical", path.error());
  CallSites sites(*trace);
  const std::vector<CriticalRow> rows = critical_rows(*trace, *path, options.by, sites);
  if (options.csv)
    print_csv(options.by, rows);
  else if (options.json)
    print_document(options, *trace, *path, rows);
  else
    print_text(options, *trace, *path, rows, Style());
  return kExitOk;
}

}  // namespace critical_verb

void add_critical_command(CLI::App& app, int& status) {
  using namespace critical_verb;
  auto options = std::make_shared<Options>();
  CLI::App* verb =
      app.add_subcommand("critical", "List the functions and ranks on the critical path");
  verb->add_option("trace", options->trace, "Trace file")->required();
  verb->add_option("--by", options->by, "Rows: function (default), call, place or rank")
      ->check(CLI::IsMember({"function", "call", "place", "rank"}));
  verb->add_option("--limit", options->limit, "Largest number of rows; 0: all")
      ->capture_default_str();
  auto* json = verb->add_flag("--json", options->json, "One JSON object");
  verb->add_flag("--csv", options->csv, "A line for each row, of all of them, in ns")
      ->excludes(json);
  verb->callback([options, &status] { status = run_critical(*options); });
}

}  // namespace chameleon::tools
