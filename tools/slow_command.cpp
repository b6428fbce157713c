// SPDX-License-Identifier: BSD-3-Clause
/// `chameleon slow TRACE`: communication that took far longer than usual, whose fault that was,
/// where, and what the run would gain without.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "analysis/phases.h"
#include "analysis/slow_instances.h"
#include "statistics/affinity.h"
#include "tools/call_sites.h"
#include "tools/common.h"

namespace chameleon::tools {
namespace slow_verb {

using Json = nlohmann::ordered_json;

struct Options {
  std::string trace, split = "auto";
  double least = 1;         ///< percent of the run
  std::uint64_t phase = 0;  ///< 0: the whole run
  SlowOptions slow;
  bool json = false;
};

std::string pattern_name(std::size_t index) { return "CP" + std::to_string(index + 1); }
std::string family_name(std::size_t index) { return "F" + std::to_string(index + 1); }

/// `Isend at stencil.cpp:88 exchange()`.
std::string call_text(const Trace& trace, CallSites& sites, std::uint16_t call,
                      std::uint64_t path) {
  const auto known = trace.calls.find(call);
  return (known == trace.calls.end() ? "call " + std::to_string(call) : known->second.name) +
         " at " + sites.site(path);
}

bool matters(const SlowReport& report, const SlowFinding& finding, const Options& options) {
  return finding.saving_ns && 100 * report.gain(finding) >= options.least;
}

/// Of each pattern, the one with most of them first.
struct Numbers {
  std::size_t pattern = 0;
  std::vector<std::uint64_t> numbers;
};
std::vector<Numbers> numbers_of(const SlowReport& report, const SlowFinding& finding) {
  std::vector<Numbers> all;
  for (const std::size_t i : finding.instances) {
    const SlowInstance& one = report.slow[i];
    auto known = std::find_if(all.begin(), all.end(),
                              [&](const Numbers& other) { return other.pattern == one.pattern; });
    if (known == all.end()) known = all.insert(all.end(), {one.pattern, {}});
    known->numbers.push_back(one.number);
  }
  for (Numbers& one : all) std::sort(one.numbers.begin(), one.numbers.end());
  std::stable_sort(all.begin(), all.end(), [](const Numbers& a, const Numbers& b) {
    return a.numbers.size() > b.numbers.size();
  });
  return all;
}

std::string ranges_text(const std::vector<std::uint64_t>& numbers) {
  std::string text;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t last = i;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    text += (text.empty() ? "" : ",") + std::to_string(numbers[i]);
    if (last > i) text += "-" + std::to_string(numbers[last]);
    i = last + 1;
  }
  return text;
}

std::string capital(std::string text) {
  if (!text.empty()) text[0] = static_cast<char>(std::toupper(text[0]));
  return text;
}

std::string families_text(const SlowReport& report, const SlowFinding& finding, CallSites& sites) {
  std::vector<std::string> names;
  for (const std::size_t i : finding.instances) {
    const PatternFamily& family = report.patterns.families[report.slow[i].family];
    const std::string name = sites.function(family.paths.front());
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  std::string text;
  for (std::size_t i = 0; i < names.size() && i < 3; ++i) text += (i > 0 ? ", " : "") + names[i];
  return text + (names.size() > 3 ? ", ..." : "");
}

void print_finding(const Trace& trace, const SlowReport& report, const SlowFinding& finding,
                   CallSites& sites, const Style& style) {
  const bool computes = finding.delay.kind == Delay::Kind::kCompute;
  const bool several = finding.instances.size() > 1;
  std::cout << style.hot(share_text(report.gain(finding))) << "  "
            << capital(ranks_text(finding.ranks)) << (computes ? " computed for " : " took ")
            << duration_text(finding.delay_ns) << (several ? " on average" : "") << " (usually "
            << duration_text(finding.usual_ns) << ") " << (computes ? "before " : "in ")
            << call_text(trace, sites, finding.delay.call, finding.delay.path) << "\n";
  std::cout << "        ";
  constexpr std::size_t kMost = 3;
  const std::vector<Numbers> numbers = numbers_of(report, finding);
  for (std::size_t i = 0; i < numbers.size() && i < kMost; ++i) {
    const Numbers& one = numbers[i];
    std::cout << (i == 0 ? "" : "; ") << (one.numbers.size() > 1 ? "instances " : "instance ")
              << ranges_text(one.numbers) << " of "
              << count_text(report.patterns.patterns[one.pattern].sums.instances) << " of "
              << pattern_name(one.pattern);
  }
  if (numbers.size() > kMost) std::cout << "; of " << numbers.size() - kMost << " more patterns";
  std::cout << ", in " << families_text(report, finding, sites) << "\n";
  std::cout << "        " << wait_name(finding.wait) << ": ranks waited for "
            << duration_text(finding.waited_ns) << " in all, longest at "
            << sites.site(finding.wait_path) << "; affinity "
            << affinity_name(statistics::affinity_of(finding.angle)) << "\n";
}

void print_rest(std::uint64_t count, const std::string& what) {
  if (count > 0) std::cout << count_text(count) << " " << what << "\n";
}

void print_text(const Trace& trace, const SlowReport& report, const Options& options,
                CallSites& sites) {
  const Style style;
  std::cout << timeline_text(trace) << "\n";
  std::cout << "slow instances: " << count_text(report.slow.size()) << " of "
            << count_text(report.patterns.instances) << ", in "
            << count_text(report.patterns.patterns.size()) << " patterns";
  if (report.clock_error_ns > 0)
    std::cout << "; clocks known to within "
              << duration_text(static_cast<double>(report.clock_error_ns));
  std::cout << "\n";
  std::size_t below = 0, untried = 0;
  bool any = false;
  for (const SlowFinding& finding : report.findings) {
    if (!finding.saving_ns)
      untried += finding.instances.size();
    else if (!matters(report, finding, options))
      below += finding.instances.size();
    else {
      if (!any) std::cout << "\n" << style.strong("gain    without the delay") << "\n";
      any = true;
      print_finding(trace, report, finding, sites, style);
    }
  }
  std::cout << "\n";
  if (!any) std::cout << "no delay stands out\n";
  char least[32];
  std::snprintf(least, sizeof least, "%g %%", options.least);
  print_rest(below, std::string("are of delays each worth less than ") + least + " of the run");
  print_rest(untried, "are of other delays, for which ranks waited less (--limit)");
  print_rest(report.unexplained, "have no wait that explains half of the additional time");
  print_rest(report.within_error, "waited for less than the error of the clocks");
  print_rest(report.at_markers, "waited for a rank that waited at a marker");
  print_rest(report.unknown, "waited for a rank whose earlier calls are no longer known");
  print_rest(
      report.in_waiting_calls,
      "waited for a rank in a call that may itself have waited: CHAMELEON_TIMING=full records it");
  print_rest(report.unjudged, "instances are of patterns with fewer than four, and not judged");
  const TimelineFacts& timeline = report.patterns.timeline;
  if (const std::string text = at_once_text(timeline.events, timeline.at_once); !text.empty())
    std::cout << text << "\n";
}

Json instance_document(const SlowInstance& one) {
  Json row = {{"pattern", pattern_name(one.pattern)},
              {"family", family_name(one.family)},
              {"number", one.number},
              {"begin_seconds", static_cast<double>(one.begin_ns) * 1e-9},
              {"seconds", one.ns() * 1e-9},
              {"usual_seconds", one.usual_ns * 1e-9},
              {"score", one.score},
              {"processes", one.processes},
              {"events", one.events},
              {"bytes", one.bytes},
              {"angle", one.angle},
              {"affinity", affinity_name(statistics::affinity_of(one.angle))}};
  if (one.wait.sum_ns == 0) return row;
  row["cause"] = wait_name(one.wait.longest.kind);
  row["waited_seconds"] = static_cast<double>(one.wait.sum_ns) * 1e-9;
  return row;
}

void print_document(const Trace& trace, const SlowReport& report, const Options& options,
                    CallSites& sites) {
  Json document = json_document("slow");
  document["run_seconds"] = report.run_ns * 1e-9;
  document["instances"] = report.patterns.instances;
  document["clock_error_seconds"] = static_cast<double>(report.clock_error_ns) * 1e-9;
  document["findings"] = Json::array();
  for (const SlowFinding& finding : report.findings) {
    const bool computes = finding.delay.kind == Delay::Kind::kCompute;
    const auto call = trace.calls.find(finding.delay.call);
    Json row = {{"matters", matters(report, finding, options)},
                {"ranks", finding.ranks.to_string()},
                {"delay", computes ? "compute" : "call"},
                {"call", call == trace.calls.end() ? "" : call->second.name},
                {"site", sites.site(finding.delay.path)},
                {"delay_seconds", finding.delay_ns * 1e-9},
                {"usual_seconds", finding.usual_ns * 1e-9},
                {"cause", wait_name(finding.wait)},
                {"waits_at", sites.site(finding.wait_path)},
                {"waited_seconds", finding.waited_ns * 1e-9},
                {"angle", finding.angle},
                {"affinity", affinity_name(statistics::affinity_of(finding.angle))}};
    if (finding.saving_ns) {
      row["saving_seconds"] = *finding.saving_ns * 1e-9;
      row["gain"] = report.gain(finding);
    }
    row["instances"] = Json::array();
    for (const std::size_t i : finding.instances)
      row["instances"].push_back(
          {{"pattern", pattern_name(report.slow[i].pattern)}, {"number", report.slow[i].number}});
    document["findings"].push_back(std::move(row));
  }
  document["slow"] = Json::array();
  for (const SlowInstance& one : report.slow) document["slow"].push_back(instance_document(one));
  document["unexplained"] = report.unexplained;
  document["within_clock_error"] = report.within_error;
  document["at_markers"] = report.at_markers;
  document["unknown"] = report.unknown;
  document["in_waiting_calls"] = report.in_waiting_calls;
  document["unjudged"] = report.unjudged;
  print_json(document);
}

int run_slow(Options options) {
  int status = kExitOk;
  const std::optional<Trace> trace = load_unthreaded("slow", options.trace, status);
  if (!trace) return status;
  if (const std::optional<std::string> why = lacks_own_times(*trace))
    return fail("slow", options.trace + ": " + *why + " (chameleon series names slow time steps)",
                kExitRefused);
  CallSites sites(*trace);
  split_of(options.split, options.slow.patterns.split);
  options.slow.patterns.context = [&](std::uint64_t path) { return sites.context(path); };
  options.slow.patterns.site = [&](std::uint64_t path) { return sites.site_key(path); };
  if (options.phase > 0) {
    const auto window = phase_window(*trace, options.slow.patterns, options.phase);
    if (!window) return fail("slow", window.error());
    options.slow.within_ns = *window;
  }
  const Result<SlowReport> report = find_slow(*trace, options.slow);
  if (!report) return fail("slow", report.error());
  if (options.json)
    print_document(*trace, *report, options, sites);
  else
    print_text(*trace, *report, options, sites);
  return std::any_of(report->findings.begin(), report->findings.end(),
                     [&](const SlowFinding& one) { return matters(*report, one, options); })
             ? kExitMismatch
             : kExitOk;
}

}  // namespace slow_verb

void add_slow_command(CLI::App& app, int& status) {
  using namespace slow_verb;
  auto options = std::make_shared<Options>();
  CLI::App* verb = app.add_subcommand(
      "slow", "Find the causes of occasional slow communication, and their cost");
  verb->add_option("trace", options->trace, "Trace file")->required();
  verb->add_option("--z", options->slow.threshold,
                   "Modified z-score beyond which an instance is slow (3.5)");
  verb->add_option("--phase", options->phase, "Only in this phase, by its number: see phases");
  verb->add_option("--least", options->least,
                   "Gain below which a delay is only counted, in percent of the run (1)");
  verb->add_option("--limit", options->slow.most, "Number of delays whose gain is computed (7)");
  verb->add_flag("--published", options->slow.published,
                 "The arithmetic of the paper's program instead of its equations");
  verb->add_option("--split", options->split, "Where a rank's part of a pattern ends: see patterns")
      ->check(CLI::IsMember({"auto", "wait", "context"}));
  verb->add_flag("--json", options->json, "One JSON object");
  verb->callback([options, &status] { status = run_slow(*options); });
}

}  // namespace chameleon::tools
