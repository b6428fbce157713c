// SPDX-License-Identifier: BSD-3-Clause
/// `chameleon compare A B`: what was added, lost, slowed from one run to the next; call paths,
/// families of patterns, or phases.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "analysis/compare.h"
#include "analysis/compare_phases.h"
#include "tools/amounts.h"
#include "tools/call_sites.h"
#include "tools/common.h"
#include "tools/export/export.h"

namespace chameleon::tools {
namespace compare_verb {

using Json = nlohmann::ordered_json;

struct Options {
  std::string before, after, by = "sites";
  double threshold = 5;
  std::size_t limit = 10;
  bool json = false;
};

const char* kind_text(Change::Kind kind) {
  switch (kind) {
    case Change::Kind::kAdded: return "added";
    case Change::Kind::kLost: return "lost";
    case Change::Kind::kCount: return "count";
    case Change::Kind::kCompute: return "compute";
    case Change::Kind::kCall: return "call";
  }
  return "";
}

Result<Profile> profile(const Trace& trace) {
  PathNames names(trace);
  return profile_of(trace, [&](std::uint64_t path) {
    std::string text;
    for (const std::string& frame : names.frames(path)) {
      // Without names the module must do: an offset is another one in each build.
      const std::string_view function = function_of(frame);
      text += (text.empty() ? "" : ";") + std::string(function.substr(0, function.find("+0x")));
    }
    return text;
  });
}

/// The innermost functions: `main() > exchange()`.
std::string short_path(const std::string& path) {
  constexpr std::size_t kMost = 3;
  std::vector<std::string> parts(1);
  for (const char letter : path) {
    if (letter == ';')
      parts.emplace_back();
    else
      parts.back() += letter;
  }
  std::string text;
  for (std::size_t i = parts.size() > kMost ? parts.size() - kMost : 0; i < parts.size(); ++i)
    text += (text.empty() ? "" : " > ") + parts[i];
  return (parts.size() > kMost ? ".. > " : "") + text;
}

std::string line_of(const Change& change) {
  const std::string where = change.site.call + " in " + short_path(change.site.path);
  const std::string who = ", " + ranks_text(change.ranks);
  const auto n = static_cast<double>(change.ranks.size());
  switch (change.kind) {
    case Change::Kind::kAdded:
      return "added: " + where + who + ", " + count_text(std::llround(change.after)) + " calls";
    case Change::Kind::kLost:
      return "lost: " + where + who + ", " + count_text(std::llround(change.before)) + " calls";
    case Change::Kind::kCount:
      return "more or less often: " + where + who + ", " + count_text(std::llround(change.before)) +
             " -> " + count_text(std::llround(change.after)) + " calls";
    case Change::Kind::kCompute:
    case Change::Kind::kCall: {
      const char* pace = change.most > 0 ? "slower: " : "faster: ";
      return pace + (change.kind == Change::Kind::kCompute ? "computing before " + where : where) +
             who + ", " + duration_text(change.before / n) + " -> " +
             duration_text(change.after / n) + " a rank";
    }
  }
  return where;
}

Json document_of(const Options& options) {
  Json document = json_document("compare");
  document["before"] = options.before;
  document["after"] = options.after;
  document["threshold"] = options.threshold / 100;
  if (options.by != "sites") document["by"] = options.by;
  document["changes"] = Json::array();
  return document;
}

void print_document(const Options& options, const std::vector<Change>& changes) {
  Json document = document_of(options);
  for (const Change& change : changes) {
    const bool times = change.kind == Change::Kind::kCompute || change.kind == Change::Kind::kCall;
    const double unit = times ? 1e-9 : 1;
    document["changes"].push_back(
        {{"kind", kind_text(change.kind)},
         {"call", change.site.call},
         {"path", change.site.path},
         {"ranks", change.ranks.to_string()},
         {times ? "before_seconds" : "before_calls", change.before * unit},
         {times ? "after_seconds" : "after_calls", change.after * unit},
         {times ? "most_seconds" : "most_calls", change.most * unit}});
  }
  print_json(document);
}

/// The first so many, and how many more there are.
void print_lines(const std::vector<std::string>& lines, std::size_t limit) {
  for (std::size_t i = 0; i < lines.size() && i < limit; ++i) std::cout << lines[i] << "\n";
  if (lines.size() > limit) std::cout << lines.size() - limit << " more (--limit)\n";
}

int compare_sites(const Options& options, const Trace& before, const Trace& after) {
  const Result<Profile> first = profile(before), second = profile(after);
  if (!first) return fail("compare", first.error());
  if (!second) return fail("compare", second.error());
  const std::vector<Change> changes = compare(*first, *second, options.threshold / 100);
  if (options.json) {
    print_document(options, changes);
    return changes.empty() ? kExitOk : kExitMismatch;
  }
  std::vector<std::string> lines;
  for (const Change& change : changes) lines.push_back(line_of(change));
  print_lines(lines, options.limit);
  if (changes.empty())
    std::cout << "the same calls, as often; no rank's time at a place changed by more than "
              << options.threshold << " % of the run\n";
  return changes.empty() ? kExitOk : kExitMismatch;
}

Result<RunShape> shape(const Trace& trace) {
  CallSites sites(trace);
  PatternOptions wanted;
  wanted.context = [&](std::uint64_t path) { return sites.context(path); };
  wanted.site = [&](std::uint64_t path) { return sites.site_key(path); };
  const Result<ExecutionPhases> found = find_phases(trace, wanted, {});
  if (!found) return found.error();
  return shape_of(*found, [&](const PatternFamily& family) {
    std::set<std::string> functions;
    for (const std::uint64_t path : family.paths) {
      const std::string function = sites.function(path);
      functions.insert(function.substr(0, function.find("+0x")));
    }
    std::string text;
    for (const std::string& function : functions) text += (text.empty() ? "" : ", ") + function;
    return text;
  });
}

/// ` -> ` between what was and what is.
std::string from_to(const std::string& before, const std::string& after) {
  return before == after ? before : before + " -> " + after;
}

std::string line_of(const FamilyChange& change, bool timed) {
  const FamilyTimes &before = change.before, &after = change.after;
  if (before.instances == 0 || after.instances == 0) {
    const FamilyTimes& times = before.instances == 0 ? after : before;
    return (before.instances == 0 ? "added: " : "lost: ") + change.name + ", " +
           count_text(times.instances) + " instances, " + bytes_text(times.bytes) +
           (timed ? ", " + duration_text(times.rank_ns) + " a rank" : "");
  }
  const char* kind = !timed ? "changed: " : change.ns() > 0 ? "slower: " : "faster: ";
  return kind + change.name + ", " +
         from_to(count_text(before.instances), count_text(after.instances)) + " instances, " +
         from_to(bytes_text(before.bytes), bytes_text(after.bytes)) +
         (timed ? ", " + from_to(duration_text(before.rank_ns), duration_text(after.rank_ns)) +
                      " a rank"
                : "");
}

Json document_of(const FamilyChange& change, bool timed) {
  Json row = {{"kind", change.before.instances == 0  ? "added"
                       : change.after.instances == 0 ? "lost"
                                                     : "changed"},
              {"functions", change.name},
              {"before_instances", change.before.instances},
              {"after_instances", change.after.instances},
              {"before_bytes", change.before.bytes},
              {"after_bytes", change.after.bytes}};
  if (timed) {
    row["before_seconds"] = change.before.rank_ns * 1e-9;
    row["after_seconds"] = change.after.rank_ns * 1e-9;
  }
  return row;
}

int compare_families(const Options& options, const RunShape& before, const RunShape& after,
                     bool timed) {
  const double least = timed ? options.threshold / 100 * std::max(before.ns, after.ns) : HUGE_VAL;
  const std::vector<FamilyChange> changes = analysis::compare_families(before, after, least);
  if (options.json) {
    Json document = document_of(options);
    for (const FamilyChange& change : changes)
      document["changes"].push_back(document_of(change, timed));
    print_json(document);
    return changes.empty() ? kExitOk : kExitMismatch;
  }
  std::vector<std::string> lines;
  for (const FamilyChange& change : changes) lines.push_back(line_of(change, timed));
  print_lines(lines, options.limit);
  if (changes.empty()) {
    std::cout << "the same families, as often, with as many bytes";
    if (timed)
      std::cout << "; no family's time changed by more than " << options.threshold
                << " % of the run";
    std::cout << "\n";
  }
  return changes.empty() ? kExitOk : kExitMismatch;
}

/// The families that are most of it.
std::string families_text(const PhaseTimes& phase) {
  std::vector<std::pair<double, std::string>> order;
  for (const auto& [name, share] : phase.shares) order.emplace_back(-share, name);
  std::sort(order.begin(), order.end());
  constexpr std::size_t kMost = 2;
  std::string text;
  for (std::size_t i = 0; i < order.size() && i < kMost; ++i)
    text += (i == 0 ? "" : "; ") + order[i].second;
  return order.size() > kMost ? text + "; ..." : text;
}

/// A phase of both runs, or of one.
struct PhaseChange {
  PhasePair numbers;
  const PhaseTimes *before, *after;  ///< null: not in that run

  double ns() const { return (after ? after->ns : 0) - (before ? before->ns : 0); }
};

std::string line_of(const PhaseChange& change) {
  const auto number = [](std::size_t index) { return std::to_string(index + 1); };
  if (!change.before || !change.after) {
    const PhaseTimes& phase = change.before ? *change.before : *change.after;
    return (change.before ? "lost: phase " + number(*change.numbers.before)
                          : "added: phase " + number(*change.numbers.after)) +
           " (" + families_text(phase) + "), " + duration_text(phase.ns);
  }
  const PhaseTimes &before = *change.before, &after = *change.after;
  return std::string(change.ns() > 0 ? "slower: " : "faster: ") + "phase " +
         from_to(number(*change.numbers.before), number(*change.numbers.after)) + " (" +
         families_text(after) + "), " + from_to(duration_text(before.ns), duration_text(after.ns)) +
         ", load balance " +
         from_to(share_text(before.load_balance), share_text(after.load_balance)) +
         ", communication efficiency " +
         from_to(share_text(before.communication_efficiency),
                 share_text(after.communication_efficiency));
}

Json document_of(const PhaseChange& change) {
  Json row = {{"kind", !change.before ? "added" : !change.after ? "lost" : "changed"}};
  const auto add = [&](const std::string& run, std::optional<std::size_t> number,
                       const PhaseTimes* phase) {
    if (phase == nullptr) return;
    row[run + "_phase"] = *number + 1;
    row[run + "_seconds"] = phase->ns * 1e-9;
    row[run + "_load_balance"] = phase->load_balance;
    row[run + "_communication_efficiency"] = phase->communication_efficiency;
    row[run + "_families"] = phase->shares;
  };
  add("before", change.numbers.before, change.before);
  add("after", change.numbers.after, change.after);
  return row;
}

int compare_phases(const Options& options, const RunShape& before, const RunShape& after) {
  const double least = options.threshold / 100 * std::max(before.ns, after.ns);
  std::vector<PhaseChange> changes;
  for (const PhasePair& pair : align_phases(before.phases, after.phases)) {
    const PhaseChange change{pair, pair.before ? &before.phases[*pair.before] : nullptr,
                             pair.after ? &after.phases[*pair.after] : nullptr};
    if (!change.before || !change.after || std::abs(change.ns()) > least) changes.push_back(change);
  }
  if (options.json) {
    Json document = document_of(options);
    for (const PhaseChange& change : changes) document["changes"].push_back(document_of(change));
    print_json(document);
    return changes.empty() ? kExitOk : kExitMismatch;
  }
  std::vector<std::string> lines;
  for (const PhaseChange& change : changes) lines.push_back(line_of(change));
  print_lines(lines, options.limit);
  if (changes.empty())
    std::cout << "the same phases (" << after.phases.size()
              << "); no phase's time changed by more than " << options.threshold
              << " % of the run\n";
  return changes.empty() ? kExitOk : kExitMismatch;
}

int run_compare(const Options& options) {
  int status = kExitOk;
  const std::optional<Trace> before = load_trace("compare", options.before, status);
  if (!before) return status;
  const std::optional<Trace> after = load_trace("compare", options.after, status);
  if (!after) return status;
  const bool timed = before->timing != "none" && after->timing != "none";
  if (options.by == "phases" && !timed)
    return fail("compare",
                (before->timing == "none" ? options.before : options.after) +
                    " has no times, so phases have no length: compare --by families",
                kExitRefused);
  if (!options.json && before->world_size != after->world_size)
    std::cout << "ranks: " << before->world_size << " -> " << after->world_size << "\n";
  if (options.by == "sites") return compare_sites(options, *before, *after);
  const Result<RunShape> first = shape(*before), second = shape(*after);
  if (!first) return fail("compare", first.error());
  if (!second) return fail("compare", second.error());
  if (options.by == "phases") return compare_phases(options, *first, *second);
  return compare_families(options, *first, *second, timed);
}

}  // namespace compare_verb

void add_compare_command(CLI::App& app, int& status) {
  using namespace compare_verb;
  auto options = std::make_shared<Options>();
  CLI::App* verb = app.add_subcommand("compare", "List what differs between two runs");
  verb->add_option("before", options->before, "Trace file")->required();
  verb->add_option("after", options->after, "Trace file")->required();
  verb->add_option("--by", options->by,
                   "What is compared: sites (default), families of patterns, or phases")
      ->check(CLI::IsMember({"sites", "families", "phases"}));
  verb->add_option("--threshold", options->threshold,
                   "Times changed by less than this share of the run, in %, are left out (5)")
      ->check(number_from(0));
  verb->add_option("--limit", options->limit, "Most changes printed (10)");
  verb->add_flag("--json", options->json, "One JSON object, with all changes");
  verb->callback([options, &status] { status = run_compare(*options); });
}

}  // namespace chameleon::tools
