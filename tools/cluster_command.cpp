// SPDX-License-Identifier: BSD-3-Clause
/// `chameleon cluster TRACE`: what a clustering would have kept, lost and cost.

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "analysis/cluster_study.h"
#include "tools/cluster_axes.h"
#include "tools/common.h"

namespace chameleon::tools {
namespace cluster_verb {

struct Options {
  std::string trace;
  ClusterAxes axes;
  bool compare = false, json = false;
};

std::string percent(const KeptShare& share) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", 100 * share.share());
  return text;
}

void print_row(const ClusterStudy& study, const std::string& name) {
  std::printf("%-20s %5zu %6zu", name.c_str(), study.main_clusters, study.leads);
  for (const KeptShare& share : study.kept) std::printf(" %7s", percent(share).c_str());
  std::printf("  %10s %10s  %s\n", bytes_text(study.space.clustered).c_str(),
              bytes_text(study.space.counted).c_str(),
              study.clustering.format == 0
                  ? "none: all ranks are alike"
                  : signature::format_text(study.clustering.format).c_str());
}

void print_header() {
  std::printf("%-20s %5s %6s", "algorithm", "main", "leads");
  for (std::size_t i = 0; i < kKeptColumns; ++i)
    std::printf(" %7s", kept_name(static_cast<KeptColumn>(i)));
  std::printf("  %10s %10s  %s\n", "formula", "counted", "format");
}

/// In a single step leads have Call-Paths of their own.
void print_clusters(const ClusterStudy& study) {
  const bool single = study.options.steps == cluster::Steps::kSingle;
  for (const cluster::MainCluster& main : study.clustering.main) {
    if (!single)
      std::cout << "Call-Path " << hex_text(main.clusters.front().signature.call_path) << "\n";
    for (const cluster::SubCluster& one : main.clusters)
      std::cout << (single ? "" : "  ") << "lead " << one.lead << " for " << ranks_text(one.ranks)
                << (single ? ", Call-Path " + hex_text(one.signature.call_path) : "") << "\n";
  }
}

void print_text(const Trace& trace, const ClusterStudies& studies,
                const std::vector<ClusterStudy>& all) {
  std::cout << "ranks        " << count_text(trace.world_size) << "\n"
            << "behaviours   " << count_text(studies.behaviours()) << ", times aside\n"
            << "trace        " << bytes_text(all.front().space.trace) << " a rank; merged without "
            << "clustering: " << bytes_text(all.front().space.unclustered) << " a rank\n\n";
  print_header();
  for (const ClusterStudy& one : all) print_row(one, cluster::algorithm_name(one.options));
  std::cout << "\nCOUNT to TAG: percent of all ranks' values that their leads' traces give\n"
               "formula, counted: space a rank, by Table 4.8 and as sent on virtual ranks\n";
  if (all.size() == 1) std::cout << "\n", print_clusters(all.front());
}

nlohmann::ordered_json json_of(const ClusterStudy& study) {
  using Json = nlohmann::ordered_json;
  constexpr const char* kKeys[] = {"count", "loop", "events", "src", "dest", "tag"};
  static_assert(std::size(kKeys) == kKeptColumns);
  Json kept = Json::object();
  for (std::size_t i = 0; i < kKeptColumns; ++i)
    kept[kKeys[i]] = {
        {"kept", study.kept[i].kept}, {"all", study.kept[i].all}, {"share", study.kept[i].share()}};
  Json clusters = Json::array();
  for (const cluster::MainCluster& main : study.clustering.main)
    for (const cluster::SubCluster& one : main.clusters)
      clusters.push_back({{"call_path", hex_text(one.signature.call_path)},
                          {"lead", one.lead},
                          {"ranks", one.ranks.to_string()},
                          {"mean_count", one.count}});
  return {{"algorithm", cluster::algorithm_name(study.options)},
          {"options", cluster::options_text(study.options)},
          {"format", signature::format_text(study.clustering.format)},
          {"main_clusters", study.main_clusters},
          {"most_sub_clusters", study.largest},
          {"leads", study.leads},
          {"kept", kept},
          {"space",
           {{"trace", study.space.trace},
            {"signature", study.space.signature},
            {"table_4_8", study.space.clustered},
            {"table_3_7", study.space.by_main},
            {"unclustered", study.space.unclustered},
            {"counted", study.space.counted}}},
          {"sent",
           {{"messages", study.traffic.messages},
            {"bytes", study.traffic.bytes},
            {"largest", study.traffic.largest},
            {"depth", study.traffic.depth}}},
          {"clusters", clusters}};
}

void print_document(const Trace& trace, const ClusterStudies& studies,
                    const std::vector<ClusterStudy>& all) {
  nlohmann::ordered_json document = json_document("cluster");
  document["ranks"] = trace.world_size;
  document["behaviours"] = studies.behaviours();
  document["algorithms"] = nlohmann::ordered_json::array();
  for (const ClusterStudy& one : all) document["algorithms"].push_back(json_of(one));
  print_json(document);
}

/// Why the trace does not tell what each rank did; empty if it does.
std::string refusal(const Trace& trace) {
  if (!trace.complete) return "the trace is incomplete: ranks are compared over the whole run";
  if (!trace.declarations.empty())
    return "the trace lacks events: " + trace.declarations.front().what;
  if (trace.online.fidelity == "lead" || trace.online.fidelity == "checked")
    return "the trace has leads' events for other ranks: record with CHAMELEON_FIDELITY=exact";
  return "";
}

int run_cluster(const Options& options) {
  const Result<cluster::ClusterOptions> one = cluster_options(options.axes);
  if (!one) return fail("cluster", one.error().message, kExitUsage);
  int status = kExitOk;
  const std::optional<Trace> trace = load_trace("cluster", options.trace, status);
  if (!trace) return status;
  if (const std::string why = refusal(*trace); !why.empty())
    return fail("cluster", why, kExitRefused);
  // As the run had them, unless others are given.
  Result<signature::Rules> rules = options.axes.rules.empty()
                                       ? signature::Rules::parse(trace->rules)
                                       : cluster_rules(options.axes);
  if (!rules) return fail("cluster", rules.error().message, kExitUsage);
  const Result<ClusterStudies> studies = ClusterStudies::make(*trace, *rules);
  if (!studies) return fail("cluster", studies.error());
  std::vector<cluster::ClusterOptions> points = {*one};
  if (options.compare) {
    points.clear();
    for (const cluster::Preset& preset : cluster::presets()) points.push_back(preset.options);
  }
  std::vector<ClusterStudy> all;
  for (const cluster::ClusterOptions& point : points) {
    Result<ClusterStudy> study = studies->study(point);
    if (!study) return fail("cluster", study.error());
    all.push_back(std::move(*study));
  }
  if (options.json)
    print_document(*trace, *studies, all);
  else
    print_text(*trace, *studies, all);
  return kExitOk;
}

}  // namespace cluster_verb

void add_cluster_command(CLI::App& app, int& status) {
  using namespace cluster_verb;
  auto options = std::make_shared<Options>();
  CLI::App* verb = app.add_subcommand(
      "cluster", "Show what a clustering of ranks would have kept, lost and cost");
  verb->add_option("trace", options->trace, "Trace file")->required();
  add_cluster_axes(*verb, options->axes);
  verb->add_flag("--compare", options->compare, "All algorithms, a line each");
  verb->add_flag("--json", options->json, "One JSON object");
  verb->callback([options, &status] { status = run_cluster(*options); });
}

}  // namespace chameleon::tools
