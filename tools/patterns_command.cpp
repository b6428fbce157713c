// SPDX-License-Identifier: BSD-3-Clause
/// `chameleon patterns TRACE`: what ranks do together again and again, and which functions make it.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "analysis/patterns.h"
#include "tools/call_sites.h"
#include "tools/common.h"

namespace chameleon::tools {
namespace patterns_verb {

using Json = nlohmann::ordered_json;

struct Options {
  std::string trace, split = "auto", pattern;
  std::uint32_t min_processes = 0;
  std::size_t limit = 20;
  bool json = false;
};

std::string pattern_name(std::size_t index) { return "CP" + std::to_string(index + 1); }
std::string family_name(std::size_t index) { return "F" + std::to_string(index + 1); }

RankList ranks_of(const Pattern& pattern) {
  RankList ranks;
  for (const PatternRole& role : pattern.roles) ranks.insert(role.rank);
  return ranks;
}

/// Of one value, or from the least to the most.
std::string range_text(double least, double most, std::string (*text)(double)) {
  return least == most ? text(least) : text(least) + "-" + text(most);
}
std::string number_text(double value) { return count_text(static_cast<std::uint64_t>(value)); }

/// `S3 R3 x2 Allreduce`: how often it sends to whom, and so on, in the order of the first.
std::string role_text(const Trace& trace, const PatternRole& role) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> counts;
  for (const std::uint64_t symbol : role.symbols) {
    const auto found = std::find_if(counts.begin(), counts.end(),
                                    [=](const auto& one) { return one.first == symbol; });
    if (found == counts.end())
      counts.emplace_back(symbol, 1);
    else
      ++found->second;
  }
  std::string text;
  for (const auto& [symbol, count] : counts) {
    const auto what = static_cast<std::uint32_t>(symbol);
    text += text.empty() ? "" : " ";
    switch (static_cast<Symbol::Kind>(symbol >> 32)) {
      case Symbol::Kind::kSend: text += "S" + std::to_string(what); break;
      case Symbol::Kind::kReceive:
        text += what == Symbol::kNobody ? "R?" : "R" + std::to_string(what);
        break;
      case Symbol::Kind::kCollective: {
        const auto call = trace.calls.find(static_cast<std::uint16_t>(what));
        text += call == trace.calls.end() ? "call " + std::to_string(what) : call->second.name;
      }
    }
    if (count > 1) text += " x" + std::to_string(count);
  }
  return text;
}

/// Families, or patterns, with the most events first.
template <class T>
std::vector<std::size_t> by_events(const std::vector<T>& all) {
  std::vector<std::size_t> order(all.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return all[a].sums.events > all[b].sums.events;
  });
  return order;
}

std::string where(const PatternFamily& family, CallSites& sites,
                  std::string (CallSites::*name)(std::uint64_t)) {
  constexpr std::size_t kMost = 3;
  std::vector<std::string> names;
  for (const std::uint64_t path : family.paths) {
    std::string one = (sites.*name)(path);
    if (std::find(names.begin(), names.end(), one) == names.end()) names.push_back(std::move(one));
  }
  std::string text;
  for (std::size_t i = 0; i < names.size() && i < kMost; ++i)
    text += (i == 0 ? "" : ", ") + names[i];
  if (names.size() > kMost) text += ", " + std::to_string(names.size() - kMost) + " more";
  return text;
}

void print_summary(const Patterns& found) {
  std::cout << "patterns: " << count_text(found.patterns.size())
            << "; families: " << count_text(found.families.size())
            << "; instances: " << count_text(found.instances)
            << "; events: " << count_text(found.facts.events)
            << " (ends of messages, calls of collectives)\n";
  std::cout << "the largest instance has " << count_text(found.facts.largest) << " events of "
            << count_text(found.facts.largest_ranks) << " ranks\n";
  if (found.cut_at_collectives)
    std::cout << "instances that overlap were cut where all ranks wait for each other\n";
  const std::string text = at_once_text(found.timeline.events, found.timeline.at_once);
  if (!text.empty()) std::cout << text << "\n";
  if (found.facts.unmatched > 0)
    std::cout << count_text(found.facts.unmatched)
              << " messages and collectives are unmatched: the instances around them may be "
                 "too small\n";
  if (found.cycles > 0)
    std::cout << count_text(found.cycles)
              << " instances have no place in the order of all ranks, and are ordered by time\n";
}

std::string sums_text(const InstanceSums& sums) {
  return padded(range_text(static_cast<double>(sums.least_events),
                           static_cast<double>(sums.most_events), number_text),
                12) +
         padded(range_text(sums.least_bytes, sums.most_bytes, bytes_text), 21) +
         padded(count_text(sums.instances), 12);
}

void print_families(const Patterns& found, CallSites& sites, const Style& style,
                    std::size_t limit) {
  std::cout << "\n"
            << style.strong(
                   "family   patterns     ranks      events                bytes   "
                   "instances  where")
            << "\n";
  std::size_t shown = 0;
  for (const std::size_t i : by_events(found.families)) {
    if (shown++ == limit) break;
    const PatternFamily& family = found.families[i];
    std::string name = family_name(i);
    name.resize(std::max<std::size_t>(name.size(), 7), ' ');
    std::cout << name << padded(count_text(family.patterns.size()), 10)
              << padded(range_text(family.least_processes, family.most_processes, number_text), 10)
              << sums_text(family.sums) << "  " << where(family, sites, &CallSites::function)
              << "\n";
  }
}

std::string family_names(const Pattern& pattern) {
  constexpr std::size_t kMost = 2;
  std::string text;
  for (std::size_t i = 0; i < pattern.families.size() && i < kMost; ++i)
    text += (i == 0 ? "" : ",") + family_name(pattern.families[i]);
  return pattern.families.size() > kMost ? text + ",..." : text;
}

void print_patterns(const Patterns& found, const Options& options, CallSites& sites,
                    const Style& style) {
  std::cout << "\n"
            << style.strong(
                   "pattern     family     ranks      events                bytes   "
                   "instances  call sites")
            << "\n";
  std::size_t shown = 0, left = 0;
  for (const std::size_t i : by_events(found.patterns)) {
    const Pattern& pattern = found.patterns[i];
    if (pattern.processes < options.min_processes) continue;
    if (shown == options.limit) {
      ++left;
      continue;
    }
    ++shown;
    std::string name = pattern_name(i);
    name.resize(std::max<std::size_t>(name.size(), 7), ' ');
    std::cout << name << padded(family_names(pattern), 11)
              << padded(count_text(pattern.processes), 10) << sums_text(pattern.sums) << "  "
              << where(found.families[pattern.families.front()], sites, &CallSites::site) << "\n";
  }
  if (left > 0) std::cout << count_text(left) << " more (--limit)\n";
}

void print_one(const Trace& trace, const Patterns& found, std::size_t index, CallSites& sites) {
  const Pattern& pattern = found.patterns[index];
  std::cout << pattern_name(index) << " of " << family_names(pattern) << ": "
            << ranks_text(ranks_of(pattern)) << ", " << count_text(pattern.sums.instances)
            << " instances of " << count_text(pattern.sums.least_events) << " events, "
            << range_text(pattern.sums.least_bytes, pattern.sums.most_bytes, bytes_text) << "\n";
  if (trace.timing != "none")
    std::cout << "it takes " << duration_text(pattern.sums.least_ns) << " to "
              << duration_text(pattern.sums.most_ns) << ", on average "
              << duration_text(pattern.sums.ns / static_cast<double>(pattern.sums.instances))
              << "\n";
  for (const PatternRole& role : pattern.roles)
    std::cout << "  rank " << role.rank << "  " << role_text(trace, role) << "  "
              << sites.site(role.path) << "\n";
}

Json sums_document(const Trace& trace, const InstanceSums& sums) {
  Json document = {{"instances", sums.instances},
                   {"events", sums.events},
                   {"least_events", sums.least_events},
                   {"most_events", sums.most_events},
                   {"bytes", sums.bytes},
                   {"least_bytes", sums.least_bytes},
                   {"most_bytes", sums.most_bytes}};
  if (trace.timing == "none") return document;
  document["seconds"] = sums.ns * 1e-9;
  document["least_seconds"] = sums.least_ns * 1e-9;
  document["most_seconds"] = sums.most_ns * 1e-9;
  return document;
}

void print_document(const Trace& trace, const Patterns& found, const Options& options,
                    CallSites& sites) {
  Json document = json_document("patterns");
  document["ranks"] = trace.world_size;
  document["split"] = options.split;
  document["instances"] = found.instances;
  document["segments"] = found.facts.segments;
  document["events"] = found.facts.events;
  document["largest_events"] = found.facts.largest;
  document["unmatched"] = found.facts.unmatched;
  document["cycles"] = found.cycles;
  document["at_once"] = found.timeline.at_once;
  document["cut_at_collectives"] = found.cut_at_collectives;
  document["families"] = Json::array();
  for (std::size_t i = 0; i < found.families.size(); ++i) {
    const PatternFamily& family = found.families[i];
    Json row = {{"name", family_name(i)}, {"functions", Json::array()}, {"sites", Json::array()}};
    for (const std::uint64_t path : family.paths) {
      row["functions"].push_back(sites.function(path));
      row["sites"].push_back(sites.site(path));
    }
    row["patterns"] = Json::array();
    for (const std::uint32_t pattern : family.patterns)
      row["patterns"].push_back(pattern_name(pattern));
    row["least_processes"] = family.least_processes;
    row["most_processes"] = family.most_processes;
    row.update(sums_document(trace, family.sums));
    document["families"].push_back(std::move(row));
  }
  document["patterns"] = Json::array();
  for (std::size_t i = 0; i < found.patterns.size(); ++i) {
    const Pattern& pattern = found.patterns[i];
    if (pattern.processes < options.min_processes) continue;
    if (!options.pattern.empty() && options.pattern != pattern_name(i)) continue;
    Json row = {{"name", pattern_name(i)}, {"families", Json::array()}};
    for (const std::uint32_t family : pattern.families)
      row["families"].push_back(family_name(family));
    row["ranks"] = ranks_of(pattern).to_string();
    row["processes"] = pattern.processes;
    row.update(sums_document(trace, pattern.sums));
    row["roles"] = Json::array();
    for (const PatternRole& role : pattern.roles)
      row["roles"].push_back(
          {{"rank", role.rank}, {"does", role_text(trace, role)}, {"site", sites.site(role.path)}});
    document["patterns"].push_back(std::move(row));
  }
  print_json(document);
}

int run_patterns(const Options& options) {
  int status = kExitOk;
  const std::optional<Trace> trace = load_trace("patterns", options.trace, status);
  if (!trace) return status;
  CallSites sites(*trace);
  PatternOptions wanted;
  split_of(options.split, wanted.split);
  wanted.context = [&](std::uint64_t path) { return sites.context(path); };
  wanted.site = [&](std::uint64_t path) { return sites.site_key(path); };
  const Result<Patterns> found = find_patterns(*trace, wanted);
  if (!found) return fail("patterns", found.error());
  std::size_t one = found->patterns.size();
  for (std::size_t i = 0; i < found->patterns.size(); ++i)
    if (options.pattern == pattern_name(i)) one = i;
  if (!options.pattern.empty() && one == found->patterns.size())
    return fail("patterns", "no pattern " + options.pattern + " in " + options.trace, kExitUsage);
  if (options.json) {
    print_document(*trace, *found, options, sites);
    return kExitOk;
  }
  if (!options.pattern.empty()) {
    print_one(*trace, *found, one, sites);
    return kExitOk;
  }
  const Style style;
  print_summary(*found);
  if (found->patterns.empty()) return kExitOk;
  print_families(*found, sites, style, options.limit);
  print_patterns(*found, options, sites, style);
  return kExitOk;
}

}  // namespace patterns_verb

void add_patterns_command(CLI::App& app, int& status) {
  using namespace patterns_verb;
  auto options = std::make_shared<Options>();
  CLI::App* verb = app.add_subcommand(
      "patterns", "List which ranks communicate together, how often, and in which functions");
  verb->add_option("trace", options->trace, "Trace file")->required();
  verb->add_option("--pattern", options->pattern,
                   "One pattern, as CP2: what each of its ranks does");
  verb->add_option("--min-processes", options->min_processes,
                   "Only patterns of at least this many ranks");
  verb->add_option(
          "--split", options->split,
          "Where a rank's part of a pattern ends: auto (default), wait (after a Waitall), or "
          "context (where the function changes)")
      ->check(CLI::IsMember({"auto", "wait", "context"}));
  verb->add_option("--limit", options->limit, "Families and patterns shown (20)");
  verb->add_flag("--json", options->json, "One JSON object");
  verb->callback([options, &status] { status = run_patterns(*options); });
}

}  // namespace chameleon::tools
