// SPDX-License-Identifier: BSD-3-Clause
/// `chameleon summary TRACE`: what a reader wants to know first, on one page.

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "tools/common.h"
#include "tools/summary.h"

namespace chameleon::tools {
namespace summary_verb {

struct Options {
  std::string trace;
  bool json = false;
};

int summarize(const Options& options) {
  int status = kExitOk;
  FileFacts file;
  const std::optional<Trace> trace = load_trace("summary", options.trace, status, &file);
  if (!trace) return status;
  const Result<TraceSummary> summary = TraceSummary::make(*trace);
  if (!summary) return fail("summary", summary.error());
  if (options.json)
    print_json(summary_document(*trace, file, *summary));
  else
    print_summary(options.trace, *trace, file, *summary);
  return kExitOk;
}

}  // namespace summary_verb

void add_summary_command(CLI::App& app, int& status) {
  using namespace summary_verb;
  auto options = std::make_shared<Options>();
  CLI::App* verb =
      app.add_subcommand("summary", "Show what ran, where its time went, and what stands out");
  verb->add_option("trace", options->trace, "Trace file")->required();
  verb->add_flag("--json", options->json, "One JSON object");
  verb->callback([options, &status] { status = summarize(*options); });
}

}  // namespace chameleon::tools
