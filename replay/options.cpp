// SPDX-License-Identifier: BSD-3-Clause
#include "replay/options.h"

#include <CLI/CLI.hpp>
#include <cstdlib>

namespace chameleon::replay {
namespace {

/// CLI::Range takes "nan".
const CLI::Validator kSensible(
    [](std::string& text) -> std::string {
      const double number = std::strtod(text.c_str(), nullptr);
      return number >= 0 && number <= 1e6 ? "" : "'" + text + "' is not from 0 to 1000000";
    },
    "");

const CLI::Validator kNotEmpty(
    [](std::string& text) -> std::string { return text.empty() ? "it is empty" : ""; }, "");

Compute compute_of(const std::string& word) {
  return word == "spin" ? Compute::kSpin : word == "none" ? Compute::kNone : Compute::kSleep;
}

void describe(CLI::App& app, Options& options) {
  app.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  app.add_option_function<std::string>(
         "--compute", [&options](const std::string& word) { options.compute = compute_of(word); },
         "Time between calls: sleep (default), spin, none")
      ->check(CLI::IsMember({"sleep", "spin", "none"}));
  app.add_option("--time-scale", options.time_scale, "Factor for the time between calls")
      ->check(kSensible);
  app.add_option(
         "--scratch", options.scratch,
         "Folder for scratch files, seen by all ranks; without, calls on files are left out")
      ->check(kNotEmpty);
  app.add_option(
         "--patience", options.patience,
         "Seconds without progress after which a replay that leaves out operations gives up (60)")
      ->check(kSensible);
  app.add_option("--memory", options.memory, "Most bytes of memory that reading the trace takes");
  app.add_flag("--best-effort", options.best_effort,
               "Leave out unmatched operations, and replay the rest");
  app.add_flag("--no-check", options.no_check, "Do not check the trace first: the replay may hang");
  app.add_flag("--guard", options.guard,
               "Put each buffer before memory that cannot be touched: a call that goes beyond its "
               "buffer ends the replay");
  app.add_flag("--json", options.json, "Results as one JSON object");
  app.add_option("TRACE", options.trace, "Trace file")
      ->required()
      ->multi_option_policy(CLI::MultiOptionPolicy::Throw);
}

}  // namespace

Result<Options> parse_options(int argc, const char* const* argv) {
  Options options;
  CLI::App app("Runs a trace as an MPI job, a rank a process.",
               "mpiexec -n RANKS chameleon-replay");
  describe(app, options);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    options.help = app.help();
  } catch (const CLI::ParseError& error) {
    return Error{ErrorKind::kUsage, error.what(), 0};
  }
  return options;
}

}  // namespace chameleon::replay
