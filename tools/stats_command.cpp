// SPDX-License-Identifier: BSD-3-Clause
/// `chameleon stats TRACE`: counts, times and bytes of each call or call path.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "call_sites.h"
#include "common.h"
#include "statistics.h"
#include "times_text.h"
#include "tools/wait_rows.h"

namespace chameleon::tools {
namespace stats_verb {

constexpr std::size_t kTopSites = 10;

struct Options {
  std::string trace;
  std::string by = "call";
  std::string ranks;
  bool json = false, csv = false, waits = false;
};

void print_rows(const std::vector<StatisticsRow>& rows, bool with_site, bool timed,
                CallSites& sites, const Style& style) {
  const auto line = [&](const std::string& name, const std::string& count, const std::string& total,
                        const std::string& mean, const std::string& compute,
                        const std::string& bytes, const std::string& rest) {
    std::string text = name + std::string(name.size() < 22 ? 22 - name.size() : 1, ' ');
    text += padded(count, 15);
    if (timed) text += padded(total, 11) + padded(mean, 11) + padded(compute, 11);
    return text + padded(bytes, 11) + "  " + rest;
  };
  const char* last = with_site ? "where" : "ranks";
  std::cout << style.strong(line("call", "count", "total", "mean", "before it", "sent", last))
            << "\n";
  for (const StatisticsRow& row : rows)
    std::cout << line(row.call, count_text(row.count), duration_text(row.call_ns),
                      duration_text(row.mean_ns()), duration_text(row.compute_ns),
                      bytes_text(static_cast<double>(row.bytes)),
                      with_site ? sites.site(row.path) : row.ranks.to_string())
              << "\n";
}

void print_text(const Options& options, const Trace& trace, const FileFacts& file,
                const Statistics& statistics) {
  const Style style;
  CallSites sites(trace);
  const bool timed = trace.timing != "none";
  const StatisticsRow& total = statistics.total;
  const bool by_path = options.by == "path";
  const RankList ranks = trace.ranks_of(statistics.streams);
  if (!options.ranks.empty()) {
    for (const std::string& times : times_of_lines(trace, statistics.streams))
      std::cout << style.faint("times of " + times) << "\n";
    std::cout << (trace.times.empty() ? "" : "\n");
  }
  print_rows(by_path ? sorted_rows(statistics.paths) : sorted_rows(statistics.calls), by_path,
             timed, sites, style);
  std::cout << "\n"
            << count_text(total.count) << " calls on " << count_text(ranks.size())
            << (ranks.size() == 1 ? " rank in " : " ranks in ") << count_text(statistics.node_count)
            << " nodes and " << bytes_text(static_cast<double>(file.bytes));
  if (total.count != 0) {
    char text[64];
    std::snprintf(text, sizeof text, ": %.3g calls a node, %.3g bytes a call",
                  static_cast<double>(total.count) / static_cast<double>(statistics.node_count),
                  static_cast<double>(file.bytes) / static_cast<double>(total.count));
    std::cout << text;
  }
  std::cout << "\nsent " << (statistics.bytes_complete ? "" : "at least ")
            << bytes_text(static_cast<double>(total.bytes));
  if (timed)
    std::cout << "; in MPI " << duration_text(total.call_ns) << ", between calls "
              << duration_text(total.compute_ns) << ", summed over ranks";
  std::cout << "\n";
  const std::vector<Declaration> declarations = statistics.declarations(trace);
  if (declarations.empty() && statistics.exact())
    std::cout << (ranks.size() == 1 ? "exact\n" : "exact for every rank\n");
  if (!statistics.exact()) {
    std::cout << "given up, of the events of " << (options.ranks.empty() ? "all" : "these")
              << " ranks:";
    for (std::size_t i = 0; i < kInexactKinds.size(); ++i)
      std::cout << (i == 0 ? " " : ", ") << kInexactKinds[i].second << " "
                << share_text(statistics.given_up_share(i));
    std::cout << "\n";
  }
  for (const Declaration& declaration : declarations)
    std::cout << "not exact: " << declaration.what << ": " << ranks_text(declaration.ranks) << "\n";
  if (by_path) return;
  std::vector<StatisticsRow> top = sorted_rows(statistics.paths);
  if (top.size() > kTopSites) top.resize(kTopSites);
  std::cout << "\n";
  print_rows(top, true, timed, sites, style);
}

/// Instead of counts and bytes, what the time in calls was spent on.
int stats_of_waits(const Options& options, const Trace& trace, const RankList& ranks) {
  if (const auto lacks = lacks_times(trace))
    return fail("stats", options.trace + ": " + *lacks, kExitRefused);
  if (const Status allowed = allow_visits(options.trace, trace, true); !allowed)
    return fail("stats", allowed.error());
  const Result<WaitReport> waits = waits_of(trace);
  if (!waits) return fail("stats", waits.error());
  if (options.csv) {
    print_wait_csv(trace, *waits, ranks);
    return kExitOk;
  }
  const bool by_path = options.by == "path";
  if (!options.json) {
    print_wait_rows(trace, *waits, ranks, by_path, Style());
    return kExitOk;
  }
  nlohmann::ordered_json document = json_document("stats");
  document["by"] = options.by;
  document["of_ranks"] = ranks.to_string();
  document["timing"] = trace.timing;
  document["run_seconds"] = waits->run_ns * 1e-9;
  document["waits"] = wait_times_json(waits->all);
  document["clock_error_seconds"] = static_cast<double>(waits->clock_error_ns) * 1e-9;
  document["undecided_seconds"] = waits->undecided_ns * 1e-9;
  document["unmatched"] = waits->unmatched;
  document["events"] = waits->events;
  document["at_once"] = waits->at_once;
  document["rows"] = wait_rows_json(trace, *waits, ranks, by_path);
  print_json(document);
  return kExitOk;
}

int stats(const Options& options) {
  int status = kExitOk;
  FileFacts file;
  const std::optional<Trace> trace = load_trace("stats", options.trace, status, &file);
  if (!trace) return status;
  const Result<RankList> ranks = wanted_ranks(*trace, options.ranks);
  if (!ranks) return fail("stats", ranks.error());
  if (options.waits) return stats_of_waits(options, *trace, *ranks);
  RankList streams;
  for (const std::uint32_t stream : streams_by_rank(*trace, *ranks)) streams.insert(stream);
  const Result<Statistics> statistics = Statistics::make(*trace, streams);
  if (!statistics) return fail("stats", statistics.error());
  if (options.json)
    print_json(statistics_document(*trace, file, *statistics, options.by));
  else
    print_text(options, *trace, file, *statistics);
  return kExitOk;
}

}  // namespace stats_verb

void add_stats_command(CLI::App& app, int& status) {
  using namespace stats_verb;
  auto options = std::make_shared<Options>();
  CLI::App* verb = app.add_subcommand("stats", "Count calls, times and bytes");
  verb->add_option("trace", options->trace, "Trace file")->required();
  verb->add_option("--by", options->by, "Rows: call (default) or path")
      ->check(CLI::IsMember({"call", "path"}));
  CLI::Option* waits = verb->add_flag(
      "--waits", options->waits, "Causes of the time in calls: waiting, by its kind, and transfer");
  verb->add_option("--rank", options->ranks, "Only of these ranks, as 3, 0-15 or 0-56:8");
  CLI::Option* json = verb->add_flag("--json", options->json, "One JSON object");
  verb->add_flag("--csv", options->csv, "With --waits: a line a rank, call and call path, in ns")
      ->needs(waits)
      ->excludes(json);
  verb->callback([options, &status] { status = stats(*options); });
}

}  // namespace chameleon::tools
