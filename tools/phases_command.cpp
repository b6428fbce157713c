// SPDX-License-Identifier: BSD-3-Clause
/// `chameleon phases TRACE`: stretches of the run with another mix of communication patterns.

#include <CLI/CLI.hpp>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "analysis/phases.h"
#include "tools/call_sites.h"
#include "tools/common.h"

namespace chameleon::tools {
namespace phases_verb {

using Json = nlohmann::ordered_json;

struct Options {
  std::string trace, criterion = "aic", split = "auto", curve;
  SegmentationOptions segmentation;
  bool json = false;
};

std::string padded(const std::string& text, std::size_t width) {
  return text.size() >= width ? text : std::string(width - text.size(), ' ') + text;
}

double load_balance(const ExecutionPhase& phase, std::uint32_t ranks) {
  return phase.most_compute_ns > 0 ? phase.compute_ns / ranks / phase.most_compute_ns : 0;
}
double communication(const ExecutionPhase& phase) {
  return phase.ns() > 0 ? phase.most_compute_ns / phase.ns() : 0;
}

std::string families_text(const ExecutionPhases& found, const ExecutionPhase& phase,
                          CallSites& sites) {
  constexpr std::size_t kMost = 3;
  std::string text;
  for (std::size_t i = 0; i < phase.families.size() && i < kMost; ++i) {
    const auto [family, count] = phase.families[i];
    text += (i == 0 ? "" : ", ") + ("F" + std::to_string(family + 1)) + " " +
            sites.function(found.patterns.families[family].paths.front()) + " x" +
            count_text(count);
  }
  if (phase.families.size() > kMost)
    text += ", " + std::to_string(phase.families.size() - kMost) + " more";
  return text;
}

void print_text(const Trace& trace, const ExecutionPhases& found, CallSites& sites) {
  const Style style;
  const bool timed = trace.timing != "none";
  std::cout << "phases: " << count_text(found.phases.size())
            << "; instances: " << count_text(found.patterns.instances)
            << "; patterns: " << count_text(found.patterns.patterns.size()) << "\n";
  if (found.phases.empty()) return;
  std::cout << "\n"
            << style.strong(timed ? "phase     begin      time   of run  balance  communication  "
                                    "instances  families"
                                  : "phase  instances  families")
            << "\n";
  const auto run = static_cast<double>(found.phases.back().end_ns);
  for (std::size_t i = 0; i < found.phases.size(); ++i) {
    const ExecutionPhase& phase = found.phases[i];
    std::cout << padded(std::to_string(i + 1), 5);
    if (timed)
      std::cout << padded(duration_text(static_cast<double>(phase.begin_ns)), 10)
                << padded(duration_text(phase.ns()), 10)
                << padded(share_text(run > 0 ? phase.ns() / run : 0), 9)
                << padded(share_text(load_balance(phase, found.ranks)), 9)
                << padded(share_text(communication(phase)), 15);
    std::cout << padded(count_text(phase.last - phase.first), 11) << "  "
              << families_text(found, phase, sites) << "\n";
  }
  for (std::size_t i = 1; i < found.phases.size(); ++i) {
    const ExecutionPhase& phase = found.phases[i];
    if (phase.tie_first < phase.tie_last)
      std::cout << "phase " << i + 1 << " may as well begin at any instance from "
                << count_text(phase.tie_first + 1) << " to " << count_text(phase.tie_last + 1)
                << "; taken: " << count_text(phase.first + 1) << "\n";
  }
}

void print_document(const Trace& trace, const ExecutionPhases& found, const Options& options,
                    CallSites& sites) {
  Json document = json_document("phases");
  document["criterion"] = options.criterion;
  document["published"] = options.segmentation.published;
  document["instances"] = found.patterns.instances;
  document["patterns"] = found.patterns.patterns.size();
  document["phases"] = Json::array();
  for (const ExecutionPhase& phase : found.phases) {
    Json row = {{"first_instance", phase.first}, {"instances", phase.last - phase.first}};
    if (trace.timing != "none") {
      row["begin_seconds"] = static_cast<double>(phase.begin_ns) * 1e-9;
      row["seconds"] = phase.ns() * 1e-9;
      row["load_balance"] = load_balance(phase, found.ranks);
      row["communication_efficiency"] = communication(phase);
    }
    if (&phase != &found.phases.front()) {
      row["strength"] = phase.strength;
      row["tie_first"] = phase.tie_first;
      row["tie_last"] = phase.tie_last;
    }
    row["families"] = Json::array();
    for (const auto& [family, count] : phase.families)
      row["families"].push_back(
          {{"name", "F" + std::to_string(family + 1)},
           {"function", sites.function(found.patterns.families[family].paths.front())},
           {"instances", count}});
    document["phases"].push_back(std::move(row));
  }
  document["splits"] = Json::array();
  for (const Split& split : found.segmentation.splits)
    document["splits"].push_back({{"first", split.first},
                                  {"last", split.last},
                                  {"depth", split.depth},
                                  {"at", split.at},
                                  {"divergence", split.divergence},
                                  {"parameters", split.parameters},
                                  {"strength", split.strength},
                                  {"made", split.made}});
  print_json(document);
}

Status write_curve(const ExecutionPhases& found, const Options& options) {
  const PatternSequence& sequence = found.patterns.sequence;
  const std::vector<double> curve =
      divergence_curve(sequence.patterns, options.segmentation.published);
  std::ofstream file(options.curve);
  file << "instance,pattern,begin_seconds,divergence\n";
  file << std::fixed << std::setprecision(9);
  for (std::size_t i = 0; i < sequence.patterns.size(); ++i) {
    file << i + 1 << ",CP" << sequence.patterns[i] + 1 << ","
         << static_cast<double>(sequence.begins_ns[i]) * 1e-9 << ",";
    if (i > 0) file << curve[i - 1];  // of a split before this instance
    file << "\n";
  }
  file.close();
  if (!file) return Error{ErrorKind::kSystem, "cannot write " + options.curve, 0};
  return Unit{};
}

int run_phases(Options options) {
  int status = kExitOk;
  const std::optional<Trace> trace = load_trace("phases", options.trace, status);
  if (!trace) return status;
  CallSites sites(*trace);
  PatternOptions wanted;
  split_of(options.split, wanted.split);
  wanted.context = [&](std::uint64_t path) { return sites.context(path); };
  wanted.site = [&](std::uint64_t path) { return sites.site_key(path); };
  criterion_of(options.criterion, options.segmentation.criterion);
  const Result<ExecutionPhases> found = find_phases(*trace, wanted, options.segmentation);
  if (!found) return fail("phases", found.error());
  if (!options.curve.empty())
    if (const Status written = write_curve(*found, options); !written)
      return fail("phases", written.error());
  if (options.json)
    print_document(*trace, *found, options, sites);
  else
    print_text(*trace, *found, sites);
  return kExitOk;
}

}  // namespace phases_verb

void add_phases_command(CLI::App& app, int& status) {
  using namespace phases_verb;
  auto options = std::make_shared<Options>();
  CLI::App* verb =
      app.add_subcommand("phases", "Find stretches of the run that communicate differently");
  verb->add_option("trace", options->trace, "Trace file")->required();
  verb->add_option("--criterion", options->criterion,
                   "What makes a split worth it: aic (default), bic, hqc, aicc or caic")
      ->check(CLI::IsMember({"aic", "bic", "hqc", "aicc", "caic"}));
  verb->add_option("--depth", options->segmentation.depth, "Splits of splits at most (3)");
  verb->add_option("--length", options->segmentation.length,
                   "Stretches of so many instances or fewer are not split (0)");
  verb->add_option("--strength", options->segmentation.strength,
                   "Only stronger splits are made (0)");
  verb->add_flag("--published", options->segmentation.published,
                 "The arithmetic of the paper's program instead of its equations");
  verb->add_option("--split", options->split, "Where a rank's part of a pattern ends: see patterns")
      ->check(CLI::IsMember({"auto", "wait", "context"}));
  verb->add_option("--curve", options->curve, "Write the divergence at each instance as CSV");
  verb->add_flag("--json", options->json, "One JSON object");
  verb->callback([options, &status] { status = run_phases(*options); });
}

}  // namespace chameleon::tools
