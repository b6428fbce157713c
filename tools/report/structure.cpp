// SPDX-License-Identifier: BSD-3-Clause
/// The folded trace as a tree, distributions of times, shares of ranks.

#include <algorithm>
#include <cmath>

#include "tools/common.h"
#include "tools/loop_places.h"
#include "tools/report/report.h"
#include "tools/value_text.h"

namespace chameleon::tools::report {
namespace {

constexpr std::uint64_t kMostNodes = 20000;
constexpr std::size_t kMostRankPoints = 4096;
constexpr std::size_t kMostPlaces = 50;
constexpr std::size_t kMostDifferences = 24;  ///< of a cluster

class Tree {
 public:
  Tree(const Trace& trace, const Statistics& statistics, Sites& sites)
      : trace_(trace),
        statistics_(statistics),
        sites_(sites),
        text_(trace, false),
        places_(trace, sites.names()) {}

  Json nodes(const std::vector<Node>& list, const RankList& around, StatisticsRow& sum) {
    Json array = Json::array();
    for (const Node& node : list) {
      const RankList& ranks = node.ranks.empty() ? around : node.ranks;
      const bool shown = ++seen_ <= kMostNodes;
      Json one = Json::object();
      StatisticsRow row;
      if (node.is_loop()) {
        if (shown) loop(node, ranks, one);
        Json body = nodes(node.body, ranks, row);
        if (shown) one["body"] = std::move(body);
      } else {
        if (const auto found = statistics_.nodes.find(&node); found != statistics_.nodes.end())
          row = found->second;
        if (shown) event(node, ranks, one);
      }
      sum.count += row.count;
      sum.bytes += row.bytes;
      sum.compute_ns += row.compute_ns;
      sum.call_ns += row.call_ns;
      if (!shown) continue;
      one["count"] = row.count;
      one["compute"] = std::llround(row.compute_ns);
      one["in_call"] = std::llround(row.call_ns);
      one["sent"] = row.bytes;
      one["ranks"] = trace_.ranks_of(ranks).to_string();
      std::string inexact;
      for (const Inexact& entry : node.inexact)
        inexact += (inexact.empty() ? "" : "; ") + kinds_text(entry.kinds) + " of " +
                   streams_text(trace_, entry.ranks);
      if (!inexact.empty()) one["inexact"] = inexact;
      array.push_back(std::move(one));
    }
    return array;
  }

  std::uint64_t left_out() const { return seen_ > kMostNodes ? seen_ - kMostNodes : 0; }

 private:
  void loop(const Node& node, const RankList& ranks, Json& one) {
    Field iterations;
    iterations.name = iterations.kind = "int";
    one["loop"] = text_.param(iterations, node.iterations, ranks);
    if (const std::string& place = places_.of(node); !place.empty()) one["place"] = place;
  }

  void event(const Node& node, const RankList& ranks, Json& one) {
    const auto call = trace_.calls.find(node.call);
    one["call"] =
        call == trace_.calls.end() ? "call " + std::to_string(node.call) : call->second.name;
    if (call != trace_.calls.end())
      one["line"] = call_text(call->second, [&](std::size_t i) {
        return i < node.params.size() ? text_.param(call->second.fields[i], node.params[i], ranks)
                                      : "";
      });
    one["site"] = sites_.index(node.path);
  }

  const Trace& trace_;
  const Statistics& statistics_;
  Sites& sites_;
  const ValueText text_;
  const LoopPlaces places_;
  std::uint64_t seen_ = 0;
};

Json bins_of(const Spent& spent) {
  Json bins = Json::array();
  for (const auto& [bin, count] : spent.bins)
    bins.push_back({Histogram::bin_low(bin), Histogram::bin_low(bin + 1U), std::llround(count)});
  return {{"count", std::llround(spent.count)},
          {"min", spent.least_ns},
          {"mean", spent.mean_ns()},
          {"median", spent.quantile_ns(0.5)},
          {"p95", spent.quantile_ns(0.95)},
          {"max", spent.most_ns},
          {"bins", std::move(bins)}};
}

/// What an event of a cluster says of its partners, by name of the field.
using Partners = std::map<std::pair<std::uint64_t, std::string>, std::string>;

struct Behaviour {
  std::map<std::uint64_t, const Node*> events;  ///< by symbol
  Partners partners;
};

void collect(const Trace& trace, const ValueText& text, const std::vector<Node>& nodes,
             const RankList& around, const RankList& of, Behaviour& behaviour) {
  for (const Node& node : nodes) {
    const RankList ranks = node.ranks.empty() ? around : node.ranks.intersection(around);
    const RankList mine = ranks.intersection(of);
    if (mine.empty()) continue;
    if (node.is_loop()) {
      collect(trace, text, node.body, ranks, of, behaviour);
      continue;
    }
    behaviour.events.emplace(node.symbol(), &node);
    const auto call = trace.calls.find(node.call);
    if (call == trace.calls.end()) continue;
    for (std::size_t i = 0; i < call->second.fields.size() && i < node.params.size(); ++i) {
      const Field& field = call->second.fields[i];
      if (field.stored != FieldKind::kEndPoint || field.name.find('.') != std::string::npos)
        continue;
      std::string& all = behaviour.partners[{node.symbol(), field.name}];
      const std::string now = text.param(field, node.params[i], mine);
      if (all.find(now) == std::string::npos) all += (all.empty() ? "" : ", ") + now;
    }
  }
}

}  // namespace

Json tree(const Trace& trace, const Statistics& statistics, Sites& sites) {
  Tree tree(trace, statistics, sites);
  StatisticsRow sum;
  Json nodes = tree.nodes(trace.nodes, trace.ranks, sum);
  return {{"nodes", std::move(nodes)}, {"left_out", tree.left_out()}};
}

Json times(const Trace& trace, const Statistics& statistics) {
  std::map<std::string, SpentAt> calls;
  const std::function<void(const std::vector<Node>&)> walk = [&](const std::vector<Node>& nodes) {
    for (const Node& node : nodes) {
      if (node.is_loop()) {
        walk(node.body);
        continue;
      }
      const auto call = trace.calls.find(node.call);
      if (call == trace.calls.end()) continue;
      calls[call->second.name].add(statistics.times.at(node));
    }
  };
  walk(trace.nodes);
  Json array = Json::array();
  for (const auto& [name, spent] : calls)
    if (spent.communication.count > 0)
      array.push_back({{"call", name},
                       {"in_call", bins_of(spent.communication)},
                       {"compute", bins_of(spent.compute)}});
  return array;
}

Json load(const Trace& trace, const Load& load, Sites& sites) {
  // Beyond so many ranks a point is the mean of some, and the longest computing is kept beside.
  const std::size_t of = (load.ranks.size() + kMostRankPoints - 1) / kMostRankPoints;
  Json json = {{"ranks_per_point", of},
               {"measured", load.measured},
               {"mean_compute", std::llround(load.mean_compute_ns())},
               {"most_compute", std::llround(load.most_compute_ns())},
               {"run", std::llround(load.run_ns())}};
  Json rank = Json::array(), compute = rank, most = rank, in_call = rank, events = rank,
       waiting = rank, tool = rank;
  for (std::size_t first = 0; first < load.ranks.size(); first += of) {
    const std::size_t end = std::min(first + of, load.ranks.size());
    const auto n = static_cast<double>(end - first);
    double computed = 0, longest = 0, called = 0, count = 0, waited = 0, own = 0;
    for (std::size_t i = first; i < end; ++i) {
      const RankLoad& one = load.ranks[i];
      computed += one.compute_ns / n;
      longest = std::max(longest, one.compute_ns);
      called += one.call_ns / n;
      count += one.events / n;
      for (const std::uint32_t stream : trace.streams_of(one.rank))
        if (const auto facts = trace.facts.find(stream); facts != trace.facts.end()) {
          waited += static_cast<double>(facts->second.waiting_ns) / n;
          own += static_cast<double>(facts->second.tool_ns) / n;
        }
    }
    rank.push_back(load.ranks[first].rank);
    compute.push_back(std::llround(computed));
    most.push_back(std::llround(longest));
    in_call.push_back(std::llround(called));
    events.push_back(std::llround(count));
    waiting.push_back(std::llround(waited));
    tool.push_back(std::llround(own));
  }
  json["rank"] = std::move(rank);
  json["compute"] = std::move(compute);
  if (of > 1) json["compute_longest"] = std::move(most);
  json["in_call"] = std::move(in_call);
  json["events"] = std::move(events);
  json["waiting"] = std::move(waiting);  // at markers, for slower ranks
  json["tool"] = std::move(tool);
  json["places_left_out"] = load.places_left_out;
  json["places"] = Json::array();
  for (const PlaceLoad& place : load.places) {
    if (json["places"].size() == kMostPlaces) break;
    const PlaceShare& compute = place.compute;
    if (compute.most_ns <= 0) continue;
    const auto call = trace.calls.find(place.call);
    json["places"].push_back(
        {{"call", call == trace.calls.end() ? std::to_string(place.call) : call->second.name},
         {"site", sites.index(place.path)},
         {"ranks", place.ranks},
         {"sum", std::llround(compute.sum_ns)},
         {"mean", std::llround(compute.mean_ns)},
         {"least", std::llround(compute.least_ns)},
         {"most", std::llround(compute.most_ns)},
         {"slowest", compute.most_ns > compute.least_ns ? compute.slowest.to_string() : ""}});
  }
  return json;
}

Json differences(const Trace& trace, Sites& sites) {
  const std::vector<Cluster>& clusters = trace.online.clusters;
  const ValueText text(trace, false);
  std::vector<Behaviour> all(clusters.size());
  std::map<std::uint64_t, std::size_t> users;
  for (std::size_t i = 0; i < clusters.size(); ++i) {
    collect(trace, text, trace.nodes, trace.ranks, clusters[i].ranks, all[i]);
    for (const auto& [symbol, node] : all[i].events) ++users[symbol];
  }
  Json array = Json::array();
  for (std::size_t i = 0; i < clusters.size(); ++i) {
    Json one = {{"only", Json::array()}, {"partners", Json::array()}, {"more", 0}};
    std::size_t more = 0;
    const auto add = [&](const char* list, const Node& node, Json extra) {
      if (one["only"].size() + one["partners"].size() >= kMostDifferences) {
        ++more;
        return;
      }
      const auto call = trace.calls.find(node.call);
      extra["call"] = call == trace.calls.end() ? std::to_string(node.call) : call->second.name;
      extra["site"] = sites.index(node.path);
      one[list].push_back(std::move(extra));
    };
    for (const auto& [symbol, node] : all[i].events)
      if (users[symbol] < clusters.size()) add("only", *node, {{"clusters", users[symbol]}});
    for (const auto& [key, value] : all[i].partners) {
      const bool differs = std::any_of(
          all.begin(), all.end(), [&, &mine = key, &is = value](const Behaviour& other) {
            const auto theirs = other.partners.find(mine);
            return theirs != other.partners.end() && theirs->second != is;
          });
      if (differs)
        add("partners", *all[i].events.at(key.first), {{"field", key.second}, {"value", value}});
    }
    one["more"] = more;
    array.push_back(std::move(one));
  }
  return array;
}

}  // namespace chameleon::tools::report
