// SPDX-License-Identifier: BSD-3-Clause
/// `chameleon sample TRACE`: how computation, or time in calls, is spread over ranks and steps,
/// from a sample, with the error that it claims beside the one that it has.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "tools/common.h"
#include "tools/efforts.h"

namespace chameleon::tools {
namespace sample_verb {

struct Options {
  std::string trace;
  std::optional<std::uint64_t> marker;
  bool json = false;
};

double share_of(double part, double whole) { return whole > 0 ? part / whole : 0; }

std::string markers_text(const EffortWindow& window) {
  return std::to_string(window.first) + "-" + std::to_string(window.last);
}

std::string sizes_text(const EffortWindow& window) {
  std::string text;
  for (const EffortStratum& stratum : window.strata)
    text += (text.empty() ? "" : "+") + std::to_string(stratum.size);
  return text;
}

void print_window(const EffortWindow& window, const Efforts::Settings& settings) {
  if (window.gap != EffortGap::kNone) {
    std::printf("%-13s given up: %s\n", markers_text(window).c_str(), gap_text(window.gap));
    return;
  }
  const EffortEstimate all = window_estimate(window, settings);
  std::printf("%-13s %6u %7llu  %-24s %10s %10s %9s %9s  %s\n", markers_text(window).c_str(),
              window.ranks, static_cast<unsigned long long>(sampled_ranks(window)),
              sizes_text(window).c_str(), duration_text(all.exact).c_str(),
              duration_text(all.estimate).c_str(),
              share_text(share_of(all.claimed, all.exact)).c_str(),
              share_text(share_of(all.actual(), all.exact)).c_str(), all.holds() ? "yes" : "no");
}

/// Windows, and steps, in which the claim holds, and how much was sampled.
struct Tally {
  std::uint64_t windows = 0, windows_held = 0, steps = 0, steps_held = 0;
  double ranks = 0, sampled = 0, by_equation_1 = 0;
  bool nothing = true;  ///< was measured

  explicit Tally(const Efforts& efforts) {
    for (const EffortWindow& window : efforts.windows()) {
      if (window.gap != EffortGap::kNone) continue;
      ++windows;
      ranks += window.ranks;
      sampled += static_cast<double>(sampled_ranks(window));
      by_equation_1 += static_cast<double>(ranks_by_equation_1(window, efforts.settings()));
      windows_held += window_estimate(window, efforts.settings()).holds() ? 1 : 0;
      for (const EffortEstimate& step : step_estimates(window, efforts.settings())) {
        ++steps;
        steps_held += step.holds() ? 1 : 0;
        nothing = nothing && step.exact == 0;
      }
    }
  }
};

void print_text(const Trace& trace) {
  const Efforts& efforts = trace.efforts;
  const Efforts::Settings& settings = efforts.settings();
  std::printf("measured: %s\n", effort_text(trace).c_str());
  std::printf("asked for: the mean of a window within %s, at a confidence of %s\n\n",
              share_text(1e-6 * settings.error_ppm).c_str(),
              share_text(1e-6 * settings.confidence_ppm).c_str());
  std::printf("%-13s %6s %7s  %-24s %10s %10s %9s %9s  %s\n", "markers", "ranks", "sampled",
              "strata (ranks)", "mean", "estimate", "claimed", "error", "holds");
  for (const EffortWindow& window : efforts.windows()) print_window(window, settings);
  const Tally tally(efforts);
  std::printf("\nthe claimed error holds in %s of %s windows, and in %s of %s steps\n",
              count_text(tally.windows_held).c_str(), count_text(tally.windows).c_str(),
              count_text(tally.steps_held).c_str(), count_text(tally.steps).c_str());
  if (tally.windows == 0) return;
  std::printf("sampled: %s of ranks; if means of samples were normal %s would be enough (Eq. 1)\n",
              share_text(share_of(tally.sampled, tally.ranks)).c_str(),
              share_text(share_of(tally.by_equation_1, tally.ranks)).c_str());
  if (tally.nothing && effort_of(trace).find('@') != std::string::npos)
    std::printf(
        "nothing was measured: no call path has such a function, or the program is "
        "stripped of its names\n");
}

/// What the efforts of the strata of one window were in each step, on average: a row a step.
void print_steps(const EffortWindow& window, const Efforts::Settings& settings) {
  std::printf("%8s %10s %10s %9s %9s ", "marker", "mean", "most", "claimed", "error");
  for (const EffortStratum& stratum : window.strata)
    std::printf(" %10s", ("x" + std::to_string(stratum.size)).c_str());
  std::printf("\n");
  const std::vector<EffortEstimate> estimates = step_estimates(window, settings);
  for (std::size_t i = 0; i < estimates.size(); ++i) {
    const EffortEstimate& step = estimates[i];
    std::printf("%8llu %10s %10s %9s %9s ", static_cast<unsigned long long>(window.steps[i].marker),
                duration_text(step.exact).c_str(),
                duration_text(static_cast<double>(window.steps[i].most_ns)).c_str(),
                share_text(share_of(step.claimed, step.exact)).c_str(),
                share_text(share_of(step.actual(), step.exact)).c_str());
    for (const EffortStratum& stratum : window.strata)
      std::printf(
          " %10s",
          duration_text(static_cast<double>(stratum.steps[i].sum_ns) / stratum.size).c_str());
    std::printf("\n");
  }
  for (const EffortStratum& stratum : window.strata) {
    RankList sampled;
    for (const SampledRank& one : stratum.sampled) sampled.insert(one.rank);
    std::printf("stratum of %u ranks: medoid rank %u, sampled %s\n", stratum.size, stratum.medoid,
                ranks_text(sampled).c_str());
  }
}

int print_marker(const Efforts& efforts, std::uint64_t marker) {
  for (const EffortWindow& window : efforts.windows()) {
    if (marker < window.first || marker > window.last) continue;
    if (window.gap != EffortGap::kNone)
      print_window(window, efforts.settings());
    else
      print_steps(window, efforts.settings());
    return kExitOk;
  }
  return fail("sample", "no window has marker " + std::to_string(marker), kExitUsage);
}

int sample(const Options& options) {
  int status = kExitOk;
  const std::optional<Trace> trace = load_trace("sample", options.trace, status);
  if (!trace) return status;
  const Efforts& efforts = trace->efforts;
  if (options.json) {
    const Tally tally(efforts);
    nlohmann::ordered_json document = json_document("sample");
    document["ranks"] = trace->world_size;
    document["effort"] = effort_of(*trace);
    document["window_markers"] = efforts.settings().length;
    document["error"] = 1e-6 * efforts.settings().error_ppm;
    document["confidence"] = 1e-6 * efforts.settings().confidence_ppm;
    document["windows_held"] = tally.windows_held;
    document["steps"] = tally.steps;
    document["steps_held"] = tally.steps_held;
    document["windows"] = effort_rows(efforts);
    print_json(document);
  } else if (options.marker) {
    return print_marker(efforts, *options.marker);
  } else if (efforts.empty()) {
    std::cout << "no effort windows: the run had no CHAMELEON_EFFORT, or no markers that were "
                 "acted on\n";
  } else {
    print_text(*trace);
  }
  return kExitOk;
}

}  // namespace sample_verb

void add_sample_command(CLI::App& app, int& status) {
  using namespace sample_verb;
  auto options = std::make_shared<Options>();
  CLI::App* verb = app.add_subcommand(
      "sample", "Show how load is spread over ranks and steps, from a sample with its error");
  verb->add_option("trace", options->trace, "Trace file")->required();
  CLI::Option* marker = verb->add_option("--marker", options->marker,
                                         "The steps of the window that has this acted-on marker");
  verb->add_flag("--json", options->json, "One JSON object, with all windows")->excludes(marker);
  verb->callback([options, &status] { status = sample(*options); });
}

}  // namespace chameleon::tools
