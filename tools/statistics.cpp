// SPDX-License-Identifier: BSD-3-Clause
#include "tools/statistics.h"

#include <nlohmann/json.hpp>

#include "tools/call_sites.h"
#include "tools/common.h"
#include "tools/times_text.h"

namespace chameleon::tools {
namespace {

/// How often these ranks executed an event: every execution left a value of what it returned.
std::uint64_t executions(const Node& node, const RankList& ranks) {
  std::uint64_t count = 0;
  if (!node.params.empty())
    node.params.front().for_each_group(
        ranks, [&](const RankList& of, EndPointForm, const ValueSequence& values) {
          count += of.intersection(ranks).size() * values.size();
        });
  return count;
}

}  // namespace

void StatisticsRow::add(const StatisticsRow& other) {
  count += other.count;
  compute_ns += other.compute_ns;
  call_ns += other.call_ns;
  bytes += other.bytes;
  ranks.merge(other.ranks);
}

bool Statistics::exact() const {
  return std::all_of(given_up.begin(), given_up.end(), [](auto count) { return count == 0; });
}

double Statistics::given_up_share(std::size_t kind) const {
  return total.count == 0 ? 0
                          : static_cast<double>(given_up[kind]) / static_cast<double>(total.count);
}

std::vector<Declaration> Statistics::declarations(const Trace& trace) const {
  const RankList ranks = trace.ranks_of(streams);
  if (ranks == trace.whole_ranks()) return trace.declarations;
  std::vector<Declaration> concern;
  for (const Declaration& declaration : trace.declarations)
    if (!declaration.ranks.intersection(ranks).empty()) concern.push_back(declaration);
  return concern;
}

void Statistics::give_up(const Node& node, const RankList& ranks,
                         const std::vector<Inexact>& inexact) {
  for (std::size_t i = 0; i < kInexactKinds.size() && !inexact.empty(); ++i) {
    RankList these;  // where events differ, all else does
    for (const Inexact& entry : inexact)
      if ((entry.kinds & (kInexactKinds[i].first | kInexactEvents)) != 0)
        these.merge(entry.ranks.intersection(ranks));
    if (!these.empty()) given_up[i] += executions(node, these);
  }
}

void Statistics::add(const Trace& trace, const SentBytes& sent, const std::vector<Node>& list,
                     const RankList& around, const std::vector<Inexact>& declared_around) {
  for (const Node& node : list) {
    const RankList ranks = node.ranks.empty() ? around : node.ranks.intersection(around);
    if (ranks.empty()) continue;
    ++node_count;
    std::vector<Inexact> inexact = declared_around;
    merge_inexact(inexact, node.inexact);
    if (node.is_loop()) {
      add(trace, sent, node.body, ranks, inexact);
      continue;
    }
    give_up(node, ranks, inexact);
    StatisticsRow& row = nodes[&node];
    row.compute_ns = times.at(node).compute.sum_ns;
    row.call_ns = times.at(node).communication.sum_ns;
    const auto call = trace.calls.find(node.call);
    row.call = call == trace.calls.end() ? "call " + std::to_string(node.call) : call->second.name;
    row.path = node.path;
    row.ranks = trace.ranks_of(ranks);
    row.count = executions(node, ranks);
    if (const auto bytes = sent.bytes.find(&node); bytes != sent.bytes.end())
      row.bytes = bytes->second;
    total.add(row);
    const auto fresh = [&](std::uint64_t path) {
      StatisticsRow empty;
      empty.call = row.call;
      empty.path = path;
      return empty;
    };
    calls.try_emplace(row.call, fresh(0)).first->second.add(row);
    paths.try_emplace({row.path, row.call}, fresh(row.path)).first->second.add(row);
  }
}

Result<Statistics> Statistics::make(const Trace& trace, const RankList& streams) {
  Statistics statistics;
  statistics.streams = streams.intersection(trace.ranks);
  Result<NodeTimes> times = NodeTimes::make(trace, statistics.streams);
  if (!times) return times.error();
  statistics.times = std::move(*times);
  const SentBytes sent = sent_bytes(trace, statistics.streams);
  statistics.bytes_complete = sent.complete;
  statistics.add(trace, sent, trace.nodes, statistics.streams, {});
  return statistics;
}

nlohmann::ordered_json statistics_document(const Trace& trace, const FileFacts& file,
                                           const Statistics& statistics, const std::string& by) {
  using Json = nlohmann::ordered_json;
  CallSites sites(trace);
  const auto facts = [](const StatisticsRow& row) {
    Json object;
    object["call"] = row.call;
    object["count"] = row.count;
    object["compute_seconds"] = row.compute_ns * 1e-9;
    object["call_seconds"] = row.call_ns * 1e-9;
    object["sent_bytes"] = row.bytes;
    object["ranks"] = row.ranks.to_string();
    return object;
  };
  Json document = json_document("stats");
  document["ranks"] = trace.world_size;
  document["by"] = by;
  document["of_ranks"] = trace.ranks_of(statistics.streams).to_string();
  if (!trace.times.empty()) document["times_of"] = times_of_json(trace, statistics.streams);
  document["timing"] = trace.timing;
  document["events"] = statistics.total.count;
  document["nodes"] = statistics.node_count;
  document["bytes"] = file.bytes;
  document["call_seconds"] = statistics.total.call_ns * 1e-9;
  document["compute_seconds"] = statistics.total.compute_ns * 1e-9;
  document["sent_bytes"] = statistics.total.bytes;
  document["sent_bytes_complete"] = statistics.bytes_complete;
  document["given_up"] = Json::object();
  constexpr std::array<const char*, kInexactKinds.size()> kKeys = {"events", "count", "src",
                                                                   "dest",   "tag",   "other"};
  for (std::size_t i = 0; i < kKeys.size(); ++i)
    document["given_up"][kKeys[i]] = statistics.given_up_share(i);
  document["rows"] = Json::array();
  if (by == "path") {
    for (const StatisticsRow& row : sorted_rows(statistics.paths)) {
      Json object = facts(row);
      object["path"] = sites.frames(row.path);
      document["rows"].push_back(std::move(object));
    }
  } else {
    for (const StatisticsRow& row : sorted_rows(statistics.calls))
      document["rows"].push_back(facts(row));
  }
  document["declarations"] = Json::array();
  for (const Declaration& declaration : statistics.declarations(trace))
    document["declarations"].push_back(
        {{"what", declaration.what}, {"ranks", declaration.ranks.to_string()}});
  return document;
}

}  // namespace chameleon::tools
