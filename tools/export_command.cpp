// SPDX-License-Identifier: BSD-3-Clause
/// `chameleon export TRACE --FORMAT OUTPUT`: the trace for other tools, expanded
/// rank by rank from the folded form.

#include <CLI/CLI.hpp>
#include <array>
#include <iostream>
#include <memory>
#include <optional>

#include "analysis/work.h"
#include "base/read_limit.h"
#include "tools/common.h"
#include "tools/export/export.h"
#include "tools/export/export_shape.h"

namespace chameleon::tools {
namespace export_verb {

struct Format {
  const char* name;
  const char* help;
  Exporter exporter;
  ExportSize (*size)(const ExportShape&);
  bool by_thread = true;  ///< it can tell the threads of a rank apart, or add them up
};

constexpr std::array<Format, 11> kFormats = {{
    {"csv",
     "Folder of tables: events, calls, messages, matrix, clusters, phases, series, loops, sites, "
     "waits, samples, outliers, pair_accounts",
     export_csv, csv_size},
    {"json", "The same tables, each an array of records", export_json, json_size},
    {"folded", "Folded stacks, a line a stack, for flame graphs", export_folded, folded_size},
    {"speedscope", "Speedscope's JSON", export_speedscope, speedscope_size},
    {"chrome", "Trace events as JSON, for Perfetto and chrome://tracing", export_chrome,
     chrome_size},
    {"perfetto", "Perfetto's protocol buffers: as --chrome, for large traces", export_perfetto,
     perfetto_size},
    {"otf2", "Folder with an OTF2 archive, traces.otf2", export_otf2, otf2_size},
    {"simgrid", "Folder with a time-independent trace for smpirun -replay", export_simgrid,
     simgrid_size, false},
    {"paje", "Paje trace, for pj_dump and ViTE", export_paje, paje_size},
    {"paraver", "Paraver trace: FILE.prv, FILE.pcf and FILE.row", export_paraver, paraver_size},
    {"goal", "GOAL schedule, for LogGOPSim", export_goal, goal_size, false},
}};

struct Options {
  std::string trace, ranks;
  std::array<std::string, kFormats.size()> outputs;
  bool quiet = false, dry_run = false;
};

std::string size_text(const ExportSize& size) {
  std::string text = bytes_text(size.bytes);
  if (size.temporary > 0)
    text += ", and meanwhile " + bytes_text(size.temporary) + " in temporary files";
  return text;
}

/// How much each format will write, at most.
class Announced {
 public:
  explicit Announced(std::string path) : path_(std::move(path)) {}

  /// Error: the trace is damaged, or it is more than is begun without being told to.
  Result<ExportSize> of(const Format& format, const ExportRequest& request) {
    if (!shape_) {
      const double calls = visited_events(request.trace, request.streams());
      const Status allowed = allow_visits(path_, calls, static_cast<double>(request.ranks.size()));
      Result<ExportShape> shape = ExportShape::make(
          request, allowed ? ExportShape::Looks::kExact : ExportShape::Looks::kShort);
      if (!shape) return shape.error();
      if (!allowed)
        return Error{ErrorKind::kRefused,
                     allowed.error().message + ", and --ranks takes some of the ranks; --" +
                         format.name + " would write at most " + size_text(format.size(*shape)),
                     0};
      shape_ = std::move(*shape);
    }
    shape_->request = &request;
    return format.size(*shape_);
  }
  double calls() const { return shape_ ? shape_->events : 0; }

 private:
  const std::string path_;
  std::optional<ExportShape> shape_;
};

/// How much will be written is said before it is, where it is much; beyond a bound it is refused.
Status allow_bytes(const Format& format, const std::string& path, const ExportSize& size) {
  constexpr double kMuch = 256e6, kMost = 8e9;
  const double bytes = size.bytes + size.temporary;
  if (bytes > kMost && !takes_all())
    return Error{ErrorKind::kRefused,
                 path + ": --" + format.name + " would write at most " + size_text(size) +
                     "; --all does it, and --ranks takes some of the ranks",
                 0};
  if (size.memory > static_cast<double>(physical_memory() / 2) && !takes_all())
    return Error{ErrorKind::kRefused,
                 path + ": the library of --" + format.name + " takes " + bytes_text(size.memory) +
                     " of memory for the trace's ranks and threads; --all does it",
                 0};
  if (bytes > kMuch)
    std::cerr << "chameleon export: --" << format.name << " writes at most " << size_text(size)
              << "\n";
  return Unit{};
}

void print_size(const ExportRequest& request, const ExportSize& size, double calls) {
  std::cout << request.output << ": at most " << amount_text(size.bytes) << " bytes for "
            << amount_text(calls) << " calls of " << ranks_text(request.ranks);
  if (size.temporary > 0)
    std::cout << ", and " << amount_text(size.temporary) << " bytes in temporary files";
  std::cout << "\n";
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
  for (std::size_t i = 0; i < kFormats.size(); ++i)
    if (!options.outputs[i].empty() && trace->threads > 1 && !kFormats[i].by_thread)
      return fail("export",
                  options.trace + " has ranks with up to " + std::to_string(trace->threads) +
                      " threads, and a rank in --" + kFormats[i].name +
                      " has one sequence of calls",
                  kExitRefused);
  bool any = false;
  PathNames names(*trace);
  Announced announced(options.trace);
  for (std::size_t i = 0; i < kFormats.size(); ++i) {
    if (options.outputs[i].empty()) continue;
    any = true;
    const ExportRequest request{*trace, names, *ranks, options.outputs[i]};
    const Result<ExportSize> size = announced.of(kFormats[i], request);
    if (!size) return fail("export", size.error());
    if (options.dry_run) {
      print_size(request, *size, announced.calls());
      continue;
    }
    if (const Status allowed = allow_bytes(kFormats[i], options.trace, *size); !allowed)
      return fail("export", allowed.error());
    status = export_one(kFormats[i], request, options.quiet);
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
  verb->add_flag("--dry-run", options->dry_run,
                 "Say how many bytes it would be, and write nothing");
  verb->add_flag("-q,--quiet", options->quiet, "Print nothing unless something fails");
  verb->callback([options, &status] { status = run_export(*options); });
}

}  // namespace chameleon::tools
