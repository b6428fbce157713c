// SPDX-License-Identifier: BSD-3-Clause
/// `chameleon replay TRACE`: checks that a trace can be replayed without
/// hanging, and runs it as an MPI job of chameleon-replay.

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "amounts.h"
#include "analysis/check.h"
#include "analysis/thread_order.h"
#include "call_sites.h"
#include "common.h"
#include "launch.h"
#include "runtimes.h"

namespace chameleon::tools {
namespace replay_verb {

struct Options {
  std::string trace;
  int ranks = 0;
  std::string compute = "sleep";
  double time_scale = 1;
  std::string launcher, mpi;
  std::string scratch;
  std::vector<std::string> settings;
  bool no_check = false;
  bool best_effort = false;
  bool json = false;
};

/// Why the trace is not replayed, or an empty string.
std::string refusal(const Options& options, const Trace& trace, const CheckReport* report) {
  if (options.ranks != 0 && static_cast<std::uint32_t>(options.ranks) != trace.world_size)
    return "the trace is of " + std::to_string(trace.world_size) + " ranks, not " +
           std::to_string(options.ranks);
  if (const RankList ranks = trace.whole_ranks(); ranks.size() != trace.world_size)
    return "the trace holds only ranks " + ranks.to_string() + " of " +
           std::to_string(trace.world_size);
  return report == nullptr ? "" : replay_refusal(trace, *report);
}

int replay(const Options& options) {
  for (const std::string& text : options.settings)
    if (!is_setting(text)) return fail("replay", "--env takes NAME=VALUE, not " + text, kExitUsage);
  int status = kExitOk;
  const std::optional<Trace> trace = load_trace("replay", options.trace, status);
  if (!trace) return status;
  std::optional<CheckReport> report;
  // A wrong number of ranks needs no simulation.
  if (std::string why = refusal(options, *trace, nullptr); !why.empty())
    return fail("replay", why, kExitRefused);
  if (trace->threads > 1) {
    CallSites sites(*trace);
    const Result<ThreadOrders> orders =
        order_threads(*trace, [&](std::uint64_t path) { return sites.site(path); });
    if (!orders) return fail("replay", orders.error());
    if (!orders->why_none.empty())
      return fail("replay", "refused: " + orders->why_none, kExitRefused);
  } else if (!options.no_check && !options.best_effort) {
    Result<CheckReport> checked = check(*trace);
    if (!checked) return fail("replay", checked.error());
    report = std::move(*checked);
  }
  if (std::string why = refusal(options, *trace, report ? &*report : nullptr); !why.empty())
    return fail("replay", "refused: " + why, kExitRefused);

  const std::string replayer = find_replayer(options.mpi);
  if (replayer.empty())
    return options.mpi.empty()
               ? fail("replay", "chameleon-replay is not beside this command", kExitNoLauncher)
               : fail("replay", "--mpi " + options.mpi + ": there is no chameleon-replay for it",
                      kExitUsage);
  char scale[32];
  std::snprintf(scale, sizeof scale, "%.17g", options.time_scale);
  std::vector<std::string> program = {replayer, "--compute=" + options.compute,
                                      std::string("--time-scale=") + scale};
  if (!options.scratch.empty())
    program.push_back("--scratch=" + std::filesystem::absolute(options.scratch).string());
  if (const std::uint64_t asked = asked_memory(); asked != 0)
    program.push_back("--memory=" + std::to_string(asked));
  if (options.json) program.emplace_back("--json");
  if (options.best_effort) program.emplace_back("--best-effort");
  if (options.no_check) program.emplace_back("--no-check");
  program.push_back(std::filesystem::absolute(options.trace).string());
  const std::string launcher =
      options.launcher.empty() ? default_launcher(mpi_of_file(replayer)) : options.launcher;
  return launch("replay", launch_line(launcher, static_cast<int>(trace->world_size),
                                      options.settings, program));
}

}  // namespace replay_verb

void add_replay_command(CLI::App& app, int& status) {
  using namespace replay_verb;
  auto options = std::make_shared<Options>();
  CLI::App* verb = app.add_subcommand("replay", "Run a trace as an MPI job");
  verb->add_option("trace", options->trace, "Trace file")->required();
  verb->add_option("-n,--ranks", options->ranks, "Number of ranks; it must be that of the trace")
      ->check(count_of("ranks"));
  verb->add_option("--compute", options->compute, "Time between calls: sleep (default), spin, none")
      ->check(CLI::IsMember({"sleep", "spin", "none"}));
  verb->add_option("--time-scale", options->time_scale, "Factor for the time between calls")
      ->check(number_from(0, 1e6));
  verb->add_option("--launcher", options->launcher,
                   "Launcher and its options (default that of the replay's MPI, mpiexec.mpich or "
                   "mpiexec.openmpi, or mpiexec)");
  verb->add_option("--mpi", options->mpi,
                   "MPI to replay under: mpich, openmpi (default the first one that Chameleon is "
                   "built for)");
  verb->add_option("--env", options->settings, "NAME=VALUE for the job; may be repeated")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  verb->add_option("--scratch", options->scratch,
                   "Folder for scratch files, seen by all ranks; without, calls on files are left "
                   "out")
      ->check(CLI::ExistingDirectory);
  verb->add_flag("--no-check", options->no_check,
                 "Do not check the trace first: the replay may hang");
  verb->add_flag("--best-effort", options->best_effort,
                 "Leave out unmatched operations, and replay the rest");
  verb->add_flag("--json", options->json, "Results as one JSON object");
  verb->callback([options, &status] { status = replay(*options); });
}

}  // namespace chameleon::tools
