// SPDX-License-Identifier: BSD-3-Clause
/// `chameleon compare A B`: what was added, lost, slowed from one run to the next.

#include <CLI/CLI.hpp>
#include <cmath>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "analysis/compare.h"
#include "tools/common.h"
#include "tools/export/export.h"

namespace chameleon::tools {
namespace compare_verb {

struct Options {
  std::string before, after;
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

void print_document(const Options& options, const std::vector<Change>& changes) {
  using Json = nlohmann::ordered_json;
  Json document = json_document("compare");
  document["before"] = options.before;
  document["after"] = options.after;
  document["threshold"] = options.threshold / 100;
  document["changes"] = Json::array();
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

int run_compare(const Options& options) {
  int status = kExitOk;
  const std::optional<Trace> before = load_trace("compare", options.before, status);
  if (!before) return status;
  const std::optional<Trace> after = load_trace("compare", options.after, status);
  if (!after) return status;
  const Result<Profile> first = profile(*before), second = profile(*after);
  if (!first) return fail("compare", first.error());
  if (!second) return fail("compare", second.error());
  const std::vector<Change> changes = compare(*first, *second, options.threshold / 100);
  if (options.json) {
    print_document(options, changes);
    return changes.empty() ? kExitOk : kExitMismatch;
  }
  if (before->world_size != after->world_size)
    std::cout << "ranks: " << before->world_size << " -> " << after->world_size << "\n";
  for (std::size_t i = 0; i < changes.size() && i < options.limit; ++i)
    std::cout << line_of(changes[i]) << "\n";
  if (changes.size() > options.limit)
    std::cout << changes.size() - options.limit << " more (--limit)\n";
  if (changes.empty())
    std::cout << "the same calls, as often; no rank's time at a place changed by more than "
              << options.threshold << " % of the run\n";
  return changes.empty() ? kExitOk : kExitMismatch;
}

}  // namespace compare_verb

void add_compare_command(CLI::App& app, int& status) {
  using namespace compare_verb;
  auto options = std::make_shared<Options>();
  CLI::App* verb =
      app.add_subcommand("compare", "Say what was added, lost, slowed between two traces");
  verb->add_option("before", options->before, "Trace file")->required();
  verb->add_option("after", options->after, "Trace file")->required();
  verb->add_option("--threshold", options->threshold,
                   "Times changed by less than this share of the run, in %, are left out (5)")
      ->check(CLI::NonNegativeNumber);
  verb->add_option("--limit", options->limit, "Most changes printed (10)");
  verb->add_flag("--json", options->json, "One JSON object, with all changes");
  verb->callback([options, &status] { status = run_compare(*options); });
}

}  // namespace chameleon::tools
