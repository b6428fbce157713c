// SPDX-License-Identifier: BSD-3-Clause
/// `chameleon export TRACE --FORMAT OUTPUT`: the trace for other tools, expanded
/// rank by rank from the folded form.

#include <CLI/CLI.hpp>
#include <array>
#include <iostream>
#include <memory>

#include "analysis/work.h"
#include "tools/common.h"
#include "tools/export/export.h"

namespace chameleon::tools {
namespace export_verb {

struct Format {
  const char* name;
  const char* help;
  Exporter exporter;
  double bytes;           ///< of a call, roughly; 0: it grows with call paths, not with calls
  bool by_thread = true;  ///< it can tell the threads of a rank apart, or add them up
};

constexpr std::array<Format, 11> kFormats = {{
    {"csv",
     "Folder of tables: events, calls, messages, matrix, clusters, phases, series, loops, sites, "
     "waits, samples, outliers, pair_accounts",
     export_csv, 150},
    {"json", "The same tables, each an array of records", export_json, 350},
    {"folded", "Folded stacks, a line a stack, for flame graphs", export_folded, 0},
    {"speedscope", "Speedscope's JSON", export_speedscope, 0},
    {"chrome", "Trace events as JSON, for Perfetto and chrome://tracing", export_chrome, 250},
    {"perfetto", "Perfetto's protocol buffers: as --chrome, for large traces", export_perfetto, 60},
    {"otf2", "Folder with an OTF2 archive, traces.otf2", export_otf2, 60},
    {"simgrid", "Folder with a time-independent trace for smpirun -replay", export_simgrid, 20,
     false},
    {"paje", "Paje trace, for pj_dump and ViTE", export_paje, 200},
    {"paraver", "Paraver trace: FILE.prv, FILE.pcf and FILE.row", export_paraver, 120},
    {"goal", "GOAL schedule, for LogGOPSim", export_goal, 60, false},
}};

struct Options {
  std::string trace, ranks;
  std::array<std::string, kFormats.size()> outputs;
  bool quiet = false;
};

/// How much will be written is said before it is, where it is much; beyond a bound it is refused.
Status allow_bytes(const Format& format, const std::string& path, const ExportRequest& request) {
  constexpr double kMuch = 256e6, kMost = 8e9;
  RankList streams;
  for (const std::uint32_t stream : request.lanes()) streams.insert(stream);
  const double calls = visited_events(request.trace, streams);
  const double ranks = static_cast<double>(request.ranks.size());
  if (const Status allowed = allow_visits(path, calls, ranks); !allowed)
    return Error{ErrorKind::kRefused,
                 allowed.error().message + ", and --ranks takes some of the ranks; --" +
                     format.name + " would write about " + bytes_text(calls * format.bytes),
                 0};
  const double bytes = calls * format.bytes;
  if (bytes > kMost && !takes_all())
    return Error{ErrorKind::kRefused,
                 path + ": --" + format.name + " would write about " + bytes_text(bytes) +
                     "; --all does it, and --ranks takes some of the ranks",
                 0};
  if (bytes > kMuch)
    std::cerr << "chameleon export: --" << format.name << " writes about " << bytes_text(bytes)
              << "\n";
  return Unit{};
}

int export_one(const Format& format, ExportRequest request, bool quiet) {
  Progress progress(std::string("export ") + format.name, request.trace.event_count());
  request.progress = &progress;
  const Result<ExportReport> report = format.exporter(request);
  progress.end();
  if (!report) return fail("export", report.error());
  if (quiet) return kExitOk;
  std::cout << (report->output.empty() ? request.output : report->output) << ": "
            << count_text(report->events) << " calls of " << ranks_text(request.ranks);
  if (report->messages > 0)
    std::cout << ", " << count_text(report->messages) << " messages of "
              << bytes_text(static_cast<double>(report->bytes));
  std::cout << "\n";
  if (!report->timing.empty()) std::cout << "  " << printable(report->timing) << "\n";
  for (const std::string& note : report->notes) std::cout << "  " << printable(note) << "\n";
  return kExitOk;
}

int run_export(const Options& options) {
  int status = kExitOk;
  const std::optional<Trace> trace = load_trace("export", options.trace, status);
  if (!trace) return status;
  const Result<RankList> ranks = wanted_ranks(*trace, options.ranks);
  if (!ranks) return fail("export", ranks.error());
  bool any = false;
  for (std::size_t i = 0; i < kFormats.size(); ++i)
    if (!options.outputs[i].empty() && trace->threads > 1 && !kFormats[i].by_thread)
      return fail("export",
                  options.trace + " has ranks with up to " + std::to_string(trace->threads) +
                      " threads, and a rank in --" + kFormats[i].name +
                      " has one sequence of calls",
                  kExitRefused);
  for (std::size_t i = 0; i < kFormats.size(); ++i) {
    if (options.outputs[i].empty()) continue;
    any = true;
    if (const Status allowed =
            allow_bytes(kFormats[i], options.trace, {*trace, *ranks, options.outputs[i]});
        !allowed)
      return fail("export", allowed.error());
    status = export_one(kFormats[i], {*trace, *ranks, options.outputs[i]}, options.quiet);
    if (status != kExitOk) return status;
  }
  if (!any) return fail("export", "no format given (see chameleon export --help)", kExitUsage);
  return kExitOk;
}

}  // namespace export_verb

void add_export_command(CLI::App& app, int& status) {
  using namespace export_verb;
  auto options = std::make_shared<Options>();
  CLI::App* verb = app.add_subcommand("export", "Write the trace for other tools");
  verb->add_option("trace", options->trace, "Trace file")->required();
  for (std::size_t i = 0; i < kFormats.size(); ++i)
    verb->add_option("--" + std::string(kFormats[i].name), options->outputs[i], kFormats[i].help);
  verb->add_option("--ranks", options->ranks, "Only these ranks, as 0-15 or 0-56:8");
  verb->add_flag("-q,--quiet", options->quiet, "Print nothing unless something fails");
  verb->callback([options, &status] { status = run_export(*options); });
}

}  // namespace chameleon::tools
