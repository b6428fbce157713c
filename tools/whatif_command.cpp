// SPDX-License-Identifier: BSD-3-Clause
/// `chameleon whatif TRACE`: how long the run would have taken with a faster network, balanced
/// computing or faster functions; by itself, which of these gains most.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <limits>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "analysis/phases.h"
#include "analysis/place_times.h"
#include "analysis/what_if.h"
#include "tools/amounts.h"
#include "tools/call_sites.h"
#include "tools/common.h"

namespace chameleon::tools {
namespace whatif_verb {

constexpr std::size_t kFunctionsTried = 4, kListed = 5;

struct Options {
  std::string trace, network;
  std::vector<std::string> balance, speed;
  std::uint32_t ranks_per_node = 0;
  bool json = false;
};

struct Candidate {
  std::string text;  ///< as an option gives it
  Scenario scenario;
};

/// Of `2x`, or `1.5`; 0: it is none.
double factor_of(std::string text) {
  if (!text.empty() && text.back() == 'x') text.pop_back();
  char* end = nullptr;
  const double factor = std::strtod(text.c_str(), &end);
  return text.empty() || *end != '\0' || !(factor > 0 && factor < 1e9) ? 0 : factor;
}

std::string bare(std::string function) {
  if (function.ends_with("()")) function.resize(function.size() - 2);
  return function;
}

/// Which call paths go through a function, by its name without `()`.
class Functions {
 public:
  Functions(const Trace& trace, CallSites& sites) {
    for (const auto& [path, described] : trace.paths)
      for (const Frame& frame : sites.place_frames(path))
        if (sites.is_named(frame))
          paths_[bare(sites.function_text(sites.resolve(frame).function))][path] = true;
  }
  bool has(const std::string& name) const { return paths_.count(name) > 0; }
  Assumption faster(const std::string& name, double factor) const {
    const auto& paths = paths_.at(name);
    return {Assumption::Kind::kSpeed, factor, {}, [&paths](std::uint64_t path) {
              return paths.count(path) > 0;
            }};
  }

 private:
  std::map<std::string, std::unordered_map<std::uint64_t, bool>> paths_;
};

/// The functions whose calls end most computing, but for main, that longest first.
Result<std::vector<std::string>> costly_functions(const Trace& trace, CallSites& sites,
                                                  const Functions& functions) {
  std::map<std::string, double> ns;
  const Status read = each_place_time(trace, trace.whole_ranks(), [&](const PlaceTime& place) {
    ns[bare(sites.function(place.node.path))] += place.compute_ns();
  });
  if (!read) return read.error();
  std::vector<std::pair<double, std::string>> order;
  for (const auto& [name, took] : ns)
    if (name != "main" && took > 0 && functions.has(name)) order.emplace_back(-took, name);
  std::sort(order.begin(), order.end());
  if (order.size() > kFunctionsTried) order.resize(kFunctionsTried);
  std::vector<std::string> names;
  for (auto& [took, name] : order) names.push_back(std::move(name));
  return names;
}

Assumption network(double factor) { return {Assumption::Kind::kNetwork, factor, {}, {}}; }
Assumption balance() { return {Assumption::Kind::kBalance, 1, {}, {}}; }
constexpr double kIdeal = std::numeric_limits<double>::infinity();

Result<std::vector<Candidate>> single_changes(const Trace& trace, CallSites& sites,
                                              const Functions& functions) {
  std::vector<Candidate> all = {{"--network ideal", {network(kIdeal)}},
                                {"--network 2x", {network(2)}},
                                {"--balance all", {balance()}}};
  const Result<std::vector<std::string>> costly = costly_functions(trace, sites, functions);
  if (!costly) return costly.error();
  for (const std::string& name : *costly)
    all.push_back({"--speed " + name + "=2x", {functions.faster(name, 2)}});
  return all;
}

Result<Assumption> phase_balance(const Trace& trace, CallSites& sites, std::uint64_t number) {
  PatternOptions wanted;
  wanted.context = [&](std::uint64_t path) { return sites.context(path); };
  wanted.site = [&](std::uint64_t path) { return sites.site_key(path); };
  const auto window = phase_window(trace, wanted, number);
  if (!window) return window.error();
  Assumption change = balance();
  change.within_ns = *window;
  return change;
}

/// The changes that options name, or what is wrong with them.
Result<std::vector<Candidate>> asked(const Trace& trace, const Options& options, CallSites& sites,
                                     const Functions& functions) {
  const auto wrong = [](const std::string& text) { return Error{ErrorKind::kUsage, text, 0}; };
  std::vector<Candidate> all;
  if (!options.network.empty()) {
    const double factor = options.network == "ideal" ? kIdeal : factor_of(options.network);
    if (factor == 0)
      return wrong("--network takes ideal or how many times faster, as 2x, not " + options.network);
    all.push_back({"--network " + options.network, {network(factor)}});
  }
  for (const std::string& which : options.balance) {
    if (which == "all") {
      all.push_back({"--balance all", {balance()}});
      continue;
    }
    char* end = nullptr;
    const unsigned long long number = std::strtoull(which.c_str(), &end, 10);
    if (*end != '\0') return wrong("--balance takes all or the number of a phase, not " + which);
    Result<Assumption> change = phase_balance(trace, sites, number);
    if (!change) return change.error();
    all.push_back({"--balance " + which, {std::move(*change)}});
  }
  for (const std::string& text : options.speed) {
    const std::size_t equals = text.rfind('=');
    const double factor = equals == std::string::npos ? 0 : factor_of(text.substr(equals + 1));
    if (factor == 0) return wrong("--speed takes FUNCTION=FACTOR, as solve=1.5x, not " + text);
    const std::string name = bare(text.substr(0, equals));
    if (!functions.has(name)) return wrong("no call is made in a function " + name);
    all.push_back({"--speed " + text, {functions.faster(name, factor)}});
  }
  if (options.ranks_per_node > 0)
    all.push_back(
        {"--ranks-per-node " + std::to_string(options.ranks_per_node),
         {{Assumption::Kind::kRanksPerNode, static_cast<double>(options.ranks_per_node), {}, {}}}});
  if (all.size() < 2) return all;
  Candidate together{"all of these", {}};
  for (const Assumption::Kind kind : {Assumption::Kind::kBalance, Assumption::Kind::kSpeed,
                                      Assumption::Kind::kRanksPerNode, Assumption::Kind::kNetwork})
    for (const Candidate& one : all)
      if (one.scenario.front().kind == kind) together.scenario.push_back(one.scenario.front());
  all.push_back(std::move(together));
  return all;
}

void print_text(const Trace& trace, const std::vector<Candidate>& candidates,
                const std::vector<std::size_t>& order, const WhatIf& found, const Style& style) {
  std::cout << timeline_text(trace) << "\n"
            << "the run takes " << duration_text(found.run_ns)
            << "; run again without changes, the model says " << duration_text(found.model_ns)
            << "\n";
  if (const std::string text = at_once_text(found.events, found.at_once); !text.empty())
    std::cout << text << "\n";
  if (found.unmatched > 0)
    std::cout << count_text(found.unmatched)
              << " receives and collectives are unmatched: they wait for no rank\n";
  std::size_t width = 6;
  for (const std::size_t i : order) width = std::max(width, candidates[i].text.size());
  std::string head = "change";
  head.resize(width, ' ');
  std::cout << "\n" << style.strong(head + "   would take     gained") << "\n";
  for (const std::size_t i : order) {
    std::string name = candidates[i].text;
    name.resize(width, ' ');
    std::cout << name << padded(duration_text(found.predicted_ns[i]), 13)
              << padded(share_text(found.gain(i)), 11) << "\n";
  }
}

void print_document(const std::vector<Candidate>& candidates, const std::vector<std::size_t>& order,
                    const WhatIf& found) {
  nlohmann::ordered_json document = json_document("whatif");
  document["run_seconds"] = found.run_ns * 1e-9;
  document["model_seconds"] = found.model_ns * 1e-9;
  document["unmatched"] = found.unmatched;
  document["events"] = found.events;
  document["at_once"] = found.at_once;
  document["changes"] = nlohmann::ordered_json::array();
  for (const std::size_t i : order)
    document["changes"].push_back({{"change", candidates[i].text},
                                   {"seconds", found.predicted_ns[i] * 1e-9},
                                   {"gain", found.gain(i)}});
  print_json(document);
}

int run_whatif(const Options& options) {
  int status = kExitOk;
  const std::optional<Trace> trace = load_unthreaded("whatif", options.trace, status);
  if (!trace) return status;
  if (trace->timing == "none")
    return fail("whatif",
                options.trace + " has no times: run again with CHAMELEON_TIMING=histogram or full",
                kExitRefused);
  CallSites sites(*trace);
  const Functions functions(*trace, sites);
  const bool by_itself = options.network.empty() && options.balance.empty() &&
                         options.speed.empty() && options.ranks_per_node == 0;
  const Result<std::vector<Candidate>> candidates = by_itself
                                                        ? single_changes(*trace, sites, functions)
                                                        : asked(*trace, options, sites, functions);
  if (!candidates) return fail("whatif", candidates.error());
  std::vector<Scenario> scenarios;
  for (const Candidate& one : *candidates) scenarios.push_back(one.scenario);
  const Result<WhatIf> found = what_if(*trace, scenarios);
  if (!found && found.error().kind == ErrorKind::kUsage)
    return fail("whatif", options.trace + ": " + found.error().message, kExitRefused);
  if (!found) return fail("whatif", found.error());
  std::vector<std::size_t> order(candidates->size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  if (by_itself) {
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return found->predicted_ns[a] < found->predicted_ns[b];
    });
    if (order.size() > kListed) order.resize(kListed);
  }
  if (options.json)
    print_document(*candidates, order, *found);
  else
    print_text(*trace, *candidates, order, *found, Style());
  return kExitOk;
}

}  // namespace whatif_verb

void add_whatif_command(CLI::App& app, int& status) {
  using namespace whatif_verb;
  auto options = std::make_shared<Options>();
  CLI::App* verb = app.add_subcommand(
      "whatif", "Predict the run with a faster network, balanced ranks or faster functions");
  verb->add_option("trace", options->trace, "Trace file")->required();
  verb->add_option(
      "--network", options->network,
      "Factor by which calls become faster, without waiting for other ranks: 2x, or ideal");
  verb->add_option("--balance", options->balance,
                   "All ranks compute equally long: all, or in a phase, by its number")
      ->allow_extra_args(false);
  verb->add_option(
          "--speed", options->speed,
          "FUNCTION=FACTOR: computing before the function's calls becomes faster by the factor")
      ->allow_extra_args(false);
  verb->add_option("--ranks-per-node", options->ranks_per_node,
                   "Number of ranks on each node, in the order of ranks")
      ->check(count_of("ranks"));
  verb->add_flag("--json", options->json, "One JSON object");
  verb->callback([options, &status] { status = run_whatif(*options); });
}

}  // namespace chameleon::tools
