// SPDX-License-Identifier: BSD-3-Clause
/// `chameleon stats TRACE`: counts, times and bytes of each call or call path.

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <memory>

#include "analysis/declared.h"
#include "call_sites.h"
#include "common.h"
#include "sent_bytes.h"

namespace chameleon {
namespace {

constexpr std::size_t kTopSites = 10;

struct Options {
  std::string trace;
  std::string by = "call";
  bool json = false;
};

struct Row {
  std::string call;
  std::uint64_t path = 0;
  std::uint64_t count = 0, compute_ns = 0, call_ns = 0, bytes = 0;
  RankList ranks;
  double mean_ns() const {
    return count == 0 ? 0 : static_cast<double>(call_ns) / static_cast<double>(count);
  }
  void add(const Row& other) {
    count += other.count;
    compute_ns += other.compute_ns;
    call_ns += other.call_ns;
    bytes += other.bytes;
    ranks.merge(other.ranks);
  }
};

/// How often an event was executed, over all ranks: every execution left a
/// value of what it returned.
std::uint64_t executions(const Node& node, const RankList& ranks) {
  std::uint64_t count = 0;
  if (!node.params.empty())
    node.params.front().for_each_group(
        ranks, [&](const RankList& of, EndPointForm, const ValueSequence& values) {
          count += of.intersection(ranks).size() * values.size();
        });
  return count;
}

struct Statistics {
  std::map<std::string, Row> calls;
  std::map<std::pair<std::uint64_t, std::string>, Row> paths;
  Row total;
  std::uint64_t nodes = 0;
  /// Events of ranks declared inexact in them, by kind.
  std::array<std::uint64_t, kInexactKinds.size()> given_up{};

  bool exact() const {
    return std::all_of(given_up.begin(), given_up.end(), [](auto count) { return count == 0; });
  }
  double given_up_share(std::size_t kind) const {
    return total.count == 0
               ? 0
               : static_cast<double>(given_up[kind]) / static_cast<double>(total.count);
  }
  void give_up(const Node& node, const RankList& ranks, const std::vector<Inexact>& inexact) {
    for (std::size_t i = 0; i < kInexactKinds.size() && !inexact.empty(); ++i) {
      RankList these;  // where events differ, all else does
      for (const Inexact& entry : inexact)
        if ((entry.kinds & (kInexactKinds[i].first | kInexactEvents)) != 0)
          these.merge(entry.ranks.intersection(ranks));
      if (!these.empty()) given_up[i] += executions(node, these);
    }
  }

  void add(const Trace& trace, const SentBytes& sent, const std::vector<Node>& list,
           const RankList& around, const std::vector<Inexact>& declared_around = {}) {
    for (const Node& node : list) {
      ++nodes;
      const RankList& ranks = node.ranks.empty() ? around : node.ranks;
      std::vector<Inexact> inexact = declared_around;
      merge_inexact(inexact, node.inexact);
      if (node.is_loop()) {
        add(trace, sent, node.body, ranks, inexact);
        continue;
      }
      give_up(node, ranks, inexact);
      Row row;
      const auto call = trace.calls.find(node.call);
      row.call = call == trace.calls.end() ? "call " + std::to_string(node.call)
                                           : call->second.name;
      row.path = node.path;
      row.ranks = ranks;
      row.count = executions(node, ranks);
      for (const TimeEntry& entry : node.times) {
        row.compute_ns += entry.compute.sum();
        row.call_ns += entry.communication.sum();
      }
      if (const auto bytes = sent.bytes.find(&node); bytes != sent.bytes.end())
        row.bytes = bytes->second;
      total.add(row);
      calls.try_emplace(row.call, Row{row.call, 0, 0, 0, 0, 0, {}}).first->second.add(row);
      paths.try_emplace({row.path, row.call}, Row{row.call, row.path, 0, 0, 0, 0, {}})
          .first->second.add(row);
    }
  }
};

/// Longest first; without times, most frequent first.
template <class Map>
std::vector<Row> sorted(const Map& map) {
  std::vector<Row> rows;
  for (const auto& [key, row] : map) rows.push_back(row);
  std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
    return a.call_ns != b.call_ns ? a.call_ns > b.call_ns : a.count > b.count;
  });
  return rows;
}

std::string padded(const std::string& text, std::size_t width) {
  return text.size() >= width ? text : std::string(width - text.size(), ' ') + text;
}

void print_rows(const std::vector<Row>& rows, bool with_site, bool timed, CallSites& sites,
                const Style& style) {
  const auto line = [&](const std::string& name, const std::string& count,
                        const std::string& total, const std::string& mean,
                        const std::string& bytes, const std::string& rest) {
    std::string text = name + std::string(name.size() < 22 ? 22 - name.size() : 1, ' ');
    text += padded(count, 15);
    if (timed) text += padded(total, 11) + padded(mean, 11);
    return text + padded(bytes, 11) + "  " + rest;
  };
  const char* last = with_site ? "where" : "ranks";
  std::cout << style.strong(line("call", "count", "total", "mean", "sent", last)) << "\n";
  for (const Row& row : rows)
    std::cout << line(row.call, count_text(row.count),
                      duration_text(static_cast<double>(row.call_ns)),
                      duration_text(row.mean_ns()), bytes_text(static_cast<double>(row.bytes)),
                      with_site ? sites.site(row.path) : row.ranks.to_string())
              << "\n";
}

void print_text(const Options& options, const Trace& trace, const FileFacts& file,
                const Statistics& statistics, bool bytes_complete) {
  const Style style;
  CallSites sites(trace);
  const bool timed = trace.timing != "none";
  const Row& total = statistics.total;
  const bool by_path = options.by == "path";
  print_rows(by_path ? sorted(statistics.paths) : sorted(statistics.calls), by_path, timed, sites,
             style);
  std::cout << "\n"
            << count_text(total.count) << " calls on " << count_text(trace.ranks.size())
            << " ranks in " << count_text(statistics.nodes) << " nodes and "
            << bytes_text(static_cast<double>(file.bytes));
  if (total.count != 0) {
    char text[64];
    std::snprintf(text, sizeof text, ": %.3g calls a node, %.3g bytes a call",
                  static_cast<double>(total.count) / static_cast<double>(statistics.nodes),
                  static_cast<double>(file.bytes) / static_cast<double>(total.count));
    std::cout << text;
  }
  std::cout << "\nsent " << (bytes_complete ? "" : "at least ")
            << bytes_text(static_cast<double>(total.bytes));
  if (timed)
    std::cout << "; in MPI " << duration_text(static_cast<double>(total.call_ns))
              << ", between calls " << duration_text(static_cast<double>(total.compute_ns))
              << ", summed over ranks";
  std::cout << "\n";
  if (trace.declarations.empty() && statistics.exact()) std::cout << "exact for every rank\n";
  if (!statistics.exact()) {
    std::cout << "given up, of the events of all ranks:";
    for (std::size_t i = 0; i < kInexactKinds.size(); ++i)
      std::cout << (i == 0 ? " " : ", ") << kInexactKinds[i].second << " "
                << share_text(statistics.given_up_share(i));
    std::cout << "\n";
  }
  for (const Declaration& declaration : trace.declarations)
    std::cout << "not exact: " << declaration.what << ": " << ranks_text(declaration.ranks)
              << "\n";
  if (by_path) return;
  std::vector<Row> top = sorted(statistics.paths);
  if (top.size() > kTopSites) top.resize(kTopSites);
  std::cout << "\n";
  print_rows(top, true, timed, sites, style);
}

void print_document(const Options& options, const Trace& trace, const FileFacts& file,
                    const Statistics& statistics, bool bytes_complete) {
  using Json = nlohmann::ordered_json;
  CallSites sites(trace);
  const auto facts = [](const Row& row) {
    Json object;
    object["call"] = row.call;
    object["count"] = row.count;
    object["compute_seconds"] = static_cast<double>(row.compute_ns) * 1e-9;
    object["call_seconds"] = static_cast<double>(row.call_ns) * 1e-9;
    object["sent_bytes"] = row.bytes;
    object["ranks"] = row.ranks.to_string();
    return object;
  };
  Json document = json_document("stats");
  document["ranks"] = trace.world_size;
  document["by"] = options.by;
  document["timing"] = trace.timing;
  document["events"] = statistics.total.count;
  document["nodes"] = statistics.nodes;
  document["bytes"] = file.bytes;
  document["call_seconds"] = static_cast<double>(statistics.total.call_ns) * 1e-9;
  document["compute_seconds"] = static_cast<double>(statistics.total.compute_ns) * 1e-9;
  document["sent_bytes"] = statistics.total.bytes;
  document["sent_bytes_complete"] = bytes_complete;
  document["given_up"] = Json::object();
  constexpr std::array<const char*, kInexactKinds.size()> kKeys = {"events", "count", "src",
                                                                   "dest",   "tag",   "other"};
  for (std::size_t i = 0; i < kKeys.size(); ++i)
    document["given_up"][kKeys[i]] = statistics.given_up_share(i);
  document["rows"] = Json::array();
  if (options.by == "path") {
    for (const Row& row : sorted(statistics.paths)) {
      Json object = facts(row);
      object["path"] = sites.frames(row.path);
      document["rows"].push_back(std::move(object));
    }
  } else {
    for (const Row& row : sorted(statistics.calls)) document["rows"].push_back(facts(row));
  }
  document["declarations"] = Json::array();
  for (const Declaration& declaration : trace.declarations)
    document["declarations"].push_back(
        {{"what", declaration.what}, {"ranks", declaration.ranks.to_string()}});
  print_json(document);
}

int stats(const Options& options) {
  int status = kExitOk;
  FileFacts file;
  const std::optional<Trace> trace = load_trace("stats", options.trace, status, &file);
  if (!trace) return status;
  const SentBytes sent = sent_bytes(*trace);
  Statistics statistics;
  statistics.add(*trace, sent, trace->nodes, trace->ranks);
  if (options.json)
    print_document(options, *trace, file, statistics, sent.complete);
  else
    print_text(options, *trace, file, statistics, sent.complete);
  return kExitOk;
}

}  // namespace

void add_stats_command(CLI::App& app, int& status) {
  auto options = std::make_shared<Options>();
  CLI::App* verb = app.add_subcommand("stats", "Count calls, times and bytes");
  verb->add_option("trace", options->trace, "Trace file")->required();
  verb->add_option("--by", options->by, "Rows: call (default) or path")
      ->check(CLI::IsMember({"call", "path"}));
  verb->add_flag("--json", options->json, "One JSON object");
  verb->callback([options, &status] { status = stats(*options); });
}

}  // namespace chameleon
