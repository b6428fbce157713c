// SPDX-License-Identifier: BSD-3-Clause
/// `chameleon info TRACE`: what ran, what the file holds, what it may claim.

#include <CLI/CLI.hpp>
#include <ctime>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "analysis/declared.h"
#include "analysis/load.h"
#include "cluster/options.h"
#include "common.h"
#include "left_parts.h"
#include "statistics.h"
#include "times_text.h"
#include "tool_work_text.h"
#include "trace_facts.h"

namespace chameleon::tools {
namespace info_verb {

struct Options {
  std::string trace;
  bool json = false;
};

struct Summary {
  std::uint64_t nodes = 0;
  std::set<std::uint64_t> paths;
  std::uint64_t run_ns = 0, longest_ns = 0, tool_ns = 0, waiting_ns = 0, paused = 0;
  std::uint64_t late_votes = 0;
  std::uint64_t rule_values = 0, rule_matches = 0;
  std::map<std::string, RankList> hosts;
  std::array<std::uint64_t, 4> state_ns{};  ///< tool time at markers, by the state they led to
  std::uint64_t compute_ns = 0, longest_compute_ns = 0;  ///< of all, and of `slowest`; 0: not known
  std::uint32_t slowest = 0;
  std::uint64_t memory = 0;                                   ///< of the rank that used most
  std::map<std::uint64_t, RankList, std::greater<>> changed;  ///< ranks, by how often
  bool clocks_known = false;
  std::int64_t first_ns = 0, last_ns = 0;  ///< ranks' starts on rank 0's clock
  std::int64_t drift_ppb = 0;              ///< the largest
  std::uint64_t clock_error_ns = 0;
  DeclaredRanks inexact;
  bool exact() const {
    for (const RankList& ranks : inexact)
      if (!ranks.empty()) return false;
    return true;
  }
  /// Mean computing time of a rank / longest (POP's load balance).
  double load_balance(std::size_t ranks) const {
    return static_cast<double>(compute_ns) / static_cast<double>(ranks) /
           static_cast<double>(longest_compute_ns);
  }
  double tool_share() const {
    return run_ns == 0 ? 0 : static_cast<double>(tool_ns) / static_cast<double>(run_ns);
  }
  double waiting_share() const {
    return run_ns == 0 ? 0 : static_cast<double>(waiting_ns) / static_cast<double>(run_ns);
  }
};

void add_nodes(const std::vector<Node>& nodes, Summary& summary) {
  for (const Node& node : nodes) {
    ++summary.nodes;
    if (node.is_loop())
      add_nodes(node.body, summary);
    else
      summary.paths.insert(node.path);
  }
}

Summary summarize(const Trace& trace) {
  Summary summary;
  summary.inexact = declared_at_nodes(trace);
  add_nodes(trace.nodes, summary);
  bool all_measured = true;
  for (const auto& [stream, facts] : trace.facts) {
    const std::uint32_t rank = trace.rank_of(stream);
    // The tool's share is of what all threads had.
    summary.run_ns += facts.run_ns;
    summary.longest_ns = std::max(summary.longest_ns, facts.run_ns);
    summary.tool_ns += facts.tool_ns;
    summary.waiting_ns += facts.waiting_ns;
    summary.late_votes += facts.late_votes;
    summary.paused += facts.paused;
    summary.rule_values += facts.rule_values;
    summary.rule_matches += facts.rule_matches;
    if (facts.changed != 0) summary.changed[facts.changed].insert(rank);
    for (std::size_t i = 0; i < summary.state_ns.size(); ++i)
      summary.state_ns[i] += facts.tool_ns_in(i);
    // Of threads that wait for each other it is not known who computes.
    const std::optional<std::uint64_t> compute = measured_compute_ns(facts);
    all_measured = all_measured && trace.threads <= 1 && compute;
    summary.compute_ns += compute.value_or(0);
    if (compute && *compute > summary.longest_compute_ns) {
      summary.longest_compute_ns = *compute;
      summary.slowest = rank;
    }
    summary.memory = std::max(summary.memory, facts.tool_bytes);
    const RankClock clock = facts.clock();
    summary.clocks_known = clocks_known(trace);
    summary.first_ns = std::min(summary.first_ns, clock.begin_ns);
    summary.last_ns = std::max(summary.last_ns, clock.begin_ns);
    if (std::abs(clock.drift_ppb) > std::abs(summary.drift_ppb))
      summary.drift_ppb = clock.drift_ppb;
    summary.clock_error_ns = std::max(summary.clock_error_ns, clock.error_ns);
    if (!facts.host.empty()) summary.hosts[facts.host].insert(rank);
  }
  if (!all_measured) summary.compute_ns = summary.longest_compute_ns = 0;
  return summary;
}

std::string time_text(std::uint64_t seconds) {
  const auto time = static_cast<std::time_t>(seconds);
  std::tm utc{};
  char text[32] = "";
  if (gmtime_r(&time, &utc) != nullptr)
    std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text;
}

const char* state_text(std::uint8_t state) { return state < kStates.size() ? kStates[state] : "?"; }

/// For each cluster the signatures that tell it from the first one of its Call-Path; none if the
/// trace does not say.
std::vector<std::string> splits_of(const OnlineFacts& online) {
  std::vector<std::string> splits;
  std::istringstream list(online.split_by);
  for (std::string one; std::getline(list, one, ';');) splits.push_back(one);
  if (splits.empty()) return {};
  splits.resize(online.clusters.size());  // a last one may be empty
  return splits;
}

void add_online(const Trace& trace, const Summary& summary, nlohmann::ordered_json& document) {
  using Json = nlohmann::ordered_json;
  const OnlineFacts& online = trace.online;
  document["markers"] = online.markers;
  document["acted"] = online.acted;
  document["call_frequency"] = online.call_frequency;
  document["count_c"] = online.count_c;
  document["count_l"] = online.count_l;
  document["count_at"] = online.count_at;
  document["count_flush"] = online.flushes;
  document["clusterings"] = online.clusterings;
  document["clustering"] = online.clustering;
  if (!online.algorithm.empty()) {
    document["algorithm"] = online.algorithm;
    document["steps"] = online.steps;
    document["signature_format"] = online.signature_format;
  }
  document["fidelity"] = online.fidelity;
  document["k"] = online.k;
  document["merge_bytes"] = online.merge_bytes;
  document["vote_bytes"] = online.vote_bytes;
  if (online.doubled != 0) document["doubled"] = online.doubled;
  if (!online.filter.empty()) document["filter"] = online.filter;
  if (!trace.rules.empty())
    document["rules"] = {
        {"text", trace.rules}, {"values", summary.rule_values}, {"matched", summary.rule_matches}};
  if (online.merging_ns != 0) {
    document["merging_seconds"] = static_cast<double>(online.merging_ns) * 1e-9;
    document["clustering_bytes"] = online.clustering_bytes;
    document["clustering_seconds"] = static_cast<double>(online.clustering_ns) * 1e-9;
  }
  document["leads"] = Json::array();
  document["clusters"] = Json::array();
  const std::vector<std::string> splits = splits_of(online);
  for (std::size_t i = 0; i < online.clusters.size(); ++i) {
    const Cluster& cluster = online.clusters[i];
    document["leads"].push_back(cluster.lead);
    auto& one = document["clusters"].emplace_back();
    one["call_path"] = hex_text(cluster.call_path);
    one["lead"] = cluster.lead;
    one["ranks"] = cluster.ranks.to_string();
    if (!splits.empty()) one["split_by"] = splits[i];
  }
  document["phases"] = Json::array();
  for (const Phase& phase : online.phases)
    document["phases"].push_back({{"state", state_text(phase.state)},
                                  {"first", phase.first},
                                  {"markers", phase.markers},
                                  {"changed", phase.changed},
                                  {"end_seconds", static_cast<double>(phase.end_ns) * 1e-9}});
  document["changed"] = Json::array();
  for (const auto& [markers, ranks] : summary.changed)
    document["changed"].push_back({{"markers", markers}, {"ranks", ranks.to_string()}});
  document["state_seconds"] = Json::object();
  for (std::size_t i = 0; i < kStates.size(); ++i)
    document["state_seconds"][kStates[i]] = static_cast<double>(summary.state_ns[i]) * 1e-9;
  add_tool_work(trace, document);
}

constexpr std::size_t kMostLines = 16;

/// Whose Call-Paths changed, those first that did most often.
void print_changed(const Trace& trace, const Summary& summary) {
  std::size_t left = kMostLines;
  for (const auto& [markers, ranks] : summary.changed) {
    if (left-- == 0) return;
    std::cout << "changed      " << ranks_text(ranks) << ": at " << count_text(markers) << " of "
              << count_text(trace.online.acted) << " acted-on markers\n";
  }
}

/// Up to when a trace knows the run.
std::uint64_t known_ns(const Trace& trace, const Summary& summary) {
  if (trace.complete) return summary.longest_ns;
  return trace.online.phases.empty() ? 0 : trace.online.phases.back().end_ns;
}

std::string complete_text(const std::string& path, const Trace& trace, const Summary& summary) {
  if (trace.complete) return "yes";
  const std::string why = why_ended(path);
  std::string text = why.empty()
                         ? "no: the job is still running or was killed; the trace reaches to "
                         : "no: the run ended by " + why +
                               "; chameleon recover joins the parts that ranks left; without "
                               "them the trace reaches to ";
  if (trace.online.acted == 0) return text + "its start";
  text += "marker " + count_text(trace.online.acted) + " acted on";
  const std::uint64_t known = known_ns(trace, summary);
  return known == 0 ? text
                    : text + ", " + duration_text(static_cast<double>(known)) + " after the start";
}

std::string exact_text(const Trace& trace) {
  if (!trace.complete && trace.nodes.empty()) return "no rank has reported yet";
  return std::string(trace.times.empty() ? "" : "calls and parameters, ") + "for every rank" +
         (trace.complete ? "" : ", as far as the trace reaches");
}

std::string spent_text(std::uint64_t bytes, std::uint64_t ns) {
  const std::string text = bytes_text(static_cast<double>(bytes)) + " sent between ranks";
  if (ns == 0) return text;
  return text + ", " + duration_text(static_cast<double>(ns));
}

void print_online(const Trace& trace, const Summary& summary) {
  const OnlineFacts& online = trace.online;
  if (!online.clustering.empty())
    std::cout << "clustering   " << (online.algorithm.empty() ? "" : online.algorithm + ": ")
              << online.clustering
              << (online.clustering == "off"
                      ? ""
                      : ", K = " + cluster::k_text(online.k) +
                            (online.steps == "single" ? ", single step" : "") + ", fidelity " +
                            online.fidelity)
              << "\n";
  if (!online.clusters.empty() && !online.algorithm.empty())
    std::cout << "signatures   "
              << (online.signature_format.empty() ? "none: all ranks were alike"
                                                  : online.signature_format)
              << "\n";
  if (!trace.untraced.empty())
    std::cout << "not traced   " << printable(trace.untraced)
              << ": calls that are newer than the tracer, if the program makes any\n";
  if (!trace.rules.empty())
    std::cout << "rules        " << count_text(summary.rule_matches) << " of "
              << count_text(summary.rule_values) << " values agree with the rules\n";
  if (!online.filter.empty()) std::cout << "filter       " << online.filter << "\n";
  if (online.acted != 0 || online.markers != 0)
    std::cout << "markers      " << count_text(online.markers) << ", acted on "
              << count_text(online.acted) << ": #C " << count_text(online.count_c) << ", #L "
              << count_text(online.count_l) << ", #AT " << count_text(online.count_at)
              << ", #flush " << count_text(online.flushes) << ", elections "
              << count_text(online.clusterings) << "\n";
  if (!online.marker_source.empty() && online.marker_source != "program")
    std::cout << "marked by    " << online.marker_source << "\n";
  if (!online.clusters.empty()) {
    std::set<std::uint64_t> call_paths;
    for (const Cluster& cluster : online.clusters) call_paths.insert(cluster.call_path);
    std::cout << "clusters     " << count_text(call_paths.size()) << " call-path, "
              << count_text(online.clusters.size())
              << (online.clusters.size() == 1 ? " lead\n" : " leads\n");
  }
  const std::vector<std::string> splits = splits_of(online);
  for (std::size_t i = 0; i < online.clusters.size() && i < kMostLines; ++i) {
    const Cluster& cluster = online.clusters[i];
    std::cout << "cluster      " << hex_text(cluster.call_path) << "  lead " << cluster.lead << "  "
              << ranks_text(cluster.ranks)
              << (splits.empty() || splits[i].empty() ? "" : "  by " + splits[i]) << "\n";
  }
  if (online.clusters.size() > kMostLines)
    std::cout << "cluster      " << online.clusters.size() - kMostLines << " more (--json)\n";
  for (std::size_t i = 0; i < online.phases.size() && i < kMostLines; ++i) {
    const Phase& phase = online.phases[i];
    const std::uint64_t last = phase.first + std::max<std::uint64_t>(phase.markers, 1) - 1;
    std::cout << "phase        " << state_text(phase.state)
              << std::string(phase.state == 0 ? 1 : 2, ' ') << "markers " << phase.first << "-"
              << last << ", " << count_text(phase.changed) << " ranks changed, until "
              << duration_text(static_cast<double>(phase.end_ns)) << "\n";
  }
  if (online.phases.size() > kMostLines)
    std::cout << "phase        " << online.phases.size() - kMostLines << " more (--json)\n";
  print_changed(trace, summary);
  std::uint64_t all = 0;
  for (const std::uint64_t ns : summary.state_ns) all += ns;
  if (all != 0) {
    std::cout << "tool time   ";
    for (std::size_t i = 0; i < kStates.size(); ++i)
      std::cout << (i == 0 ? " " : ", ") << kStates[i] << " "
                << duration_text(static_cast<double>(summary.state_ns[i]));
    std::cout << ", at markers, summed over ranks\n";
  }
  for (const auto& [label, text] : tool_work_lines(trace))
    std::cout << label << std::string(13 - label.size(), ' ') << text << "\n";
  if (online.merge_bytes != 0)
    std::cout << "merging      " << spent_text(online.merge_bytes, online.merging_ns) << "\n";
  if (online.vote_bytes != 0)
    std::cout << "votes        " << bytes_text(static_cast<double>(online.vote_bytes)) << " sent"
              << (online.doubled == 0 ? ""
                                      : ", two intervals a vote from marker " +
                                            std::to_string(online.doubled) + " on")
              << "\n";
  if (online.clustering_bytes != 0)
    std::cout << "to cluster   " << spent_text(online.clustering_bytes, online.clustering_ns)
              << "\n";
}

}  // namespace info_verb

nlohmann::ordered_json info_document(const Trace& trace, const FileFacts& file) {
  using namespace info_verb;
  const Summary summary = summarize(trace);
  using Json = nlohmann::ordered_json;
  Json document = json_document("info");
  document["version"] = trace.tool_version;
  document["format"] = std::to_string(file.major) + "." + std::to_string(file.minor);
  document["program"] = trace.program;
  document["mpi"] = trace.mpi;
  document["ranks"] = trace.world_size;
  document["traced_ranks"] = trace.whole_ranks().to_string();
  document["threads"] = trace.threads;
  document["streams"] = trace.ranks.size();
  document["complete"] = trace.complete;
  document["known_seconds"] = static_cast<double>(known_ns(trace, summary)) * 1e-9;
  document["started"] = trace.started_unix;
  document["run_seconds"] = static_cast<double>(summary.longest_ns) * 1e-9;
  document["timing"] = trace.timing;
  if (!trace.times.empty()) document["time_classes"] = time_classes_json(trace);
  document["events"] = trace.event_count();
  document["paused_calls"] = summary.paused;
  document["nodes"] = summary.nodes;
  document["call_paths"] = summary.paths.size();
  document["bytes"] = file.bytes;
  document["commits"] = file.commits;
  document["ignored_bytes"] = file.ignored;
  document["tool_seconds"] = static_cast<double>(summary.tool_ns) * 1e-9;
  document["tool_share"] = summary.tool_share();
  document["waiting_seconds"] = static_cast<double>(summary.waiting_ns) * 1e-9;
  document["waiting_share"] = summary.waiting_share();
  document["late_votes"] = summary.late_votes;
  document["tool_bytes"] = summary.memory;
  if (summary.longest_compute_ns != 0)
    document["load"] = {
        {"balance", summary.load_balance(trace.facts.size())},
        {"slowest_rank", summary.slowest},
        {"longest_compute_seconds", static_cast<double>(summary.longest_compute_ns) * 1e-9}};
  document["clocks"] = Json::object();
  if (summary.clocks_known) {
    document["clocks"] = {{"starts_within_ns", summary.last_ns - summary.first_ns},
                          {"largest_drift_ppb", summary.drift_ppb},
                          {"largest_error_ns", summary.clock_error_ns},
                          {"ranks", Json::array()}};
    for (const auto& [rank, facts] : trace.facts) {
      if (trace.thread_of(rank) != 0) continue;  // a rank has one clock
      document["clocks"]["ranks"].push_back({{"rank", rank},
                                             {"samples", facts.clock_samples},
                                             {"begin_ns", facts.clock_begin_ns},
                                             {"drift_ppb", facts.clock_drift_ppb},
                                             {"error_ns", facts.clock_error_ns}});
    }
  }
  add_online(trace, summary, document);
  document["hosts"] = Json::array();
  for (const auto& [name, ranks] : summary.hosts)
    document["hosts"].push_back({{"name", name}, {"ranks", ranks.to_string()}});
  document["declarations"] = Json::array();
  for (const Declaration& declaration : trace.declarations)
    document["declarations"].push_back(
        {{"what", declaration.what}, {"ranks", declaration.ranks.to_string()}});
  document["inexact"] = Json::array();
  for (std::size_t i = 0; i < summary.inexact.size(); ++i)
    if (!summary.inexact[i].empty())
      document["inexact"].push_back(
          {{"kind", kInexactKinds[i].second}, {"ranks", summary.inexact[i].to_string()}});
  document["facts"] = facts_json(trace);
  if (!trace.totals.empty()) document["totals"] = totals_json(trace);
  return document;
}

namespace info_verb {

void print_text(const Options& options, const Trace& trace, const FileFacts& file,
                const Summary& summary) {
  const auto line = [](const char* label, const std::string& text) {
    std::cout << label << text << "\n";
  };
  line("trace        ", options.trace + ", " + bytes_text(static_cast<double>(file.bytes)) + ", " +
                            count_text(file.commits) +
                            (file.commits == 1 ? " commit" : " commits") + ", format " +
                            std::to_string(file.major) + "." + std::to_string(file.minor));
  if (file.ignored != 0)
    line("cut off      ", bytes_text(static_cast<double>(file.ignored)) +
                              " after the last whole commit are not read");
  line("program      ", trace.program);
  line("ranks        ", count_text(trace.world_size) +
                            (trace.whole_ranks().size() == trace.world_size
                                 ? ""
                                 : ", of which traced: " + trace.whole_ranks().to_string()));
  if (trace.threads > 1)
    line("threads      ", "up to " + count_text(trace.threads) + " a rank, " +
                              count_text(trace.ranks.size()) + " streams of events in all");
  line("complete     ", complete_text(options.trace, trace, summary));
  if (trace.started_unix != 0) line("started      ", time_text(trace.started_unix));
  if (summary.longest_ns != 0) {
    line("run time     ", duration_text(static_cast<double>(summary.longest_ns)));
    line("tool time    ", share_text(summary.tool_share()) + " of it");
    if (summary.waiting_ns > 0)
      line("waiting      ", share_text(summary.waiting_share()) +
                                " of it, at markers for slower ranks; " +
                                count_text(summary.late_votes) + " late votes");
    if (summary.longest_compute_ns != 0)
      line("load balance ", share_text(summary.load_balance(trace.facts.size())) +
                                ": longest computing " +
                                duration_text(static_cast<double>(summary.longest_compute_ns)) +
                                ", rank " + std::to_string(summary.slowest));
    if (summary.memory != 0)
      line("tool memory  ",
           "at most " + bytes_text(static_cast<double>(summary.memory)) + " a rank");
  }
  line("events       ", count_text(trace.event_count()) + " in " + count_text(summary.nodes) +
                            " nodes, " + count_text(summary.paths.size()) + " call paths");
  if (summary.paused != 0)
    line("not recorded ", count_text(summary.paused) + " calls while tracing was switched off");
  print_online(trace, summary);
  if (!trace.frames_matched.empty())
    line("frames       ",
         trace.frames_matched + " of each call path: others may differ within a loop");
  line("timing       ", trace.timing);
  if (const std::string times = times_text(trace); !times.empty()) line("times        ", times);
  const std::vector<std::string> classes = time_class_lines(trace);
  for (std::size_t i = 0; i < classes.size() && i < kMostLines; ++i)
    line("time class   ", classes[i]);
  if (summary.clocks_known && trace.facts.size() > 1)
    line("clocks       ",
         "ranks began within " +
             duration_text(static_cast<double>(summary.last_ns - summary.first_ns)) +
             ", drift up to " + std::to_string(std::abs(summary.drift_ppb) / 1000) +
             " ppm, known to within " + duration_text(static_cast<double>(summary.clock_error_ns)));
  line("written by   ", "Chameleon " + trace.tool_version + ", " + trace.mpi);
  for (const auto& [name, ranks] : summary.hosts)
    line("host         ", name + ": " + ranks_text(ranks));
  for (const std::string& fact : carried_lines(trace)) line("also says    ", fact);
  if (trace.declarations.empty() && summary.exact()) line("exact        ", exact_text(trace));
  std::uint32_t said = 0;  // kinds of the same ranks are one line
  for (std::size_t i = 0; i < summary.inexact.size(); ++i) {
    if (summary.inexact[i].empty() || (said & kInexactKinds[i].first) != 0) continue;
    std::uint32_t kinds = 0;
    for (std::size_t other = i; other < summary.inexact.size(); ++other)
      if (summary.inexact[other] == summary.inexact[i]) kinds |= kInexactKinds[other].first;
    said |= kinds;
    line("not exact    ",
         kinds_text(kinds) + " of " + ranks_text(summary.inexact[i]) + ", in parts of the trace");
  }
  for (const Declaration& declaration : trace.declarations)
    line("not exact    ", declaration.what + ": " + ranks_text(declaration.ranks));
}

int info(const Options& options) {
  int status = kExitOk;
  FileFacts file;
  const std::optional<Trace> trace = load_trace("info", options.trace, status, &file);
  if (!trace) return status;
  if (options.json)
    print_json(info_document(*trace, file));
  else
    print_text(options, *trace, file, summarize(*trace));
  return kExitOk;
}

}  // namespace info_verb

void add_info_command(CLI::App& app, int& status) {
  using namespace info_verb;
  auto options = std::make_shared<Options>();
  CLI::App* verb = app.add_subcommand("info", "Summarize a trace");
  verb->add_option("trace", options->trace, "Trace file")->required();
  verb->add_flag("--json", options->json, "One JSON object");
  verb->callback([options, &status] { status = info(*options); });
}

}  // namespace chameleon::tools
