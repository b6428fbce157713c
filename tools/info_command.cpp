// SPDX-License-Identifier: BSD-3-Clause
/// `chameleon info TRACE`: what ran, what the file holds, what it may claim.

#include <ctime>
#include <iostream>
#include <memory>
#include <set>

#include "common.h"

namespace chameleon {
namespace {

struct Options {
  std::string trace;
  bool json = false;
};

struct Summary {
  std::uint64_t nodes = 0;
  std::set<std::uint64_t> paths;
  std::uint64_t run_ns = 0, longest_ns = 0, tool_ns = 0, paused = 0;
  std::map<std::string, RankList> hosts;
  double tool_share() const {
    return run_ns == 0 ? 0 : static_cast<double>(tool_ns) / static_cast<double>(run_ns);
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
  add_nodes(trace.nodes, summary);
  for (const auto& [rank, facts] : trace.facts) {
    summary.run_ns += facts.run_ns;
    summary.longest_ns = std::max(summary.longest_ns, facts.run_ns);
    summary.tool_ns += facts.tool_ns;
    summary.paused += facts.paused;
    if (!facts.host.empty()) summary.hosts[facts.host].insert(rank);
  }
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

void print_document(const Trace& trace, const FileFacts& file, const Summary& summary) {
  using Json = nlohmann::ordered_json;
  Json document = json_document("info");
  document["version"] = trace.tool_version;
  document["format"] = std::to_string(file.major) + "." + std::to_string(file.minor);
  document["program"] = trace.program;
  document["mpi"] = trace.mpi;
  document["ranks"] = trace.world_size;
  document["traced_ranks"] = trace.ranks.to_string();
  document["complete"] = trace.complete;
  document["started"] = trace.started_unix;
  document["run_seconds"] = static_cast<double>(summary.longest_ns) * 1e-9;
  document["timing"] = trace.timing;
  document["events"] = trace.event_count();
  document["paused_calls"] = summary.paused;
  document["nodes"] = summary.nodes;
  document["call_paths"] = summary.paths.size();
  document["bytes"] = file.bytes;
  document["commits"] = file.commits;
  document["ignored_bytes"] = file.ignored;
  document["tool_seconds"] = static_cast<double>(summary.tool_ns) * 1e-9;
  document["tool_share"] = summary.tool_share();
  for (const char* counter :
       {"markers", "count_c", "count_l", "count_at", "count_flush", "k"})
    document[counter] = 0;
  document["leads"] = Json::array();
  document["clusters"] = Json::array();
  document["phases"] = Json::array();
  document["hosts"] = Json::array();
  for (const auto& [name, ranks] : summary.hosts)
    document["hosts"].push_back({{"name", name}, {"ranks", ranks.to_string()}});
  document["declarations"] = Json::array();
  for (const Declaration& declaration : trace.declarations)
    document["declarations"].push_back(
        {{"what", declaration.what}, {"ranks", declaration.ranks.to_string()}});
  print_json(document);
}

void print_text(const Options& options, const Trace& trace, const FileFacts& file,
                const Summary& summary) {
  const auto line = [](const char* label, const std::string& text) {
    std::cout << label << text << "\n";
  };
  line("trace        ", options.trace + ", " + bytes_text(static_cast<double>(file.bytes)) + ", " +
                            count_text(file.commits) +
                            (file.commits == 1 ? " commit" : " commits") +
                            ", format " + std::to_string(file.major) + "." +
                            std::to_string(file.minor));
  if (file.ignored != 0)
    line("cut off      ", bytes_text(static_cast<double>(file.ignored)) +
                              " after the last whole commit are not read");
  line("program      ", trace.program);
  line("ranks        ", count_text(trace.world_size) +
                            (trace.ranks.size() == trace.world_size
                                 ? ""
                                 : ", of which traced: " + trace.ranks.to_string()));
  line("complete     ", trace.complete ? "yes" : "no: the run did not reach MPI_Finalize");
  if (trace.started_unix != 0) line("started      ", time_text(trace.started_unix));
  line("run time     ", duration_text(static_cast<double>(summary.longest_ns)));
  line("tool time    ", share_text(summary.tool_share()) + " of it");
  line("events       ", count_text(trace.event_count()) + " in " + count_text(summary.nodes) +
                            " nodes, " + count_text(summary.paths.size()) + " call paths");
  if (summary.paused != 0)
    line("not recorded ", count_text(summary.paused) + " calls while tracing was switched off");
  line("timing       ", trace.timing);
  line("written by   ", "Chameleon " + trace.tool_version + ", " + trace.mpi);
  for (const auto& [name, ranks] : summary.hosts)
    line("host         ", name + ": " + ranks_text(ranks));
  if (trace.declarations.empty()) line("exact        ", "for every rank");
  for (const Declaration& declaration : trace.declarations)
    line("not exact    ", declaration.what + ": " + ranks_text(declaration.ranks));
}

int info(const Options& options) {
  int status = kExitOk;
  FileFacts file;
  const std::optional<Trace> trace = load_trace("info", options.trace, status, &file);
  if (!trace) return status;
  const Summary summary = summarize(*trace);
  if (options.json)
    print_document(*trace, file, summary);
  else
    print_text(options, *trace, file, summary);
  return kExitOk;
}

}  // namespace

void add_info_command(CLI::App& app, int& status) {
  auto options = std::make_shared<Options>();
  CLI::App* verb = app.add_subcommand("info", "Summarize a trace");
  verb->add_option("trace", options->trace, "Trace file")->required();
  verb->add_flag("--json", options->json, "One JSON object");
  verb->callback([options, &status] { status = info(*options); });
}

}  // namespace chameleon
