// SPDX-License-Identifier: BSD-3-Clause
/// `chameleon redact TRACE`: the trace without what says whose it is.

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>

#include "analysis/redact_raw.h"
#include "tools/common.h"

namespace chameleon::tools {
namespace redact_verb {

struct Options {
  std::string trace, output, raw;
  bool quiet = false;
};

/// Beside the redacted trace: `app.redacted.cham` has `app.redacted.raw`.
std::string raw_folder(const std::string& output) {
  constexpr std::string_view kSuffix = ".cham";
  const std::string_view name = output;
  return std::string(name.substr(0, name.size() - (name.ends_with(kSuffix) ? kSuffix.size() : 0))) +
         ".raw";
}

int run_redact(const Options& options) {
  int status = kExitOk;
  std::optional<Trace> trace = load_trace("redact", options.trace, status);
  if (!trace) return status;
  RedactedTexts texts = redact(*trace);
  const std::string output =
      options.output.empty() ? output_here(options.trace, ".redacted.cham") : options.output;
  if (const Status written = create_trace_file(output, *trace); !written)
    return fail("redact", written.error());
  std::string records;
  if (!options.raw.empty()) {
    const std::string folder = raw_folder(output);
    const Result<std::size_t> files = redact_raw(*trace, std::move(texts), options.raw, folder);
    if (!files) return fail("redact", files.error());
    records = printable(folder) + ": " + count_text(*files) + " files of raw records, likewise\n";
  }
  if (!options.quiet)
    std::cout << printable(output)
              << ": without command line, folders, hosts, rules and texts of calls; "
                 "names of functions, source files and modules are still in it\n"
              << records;
  return kExitOk;
}

}  // namespace redact_verb

void add_redact_command(CLI::App& app, int& status) {
  using namespace redact_verb;
  auto options = std::make_shared<Options>();
  CLI::App* verb = app.add_subcommand(
      "redact", "Write the trace without command line, folders, hosts and texts, to give away");
  verb->add_option("trace", options->trace, "Trace file")->required();
  verb->add_option("-o,--output", options->output, "Default: TRACE.redacted.cham, here");
  verb->add_option("--raw", options->raw,
                   "Folder of the run's raw records: write these too, to TRACE.redacted.raw");
  verb->add_flag("-q,--quiet", options->quiet, "Print nothing unless something fails");
  verb->callback([options, &status] { status = run_redact(*options); });
}

}  // namespace chameleon::tools
