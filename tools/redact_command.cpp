// SPDX-License-Identifier: BSD-3-Clause
/// `chameleon redact TRACE`: the trace without what says whose it is.

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>

#include "analysis/redact.h"
#include "tools/call_sites.h"
#include "tools/common.h"

namespace chameleon::tools {
namespace redact_verb {

struct Options {
  std::string trace, output;
  bool quiet = false;
};

/// `folder/app.cham` as `app.redacted.cham`: in the current folder.
std::string output_name(const std::string& trace) {
  constexpr std::string_view kSuffix = ".cham";
  std::string_view name = base_name(trace);
  if (name.ends_with(kSuffix)) name.remove_suffix(kSuffix.size());
  return std::string(name) + ".redacted.cham";
}

int run_redact(const Options& options) {
  int status = kExitOk;
  std::optional<Trace> trace = load_trace("redact", options.trace, status);
  if (!trace) return status;
  redact(*trace);
  const std::string output = options.output.empty() ? output_name(options.trace) : options.output;
  if (const Status written = create_trace_file(output, *trace); !written)
    return fail("redact", written.error());
  if (!options.quiet)
    std::cout << printable(output)
              << ": without command line, folders, hosts, rules and texts of calls; "
                 "names of functions, source files and modules are still in it\n";
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
  verb->add_flag("-q,--quiet", options->quiet, "Print nothing unless something fails");
  verb->callback([options, &status] { status = run_redact(*options); });
}

}  // namespace chameleon::tools
