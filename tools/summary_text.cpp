// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <iostream>
#include <nlohmann/json.hpp>

#include "analysis/declared.h"
#include "tools/common.h"
#include "tools/summary.h"

namespace chameleon::tools {
namespace {

bool is_exact(const Trace& trace) {
  if (!trace.declarations.empty()) return false;
  for (const RankList& ranks : declared_at_nodes(trace))
    if (!ranks.empty()) return false;
  return true;
}

std::string hosts_text(const Trace& trace) {
  std::vector<std::string> hosts;
  for (const auto& [stream, facts] : trace.facts)
    if (!facts.host.empty() && std::find(hosts.begin(), hosts.end(), facts.host) == hosts.end())
      hosts.push_back(facts.host);
  if (hosts.empty()) return "";
  if (hosts.size() == 1) return " on " + hosts.front();
  return " on " + count_text(hosts.size()) + " hosts, the first " + hosts.front();
}

std::string started_text(const Trace& trace) {
  if (trace.started_unix == 0) return "not known";
  const auto time = static_cast<std::time_t>(trace.started_unix);
  std::tm utc{};
  char text[32] = "";
  if (gmtime_r(&time, &utc) != nullptr)
    std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text;
}

std::string or_unknown(const std::string& text) { return text.empty() ? "not known" : text; }

/// The whole command is the trace's own, or else its program.
std::string command_of(const Trace& trace) {
  return or_unknown(trace.command_line.empty() ? trace.program : trace.command_line);
}

void print_head(const std::string& path, const Trace& trace, const FileFacts& file,
                const TraceSummary& summary) {
  std::cout << "program    " << printable(command_of(trace)) << "\n";
  if (!trace.directory.empty()) std::cout << "directory  " << printable(trace.directory) << "\n";
  std::cout << "ranks      " << count_text(trace.world_size) << printable(hosts_text(trace)) << ", "
            << printable(or_unknown(trace.mpi)) << "\n"
            << "started    " << started_text(trace);
  if (summary.run_ns > 0) std::cout << ", ran " << duration_text(summary.run_ns);
  std::cout << (trace.complete ? "" : ", not complete") << "\n"
            << "trace      " << path << ", " << bytes_text(static_cast<double>(file.bytes)) << ", "
            << count_text(trace.event_count()) << " calls, "
            << (is_exact(trace) ? "exact for every rank" : "exact in part: chameleon info") << "\n";
}

/// Of all that `ranks` had; of threads, whose times add up to more than the run, there is none.
std::string share_of_run(double ns, double ranks, const Trace& trace, const TraceSummary& summary) {
  const double all = trace.threads > 1 ? 0 : summary.run_ns * ranks;
  return all > 0 ? share_text(ns / all) : "";
}

void print_shares(const Trace& trace, const TraceSummary& summary, const Style& style) {
  if (summary.shares.empty()) return;
  const std::string whose = trace.threads > 1 ? "time of a thread" : "time of a rank  ";
  std::printf(
      "\n%s\n",
      style.strong(whose + "          mean   of run      least  rank       most  rank").c_str());
  for (const SpentShare& share : summary.shares) {
    if (share.most_ns == 0) continue;
    std::printf("%-19s %10s %8s %10s %5u %10s %5u\n", share.name.c_str(),
                duration_text(share.mean_ns).c_str(),
                (summary.run_ns > 0 ? share_text(share.mean_ns / summary.run_ns) : "").c_str(),
                duration_text(share.least_ns).c_str(), share.least_rank,
                duration_text(share.most_ns).c_str(), share.most_rank);
  }
  if (trace.threads > 1)
    std::printf("%s\n", style
                            .faint("A rank has up to " + count_text(trace.threads) +
                                   " threads: its times here are means over them.")
                            .c_str());
  std::fflush(stdout);
}

std::string ranks_in_short(const RankList& ranks) {
  constexpr std::size_t kMost = 10;
  const std::string text = ranks.to_string();
  return text.size() <= kMost ? text : count_text(ranks.size()) + " ranks";
}

void print_places(const Trace& trace, const TraceSummary& summary, const Style& style) {
  if (summary.places.empty()) return;
  std::printf(
      "\n%s\n",
      style.strong("time in MPI, all ranks   of run     longest  ranks       place").c_str());
  for (const CostlyPlace& place : summary.places)
    std::printf("%22s %8s  %10s  %-10s  %s at %s\n", duration_text(place.sum_ns).c_str(),
                share_of_run(place.sum_ns, trace.world_size, trace, summary).c_str(),
                duration_text(place.most_ns).c_str(), ranks_in_short(place.longest).c_str(),
                printable(place.call).c_str(), printable(place.site).c_str());
  std::fflush(stdout);
}

/// The command that shows more of what was found.
std::vector<std::string> next_commands(const std::string& path, const Trace& trace,
                                       const TraceSummary& summary) {
  std::vector<std::string> next = {"chameleon report " + path};
  if (summary.shares.empty()) return next;
  next.push_back(trace.series.spans().empty() ? "chameleon stats --by path " + path
                                              : "chameleon series " + path);
  return next;
}

std::string nothing_text(const TraceSummary& summary) {
  if (summary.balance == 0) return "Nothing.";
  const std::string balance = " (load balance " + share_text(summary.balance) + ")";
  if (summary.balance >= TraceSummary::kEven)
    return "Nothing: work is shared evenly" + balance + ".";
  return "Nothing: work is shared unevenly" + balance + ", but that costs less than " +
         std::to_string(std::lround(100 * TraceSummary::kGrave)) + " % of the run.";
}

/// What a sentence about computing before a call means.
constexpr const char* kBefore =
    "(Computing before a call is the time since the MPI call before it, whatever functions ran.)";

bool names_computing(const TraceSummary& summary) {
  return std::any_of(summary.findings.begin(), summary.findings.end(), [](const std::string& text) {
    return text.find(" before ") != std::string::npos;
  });
}

/// Sentences, one a line.
void print_findings(std::ostream& out, const std::string& path, const Trace& trace,
                    const TraceSummary& summary, const Style& style, const std::string& indent) {
  for (const std::string& sentence : summary.findings)
    out << indent << "- " << printable(sentence) << "\n";
  if (summary.findings.empty()) out << indent << "- " << nothing_text(summary) << "\n";
  if (names_computing(summary)) out << indent << style.faint(kBefore) << "\n";
  for (const std::string& command : next_commands(path, trace, summary))
    out << indent << style.faint("next: ") << command << "\n";
}

}  // namespace

void print_summary(const std::string& path, const Trace& trace, const FileFacts& file,
                   const TraceSummary& summary) {
  const Style style;
  print_head(path, trace, file, summary);
  std::cout.flush();
  print_shares(trace, summary, style);
  print_places(trace, summary, style);
  if (summary.balance > 0)
    std::cout << "\nload balance " << share_text(summary.balance) << ": rank " << summary.slowest
              << " computes longest, " << duration_text(summary.most_compute_ns) << "; the mean is "
              << duration_text(summary.balance * summary.most_compute_ns) << "\n";
  std::cout << "\n" << style.strong("what stands out") << "\n";
  print_findings(std::cout, path, trace, summary, style, "");
}

void print_outcome(const std::string& path, const Trace& trace, const TraceSummary& summary) {
  std::cerr << "chameleon: what stands out (chameleon summary " << path << " has more)\n";
  for (const std::string& sentence : summary.findings)
    std::cerr << "chameleon: - " << printable(sentence) << "\n";
  if (summary.findings.empty()) std::cerr << "chameleon: - " << nothing_text(summary) << "\n";
  if (names_computing(summary)) std::cerr << "chameleon: " << kBefore << "\n";
  std::cerr << "chameleon: next: " << next_commands(path, trace, summary).front() << "\n";
}

nlohmann::ordered_json summary_document(const Trace& trace, const FileFacts& file,
                                        const TraceSummary& summary) {
  using Json = nlohmann::ordered_json;
  Json document = json_document("summary");
  document["program"] = trace.program;
  document["command_line"] = trace.command_line;
  document["directory"] = trace.directory;
  document["ranks"] = trace.world_size;
  document["mpi"] = trace.mpi;
  document["started"] = trace.started_unix;
  document["complete"] = trace.complete;
  document["exact"] = is_exact(trace);
  document["events"] = trace.event_count();
  document["bytes"] = file.bytes;
  document["run_seconds"] = summary.run_ns * 1e-9;
  document["time"] = Json::array();
  for (const SpentShare& share : summary.shares)
    document["time"].push_back({{"part", share.name},
                                {"mean_seconds", share.mean_ns * 1e-9},
                                {"least_seconds", share.least_ns * 1e-9},
                                {"least_rank", share.least_rank},
                                {"most_seconds", share.most_ns * 1e-9},
                                {"most_rank", share.most_rank}});
  document["places"] = Json::array();
  for (const CostlyPlace& place : summary.places)
    document["places"].push_back({{"call", place.call},
                                  {"site", place.site},
                                  {"seconds", place.sum_ns * 1e-9},
                                  {"most_seconds", place.most_ns * 1e-9},
                                  {"longest", place.longest.to_string()}});
  if (summary.balance > 0)
    document["load"] = {{"balance", summary.balance},
                        {"slowest_rank", summary.slowest},
                        {"longest_compute_seconds", summary.most_compute_ns * 1e-9}};
  document["findings"] = summary.findings;
  return document;
}

}  // namespace chameleon::tools
