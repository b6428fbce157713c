// SPDX-License-Identifier: BSD-3-Clause
/// `chameleon report TRACE -o report.html`: the trace as one page for a browser.

#include <sys/stat.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/new_file.h"
#include "tools/common.h"
#include "tools/report/report.h"

namespace chameleon::tools {
namespace report_verb {

struct Options {
  std::string trace, output, ranks;
  std::uint64_t events = 50'000'000;
  std::vector<std::string> sources;
  bool no_source = false, data = false, quiet = false;
};

int run_report(const Options& options) {
  int status = kExitOk;
  FileFacts file;
  const std::optional<Trace> trace = load_trace("report", options.trace, status, &file);
  if (!trace) return status;
  const std::string path =
      options.output.empty() ? output_here(options.trace, ".html") : options.output;
  struct stat input {
  }, output{};
  if (::stat(options.trace.c_str(), &input) == 0 && ::stat(path.c_str(), &output) == 0 &&
      input.st_dev == output.st_dev && input.st_ino == output.st_ino)
    return fail("report", path + ": this is the trace itself", kExitUsage);
  Result<RankList> wanted = RankList();
  if (!options.ranks.empty()) wanted = wanted_ranks(*trace, options.ranks);
  if (!wanted) return fail("report", wanted.error());
  const SourceFolders sources(trace->directory, options.sources);
  const Result<report::Json> document = report::document(
      {*trace, file, std::string(base_name(options.trace)), options.no_source ? nullptr : &sources,
       options.events, std::move(*wanted)});
  if (!document) return fail("report", document.error());
  if (options.data) {
    print_json(*document);
    return kExitOk;
  }
  const std::string page = report::page(*document);
  if (const Status written = write_new_file(path, page); !written)
    return fail("report", written.error());
  if (!options.quiet)
    std::cout << path << ": " << bytes_text(static_cast<double>(page.size())) << ", "
              << count_text(trace->event_count()) << " calls of "
              << count_text(trace->whole_ranks().size()) << " ranks\n";
  if (!options.quiet && document->contains("left_out"))
    std::cout << "  " << (*document)["left_out"].get<std::string>() << "\n";
  return kExitOk;
}

}  // namespace report_verb

void add_report_command(CLI::App& app, int& status) {
  using namespace report_verb;
  auto options = std::make_shared<Options>();
  CLI::App* verb = app.add_subcommand("report", "Write the trace as one page for a browser");
  verb->add_option("trace", options->trace, "Trace file")->required();
  verb->add_option("-o,--output", options->output,
                   "The page; default: the trace's name, .html, here");
  verb->add_option("--events", options->events,
                   "Read every call (for matrix and timeline) of traces with at most this many")
      ->capture_default_str();
  verb->add_option("--ranks", options->ranks,
                   "Ranks that the timeline shows call by call, such as 0-15 (up to 64; default: "
                   "those that compute most and least, leads, and some between)");
  verb->add_option("--source", options->sources,
                   "Show lines of source files in this folder too; without it, of those in the "
                   "trace's folder that are also in the current one (may be repeated)");
  verb->add_flag("--no-source", options->no_source, "Without lines of the program's source");
  CLI::Option* data = verb->add_flag("--json", options->data, "Print the page's data instead");
  verb->add_flag("-q,--quiet", options->quiet, "Print nothing unless something fails")
      ->excludes(data);
  verb->callback([options, &status] { status = run_report(*options); });
}

}  // namespace chameleon::tools
