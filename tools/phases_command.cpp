// SPDX-License-Identifier: BSD-3-Clause
/// `chameleon phases TRACE`: stretches of the run with another mix of communication patterns.

#include <CLI/CLI.hpp>
#include <iomanip>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>

#include "analysis/phases.h"
#include "base/new_file.h"
#include "base/time_between.h"
#include "tools/call_sites.h"
#include "tools/common.h"

namespace chameleon::tools {
namespace phases_verb {

using Json = nlohmann::ordered_json;

struct Options {
  std::string trace, by = "patterns", criterion = "aic", split = "auto", curve;
  SegmentationOptions segmentation;
  bool json = false;
};

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
  const TimelineFacts& timeline = found.patterns.timeline;
  if (const std::string text = at_once_text(timeline.events, timeline.at_once); !text.empty())
    std::cout << text << "\n";
}

void print_document(const Trace& trace, const ExecutionPhases& found, const Options& options,
                    CallSites& sites) {
  Json document = json_document("phases");
  document["criterion"] = options.criterion;
  document["published"] = options.segmentation.published;
  document["instances"] = found.patterns.instances;
  document["patterns"] = found.patterns.patterns.size();
  document["events"] = found.patterns.timeline.events;
  document["at_once"] = found.patterns.timeline.at_once;
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
  std::ostringstream file;
  file << "instance,pattern,begin_seconds,divergence\n";
  file << std::fixed << std::setprecision(9);
  for (std::size_t i = 0; i < sequence.patterns.size(); ++i) {
    file << i + 1 << ",CP" << sequence.patterns[i] + 1 << ","
         << static_cast<double>(sequence.begins_ns[i]) * 1e-9 << ",";
    if (i > 0) file << curve[i - 1];  // of a split before this instance
    file << "\n";
  }
  return write_new_file(options.curve, file.str());
}

std::string call_paths_text(const MarkerPhase& phase) {
  constexpr std::size_t kMost = 4;
  std::string text;
  for (std::size_t i = 0; i < phase.call_paths.size() && i < kMost; ++i) {
    const auto [number, count] = phase.call_paths[i];
    text += (i == 0 ? "" : ", ") +
            (number == Series::kOtherPhase ? "others" : "no. " + std::to_string(number)) + " x" +
            count_text(count);
  }
  if (phase.call_paths.size() > kMost)
    text += ", " + std::to_string(phase.call_paths.size() - kMost) + " more";
  return text;
}

void print_markers(const std::vector<MarkerPhase>& phases) {
  const auto share = [](double part, const MarkerPhase& phase) {
    const double whole = phase.compute_ns + phase.calls_ns + phase.waiting_ns;
    return share_text(whole > 0 ? part / whole : 0);
  };
  std::cout << "phases: " << count_text(phases.size())
            << "; markers: " << count_text(phases.back().last) << "\n\n"
            << Style().strong(
                   "phase       markers     begin      time   of run  computing  "
                   "in calls  waiting  Call-Paths")
            << "\n";
  const auto run = static_cast<double>(phases.back().end_ns);
  for (std::size_t i = 0; i < phases.size(); ++i) {
    const MarkerPhase& phase = phases[i];
    const auto ns = static_cast<double>(time_between(phase.begin_ns, phase.end_ns));
    std::cout << padded(std::to_string(i + 1), 5)
              << padded(std::to_string(phase.first) + "-" + std::to_string(phase.last), 14)
              << padded(duration_text(static_cast<double>(phase.begin_ns)), 10)
              << padded(duration_text(ns), 10) << padded(share_text(run > 0 ? ns / run : 0), 9)
              << padded(share(phase.compute_ns, phase), 11)
              << padded(share(phase.calls_ns, phase), 10)
              << padded(share(phase.waiting_ns, phase), 9) << "  " << call_paths_text(phase)
              << "\n";
  }
  for (std::size_t i = 1; i < phases.size(); ++i)
    if (phases[i].tie_first < phases[i].tie_last)
      std::cout << "phase " << i + 1 << " may as well begin with any interval from marker "
                << phases[i].tie_first << " to " << phases[i].tie_last << "\n";
}

void print_markers_document(const std::vector<MarkerPhase>& phases, const Options& options) {
  Json document = json_document("phases");
  document["by"] = options.by;
  document["criterion"] = options.criterion;
  document["published"] = options.segmentation.published;
  document["phases"] = Json::array();
  for (const MarkerPhase& phase : phases) {
    Json row = {{"first_marker", phase.first},
                {"markers", phase.intervals()},
                {"begin_seconds", static_cast<double>(phase.begin_ns) * 1e-9},
                {"seconds", static_cast<double>(time_between(phase.begin_ns, phase.end_ns)) * 1e-9},
                {"compute_seconds", phase.compute_ns * 1e-9},
                {"call_seconds", phase.calls_ns * 1e-9},
                {"waiting_seconds", phase.waiting_ns * 1e-9}};
    if (&phase != &phases.front()) {
      row["strength"] = phase.strength;
      row["tie_first"] = phase.tie_first;
      row["tie_last"] = phase.tie_last;
    }
    row["call_paths"] = Json::array();
    for (const auto& [number, count] : phase.call_paths)
      row["call_paths"].push_back({{"number", number}, {"intervals", count}});
    document["phases"].push_back(std::move(row));
  }
  print_json(document);
}

int run_by_markers(const Trace& trace, const Options& options) {
  if (!options.curve.empty())
    return fail("phases", "--curve is of patterns, not of markers", kExitUsage);
  const std::vector<MarkerPhase> phases = find_marker_phases(trace.series, options.segmentation);
  if (phases.empty())
    return fail("phases",
                options.trace +
                    " has no series over markers: run again with markers, and "
                    "CHAMELEON_CLUSTERING other than off",
                kExitRefused);
  if (options.json)
    print_markers_document(phases, options);
  else
    print_markers(phases);
  return kExitOk;
}

int run_phases(Options options) {
  int status = kExitOk;
  const std::optional<Trace> trace = load_trace("phases", options.trace, status);
  if (!trace) return status;
  criterion_of(options.criterion, options.segmentation.criterion);
  if (options.by == "markers") return run_by_markers(*trace, options);
  CallSites sites(*trace);
  PatternOptions wanted;
  split_of(options.split, wanted.split);
  wanted.context = [&](std::uint64_t path) { return sites.context(path); };
  wanted.site = [&](std::uint64_t path) { return sites.site_key(path); };
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
  verb->add_option("--by", options->by,
                   "What changes: patterns (default), or the Call-Paths at markers")
      ->check(CLI::IsMember({"patterns", "markers"}));
  verb->add_option("--criterion", options->criterion,
                   "What makes a split worth it: aic (default), bic, hqc, aicc or caic")
      ->check(CLI::IsMember({"aic", "bic", "hqc", "aicc", "caic"}));
  verb->add_option("--depth", options->segmentation.depth,
                   "Largest number of levels of splits (3)");
  verb->add_option("--length", options->segmentation.length,
                   "Length of stretches that are not split, in instances (0)");
  verb->add_option("--strength", options->segmentation.strength,
                   "Strength that a split must exceed (0)");
  verb->add_flag("--published", options->segmentation.published,
                 "The arithmetic of the paper's program instead of its equations");
  verb->add_option("--split", options->split, "Where a rank's part of a pattern ends: see patterns")
      ->check(CLI::IsMember({"auto", "wait", "context"}));
  verb->add_option("--curve", options->curve, "Write the divergence at each instance as CSV");
  verb->add_flag("--json", options->json, "One JSON object");
  verb->callback([options, &status] { status = run_phases(*options); });
}

}  // namespace chameleon::tools
