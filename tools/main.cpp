// SPDX-License-Identifier: BSD-3-Clause
/// The `chameleon` command: one verb a file, described in docs/reference/command.md.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <iostream>
#include <new>
#include <vector>

#include "base/edit_distance.h"
#include "common.h"
#include "process/settings.h"
#include "tools/safe_output.h"

#ifndef CHAMELEON_VERSION
#define CHAMELEON_VERSION "0"
#define CHAMELEON_BUILD_FACTS ""
#endif

namespace {

bool has_verb(const CLI::App& app, const std::string& name) {
  return !app.get_subcommands([&](const CLI::App* verb) { return verb->get_name() == name; })
              .empty();
}

bool is_file(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_regular_file(path, error);
}

/// The verb that is meant, maybe.
std::string near_verbs(const CLI::App& app, const std::string& name) {
  const CLI::App* best = nullptr;
  std::size_t least = chameleon::kUnrelatedNames;
  for (const CLI::App* verb : app.get_subcommands([](const CLI::App*) { return true; }))
    if (const std::size_t away = chameleon::edit_distance(name, verb->get_name()); away < least) {
      best = verb;
      least = away;
    }
  if (best != nullptr) return "; is " + best->get_name() + " meant?";
  return ", and no file of that name (see chameleon --help)";
}

int run_command(int argc, char** argv) {
  // What follows `--` of `run` is the application's, including a `--` of its own.
  std::vector<std::string> arguments(argv + 1, argv + argc);
  std::vector<std::string> application;
  if (!arguments.empty() && arguments.front() == "run") {
    const auto separator = std::find(arguments.begin(), arguments.end(), "--");
    if (separator != arguments.end()) {
      application.assign(separator + 1, arguments.end());
      arguments.erase(separator, arguments.end());
    }
  }

  int status = chameleon::tools::kExitOk;
  CLI::App app(
      "Chameleon traces MPI programs, and finds the ranks, time steps and functions that make them "
      "slow.",
      "chameleon");
  app.set_version_flag("--version", "chameleon " CHAMELEON_VERSION "\ntrace format: " +
                                        std::to_string(chameleon::format::kFormatMajor) + "." +
                                        std::to_string(chameleon::format::kFormatMinor) +
                                        "\n" CHAMELEON_BUILD_FACTS);
  app.require_subcommand(1);
  std::string memory;
  bool takes_all = false;
  app.add_option("--memory", memory,
                 "Most memory that reading a trace takes, such as 4G; default: a quarter of this "
                 "machine's, at most 1G");
  app.add_flag("--all", takes_all, "Start also what takes long, or writes much");
  app.parse_complete_callback([&] {
    std::uint64_t most = 0;
    if (!memory.empty()) {
      const auto size = chameleon::process::parse_size(memory);
      if (!size || *size == 0)
        throw CLI::ValidationError("--memory", "takes a size such as 4G, not " + memory);
      most = *size;
    }
    chameleon::tools::set_limits(most, takes_all);
  });
  app.failure_message([](const CLI::App* failed, const CLI::Error& error) {
    const CLI::App* verb = failed;
    while (verb != nullptr && !verb->get_subcommands().empty()) verb = verb->get_subcommands()[0];
    const std::string name =
        verb != nullptr && verb->get_parent() != nullptr ? " " + verb->get_name() : "";
    return "chameleon" + name + ": " + error.what() + " (see chameleon" + name + " --help)\n";
  });
  chameleon::tools::add_run_command(app, application, status);
  chameleon::tools::add_doctor_command(app, status);
  chameleon::tools::add_summary_command(app, status);
  chameleon::tools::add_report_command(app, status);
  chameleon::tools::add_watch_command(app, status);
  chameleon::tools::add_serve_command(app, status);
  chameleon::tools::add_info_command(app, status);
  chameleon::tools::add_print_command(app, status);
  chameleon::tools::add_stats_command(app, status);
  chameleon::tools::add_series_command(app, status);
  chameleon::tools::add_sample_command(app, status);
  chameleon::tools::add_check_command(app, status);
  chameleon::tools::add_verify_command(app, status);
  chameleon::tools::add_replay_command(app, status);
  chameleon::tools::add_recover_command(app, status);
  chameleon::tools::add_redact_command(app, status);
  chameleon::tools::add_simulate_command(app, status);
  chameleon::tools::add_export_command(app, status);
  chameleon::tools::add_predict_command(app, status);
  chameleon::tools::add_matrix_command(app, status);
  chameleon::tools::add_cluster_command(app, status);
  chameleon::tools::add_compare_command(app, status);
  chameleon::tools::add_pairs_command(app, status);
  chameleon::tools::add_phases_command(app, status);
  chameleon::tools::add_efficiency_command(app, status);
  chameleon::tools::add_slow_command(app, status);
  chameleon::tools::add_critical_command(app, status);
  chameleon::tools::add_whatif_command(app, status);
  chameleon::tools::add_patterns_command(app, status);

  // What `run` does not know it explains itself, and after it comes a program's command line.
  for (CLI::App* verb : app.get_subcommands({})) verb->fallthrough(verb->get_name() != "run");

  if (arguments.empty()) {
    std::cout << app.help();
    return chameleon::tools::kExitUsage;
  }
  // The parser would only say that a verb is missing.
  const std::string& first = arguments.front();
  if (!first.empty() && first.front() != '-' && !has_verb(app, first)) {
    if (!is_file(first))
      return chameleon::tools::fail(first, "no such verb" + near_verbs(app, first),
                                    chameleon::tools::kExitUsage);
    arguments.insert(arguments.begin(), "summary");  // a trace alone: what is in it
  }

  // The parser takes its arguments last first.
  std::reverse(arguments.begin(), arguments.end());
  try {
    app.parse(arguments);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? chameleon::tools::kExitOk : chameleon::tools::kExitUsage;
  }
  return status;
}

/// A full disk is noticed as late as here.
int written(int status) {
  std::cout.flush();
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return status;
  return chameleon::tools::fail("", "standard output cannot be written to",
                                chameleon::tools::kExitUnreadable);
}

}  // namespace

int main(int argc, char** argv) {
  const chameleon::tools::SafeOutput out(std::cout), errors(std::cerr);
  try {
    return written(run_command(argc, argv));
  } catch (const std::bad_alloc&) {
    return chameleon::tools::out_of_memory();
  } catch (const std::exception& error) {  // a closed pipe
    return chameleon::tools::fail("", error.what(), chameleon::tools::kExitUnreadable);
  }
}
