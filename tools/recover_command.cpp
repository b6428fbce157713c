// SPDX-License-Identifier: BSD-3-Clause
/// `chameleon recover TRACE`: joins the trace of a killed job with the partial
/// traces that its ranks left beside it.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "analysis/recover.h"
#include "common.h"
#include "left_parts.h"

namespace chameleon::tools {
namespace recover_verb {

struct Options {
  std::string trace;
  std::string output;
  bool json = false;
};

void print_document(const Trace& trace, const Recovery& recovery, const std::string& output) {
  nlohmann::ordered_json document = json_document("recover");
  document["output"] = output;
  document["ranks"] = trace.world_size;
  document["joined"] = recovery.joined.to_string();
  document["missing"] = recovery.missing.to_string();
  document["left_out"] = recovery.left_out;
  document["ended"] = nlohmann::ordered_json::array();
  for (const auto& [rank, what] : trace.ends)
    document["ended"].push_back(what + " on rank " + std::to_string(rank));
  document["events"] = trace.event_count();
  print_json(document);
}

int run_recover(const Options& options) {
  int status = kExitOk;
  std::optional<Trace> trace = load_trace("recover", options.trace, status);
  if (!trace) return status;
  if (trace->complete)
    return fail("recover", options.trace + " is complete: there is nothing to join", kExitRefused);
  const std::vector<std::string> names = parts_of(options.trace);
  if (names.empty())
    return fail(
        "recover",
        "there is no " + options.trace + ".rankN: ranks write one on SIGTERM, MPI_Abort and exit()",
        kExitRefused);
  const Recovery recovery = join_parts(*trace, options.trace);
  for (const std::string& why : recovery.left_out)
    fail("recover", "left out: " + why, kExitMismatch);
  if (recovery.joined.empty())
    return fail("recover", "no partial trace fits " + options.trace, kExitRefused);
  const std::string output =
      options.output.empty() ? output_here(options.trace, ".recovered.cham") : options.output;
  if (const Status written = create_trace_file(output, *trace); !written)
    return fail("recover", written.error());
  if (options.json) {
    print_document(*trace, recovery, output);
  } else {
    std::cout << output << ": " << count_text(trace->event_count()) << " events; joined "
              << ranks_text(recovery.joined) << " of " << count_text(trace->world_size);
    if (!recovery.missing.empty())
      std::cout << "; " << ranks_text(recovery.missing) << " only to the last flush, as declared";
    std::cout << "\n";
  }
  return kExitOk;
}

}  // namespace recover_verb

void add_recover_command(CLI::App& app, int& status) {
  using namespace recover_verb;
  auto options = std::make_shared<Options>();
  CLI::App* verb = app.add_subcommand(
      "recover", "Join the trace of a killed job with the parts that its ranks left");
  verb->add_option("trace", options->trace, "Trace file, with TRACE.rankN in the same folder")
      ->required();
  verb->add_option("-o,--output", options->output, "Default: TRACE.recovered.cham, here");
  verb->add_flag("--json", options->json, "One JSON object");
  verb->callback([options, &status] { status = run_recover(*options); });
}

}  // namespace chameleon::tools
