// SPDX-License-Identifier: BSD-3-Clause
/// `chameleon efficiency TRACE...`: where the time of the processors goes, in POP's factors, and
/// how they change over runs of other sizes.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <functional>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "analysis/efficiency.h"
#include "tools/common.h"

namespace chameleon::tools {
namespace efficiency_verb {

struct Options {
  std::vector<std::string> traces;
  bool weak = false, json = false;
};

struct Run {
  std::string name, times;
  Efficiency efficiency;
  double scalability = 1;
  double whole() const { return efficiency.parallel() * scalability; }
};

struct Factor {
  const char *name, *key;
  std::function<double(const Run&)> value;
  bool scaling = false;
};

const std::vector<Factor>& factors() {
  static const std::vector<Factor> all = {
      {"global efficiency", "global_efficiency", &Run::whole, true},
      {"  parallel efficiency", "parallel_efficiency",
       [](const Run& run) { return run.efficiency.parallel(); }},
      {"    load balance", "load_balance",
       [](const Run& run) { return run.efficiency.load_balance(); }},
      {"    communication efficiency", "communication_efficiency",
       [](const Run& run) { return run.efficiency.communication(); }},
      {"      serialisation", "serialisation",
       [](const Run& run) { return run.efficiency.serialisation(); }},
      {"      transfer", "transfer", [](const Run& run) { return run.efficiency.transfer(); }},
      {"  computation scalability", "computation_scalability",
       [](const Run& run) { return run.scalability; }, true},
  };
  return all;
}

void print_row(const std::string& name, const std::vector<Run>& runs,
               const std::function<std::string(const Run&)>& text) {
  std::cout << name << std::string(name.size() < 30 ? 30 - name.size() : 1, ' ');
  for (const Run& run : runs) std::cout << "  " << padded(text(run), 11);
  std::cout << "\n";
}

void print_text(const std::vector<Run>& runs, bool weak) {
  for (const Run& run : runs) std::cout << run.name << ": " << run.times << "\n";
  std::cout << "\n";
  print_row("ranks", runs, [](const Run& run) { return count_text(run.efficiency.ranks); });
  print_row("run", runs, [](const Run& run) { return duration_text(run.efficiency.run_ns); });
  print_row("on an ideal network", runs,
            [](const Run& run) { return duration_text(run.efficiency.ideal_ns); });
  print_row("computing, all ranks", runs,
            [](const Run& run) { return duration_text(run.efficiency.compute_ns); });
  print_row("computing, longest rank", runs,
            [](const Run& run) { return duration_text(run.efficiency.most_compute_ns); });
  std::cout << "\n";
  for (const Factor& factor : factors()) {
    if (factor.scaling && runs.size() < 2) continue;
    const std::string name = factor.name;
    const std::size_t indent = runs.size() < 2 ? 2 : 0;
    print_row(name.substr(std::min(indent, name.find_first_not_of(' '))), runs,
              [&](const Run& run) { return share_text(factor.value(run)); });
  }
  if (runs.size() > 1)
    std::cout << "\nscalability against " << runs.front().name
              << (weak ? ", computing of a rank" : ", computing of all ranks") << "\n";
  for (const Run& run : runs)
    if (const Efficiency& of = run.efficiency; of.at_once > 0)
      std::cout << (runs.size() > 1 ? run.name + ": " : "") << at_once_text(of.events, of.at_once)
                << "\n";
  for (const Run& run : runs)
    if (run.efficiency.unmatched > 0)
      std::cout << run.name << ": " << count_text(run.efficiency.unmatched)
                << " receives and collectives are unmatched and wait for no rank\n";
}

void print_document(const std::vector<Run>& runs, bool weak) {
  nlohmann::ordered_json document = json_document("efficiency");
  document["scaling"] = weak ? "weak" : "strong";
  document["runs"] = nlohmann::ordered_json::array();
  for (const Run& run : runs) {
    const Efficiency& found = run.efficiency;
    nlohmann::ordered_json row = {{"trace", run.name},
                                  {"ranks", found.ranks},
                                  {"run_seconds", found.run_ns * 1e-9},
                                  {"ideal_seconds", found.ideal_ns * 1e-9},
                                  {"compute_seconds", found.compute_ns * 1e-9},
                                  {"most_compute_seconds", found.most_compute_ns * 1e-9},
                                  {"unmatched", found.unmatched},
                                  {"events", found.events},
                                  {"at_once", found.at_once}};
    for (const Factor& factor : factors()) row[factor.key] = factor.value(run);
    document["runs"].push_back(std::move(row));
  }
  print_json(document);
}

int run_efficiency(const Options& options) {
  std::vector<Run> runs;
  for (const std::string& name : options.traces) {
    int status = kExitOk;
    const std::optional<Trace> trace = load_unthreaded("efficiency", name, status);
    if (!trace) return status;
    if (trace->timing == "none")
      return fail("efficiency",
                  name + " has no times: run again with CHAMELEON_TIMING=histogram or full",
                  kExitRefused);
    const Result<Efficiency> found = efficiency_of(*trace);
    if (!found) return fail("efficiency", found.error());
    runs.push_back({name, timeline_text(*trace), *found});
    runs.back().scalability =
        computation_scalability(runs.front().efficiency, *found, options.weak);
  }
  if (options.json)
    print_document(runs, options.weak);
  else
    print_text(runs, options.weak);
  return kExitOk;
}

}  // namespace efficiency_verb

void add_efficiency_command(CLI::App& app, int& status) {
  using namespace efficiency_verb;
  auto options = std::make_shared<Options>();
  CLI::App* verb = app.add_subcommand(
      "efficiency", "Split parallel efficiency into load balance, waiting and transfer");
  verb->add_option("traces", options->traces,
                   "Trace files; of several, the first is what others are compared with")
      ->required();
  verb->add_flag("--weak", options->weak,
                 "The problem grows with the ranks: compare computing of a rank");
  verb->add_flag("--json", options->json, "One JSON object");
  verb->callback([options, &status] { status = run_efficiency(*options); });
}

}  // namespace chameleon::tools
