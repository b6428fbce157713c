// SPDX-License-Identifier: BSD-3-Clause
/// `chameleon predict TRACE --platform FILE`: the trace replayed by SimGrid on a
/// platform described in its XML, and the simulated beside the measured time.

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "analysis/run_length.h"
#include "tools/common.h"
#include "tools/export/export.h"

namespace chameleon::tools {
namespace predict_verb {

struct Options {
  std::string trace, platform, hostfile, smpirun = "smpirun", keep;
  bool json = false;
};

std::string in_quotes(const std::string& word) {
  std::string text = "'";
  for (const char letter : word) text += letter == '\'' ? "'\\''" : std::string(1, letter);
  return text + "'";
}

/// What the replay printed, all of it.
Result<std::string> output_of(const std::string& command, int& status) {
  std::FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return Error{ErrorKind::kSystem, "no process for smpirun", 0};
  std::string text;
  char buffer[4096];
  for (std::size_t n = 0; (n = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;)
    text.append(buffer, n);
  status = pclose(pipe);
  return text;
}

/// The number behind the last "Simulation time", or below 0.
double simulated_seconds(const std::string& output) {
  constexpr std::string_view kWords = "Simulation time ";
  const auto at = output.rfind(kWords);
  if (at == std::string::npos) return -1;
  char* end = nullptr;
  const char* begin = output.c_str() + at + kWords.size();
  const double seconds = std::strtod(begin, &end);
  return end == begin ? -1 : seconds;
}

/// The line that says why: the first grave one, or else the last.
std::string reason(const std::string& output) {
  std::string line, last;
  for (const char letter : output + "\n") {
    if (letter != '\n') {
      line += letter;
      continue;
    }
    for (const char* word : {"CRITICAL", "ERROR", "Deadlock", "exception"})
      if (line.find(word) != std::string::npos) return line;
    if (!line.empty()) last = line;
    line.clear();
  }
  return last;
}

int predict_in(const Options& options, const Trace& trace, const std::string& folder) {
  PathNames names(trace);
  const Result<ExportReport> report = export_simgrid({trace, names, trace.ranks, folder});
  if (!report) return fail("predict", report.error());
  std::string command = in_quotes(options.smpirun) + " -platform " + in_quotes(options.platform) +
                        " -np " + std::to_string(trace.world_size);
  if (!options.hostfile.empty()) command += " -hostfile " + in_quotes(options.hostfile);
  command += " -replay " + in_quotes(folder + "/traces.txt") + " 2>&1";
  int ended = 0;
  const auto begin = std::chrono::steady_clock::now();
  const Result<std::string> output = output_of(command, ended);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  if (!output) return fail("predict", output.error());
  const double simulated = simulated_seconds(*output);
  if (ended != 0 || simulated < 0)
    return fail("predict", "the replay fails: " + reason(*output), kExitRefused);
  const double measured = static_cast<double>(run_length_ns(trace)) * 1e-9;
  if (options.json) {
    nlohmann::ordered_json document = json_document("predict");
    document["ranks"] = trace.world_size;
    document["platform"] = options.platform;
    document["simulated_seconds"] = simulated;
    document["measured_seconds"] = measured;
    document["ratio"] = measured > 0 ? simulated / measured : 0;
    document["simulation_took_seconds"] = took.count();
    document["notes"] = report->notes;
    print_json(document);
    return kExitOk;
  }
  std::cout << "simulated on the platform  " << duration_text(simulated * 1e9) << "\n"
            << "measured in the trace      " << duration_text(measured * 1e9) << "\n";
  char ratio[32];
  std::snprintf(ratio, sizeof ratio, "%.3f", measured > 0 ? simulated / measured : 0);
  std::cout << "simulated / measured       " << ratio << "\n";
  for (const std::string& note : report->notes) std::cout << "  " << note << "\n";
  return kExitOk;
}

int run_predict(const Options& options) {
  int status = kExitOk;
  const std::optional<Trace> trace = load_unthreaded("predict", options.trace, status);
  if (!trace) return status;
  if (trace->ranks.size() != trace->world_size)
    return fail("predict", "the trace does not hold all ranks of its job", kExitRefused);
  for (const std::string* file : {&options.platform, &options.hostfile})
    if (!file->empty() && !std::filesystem::exists(*file))
      return fail("predict", *file + ": no such file", kExitUnreadable);
  std::string folder = options.keep;
  const bool temporary = folder.empty();
  if (temporary) {
    std::string pattern = (std::filesystem::temp_directory_path() / "chameleon-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr)
      return fail("predict", "no temporary folder", kExitUnreadable);
    folder = pattern;
  }
  status = predict_in(options, *trace, folder);
  std::error_code ignored;
  if (temporary) std::filesystem::remove_all(folder, ignored);
  return status;
}

}  // namespace predict_verb

void add_predict_command(CLI::App& app, int& status) {
  using namespace predict_verb;
  auto options = std::make_shared<Options>();
  CLI::App* verb =
      app.add_subcommand("predict", "Simulate the trace on another machine, with SimGrid");
  verb->add_option("trace", options->trace, "Trace file")->required();
  verb->add_option("--platform", options->platform, "SimGrid's description of the machine")
      ->required();
  verb->add_option("--hostfile", options->hostfile, "Hosts of the ranks, a line each");
  verb->add_option("--smpirun", options->smpirun, "SimGrid's launcher (default smpirun)");
  verb->add_option("--keep", options->keep, "Folder for the time-independent trace, kept");
  verb->add_flag("--json", options->json, "One JSON object");
  verb->callback([options, &status] { status = run_predict(*options); });
}

}  // namespace chameleon::tools
