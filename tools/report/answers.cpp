// SPDX-License-Identifier: BSD-3-Clause
/// What the page says of waits, the critical path, efficiencies, patterns and pairs: what the verbs
/// of these names print.

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "analysis/efficiency.h"
#include "analysis/pair_messages.h"
#include "analysis/pairs.h"
#include "analysis/patterns.h"
#include "tools/critical_rows.h"
#include "tools/report/report.h"
#include "tools/wait_rows.h"

namespace chameleon::tools::report {
namespace {

constexpr std::size_t kMostAnswers = 200, kMostPoints = 1024, kMostFamilies = 100, kMostPairs = 100;
constexpr std::size_t kMostItems = 256;  ///< of a dendrogram
constexpr std::size_t kMostPlots = 8;    ///< pairs whose messages are shown

/// Waits of ranks, some that follow each other together where they are many: their means.
Json waits_by_rank(const Trace& trace, const WaitReport& waits) {
  const std::vector<std::uint32_t> ranks = trace.whole_ranks().ranks();
  const std::size_t together =
      std::max<std::size_t>((ranks.size() + kMostPoints - 1) / kMostPoints, 1);
  std::map<std::uint32_t, std::size_t> point;
  for (std::size_t i = 0; i < ranks.size(); ++i) point[ranks[i]] = i / together;
  std::vector<WaitTimes> sums(ranks.empty() ? 0 : (ranks.size() - 1) / together + 1);
  for (const PlaceWait& place : waits.places)
    if (const auto at = point.find(place.stream); at != point.end())
      sums[at->second].add(place.times);
  Json rows = Json::array();
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const std::size_t of = std::min(together, ranks.size() - i * together);
    Json row = {{"rank", ranks[i * together]}};
    row.update(wait_times_json(sums[i]));
    for (auto& [key, value] : row.items())
      if (key != "rank" && of > 1) value = value.get<double>() / static_cast<double>(of);
    rows.push_back(std::move(row));
  }
  return {{"ranks_per_point", together}, {"rows", std::move(rows)}};
}

/// Places of items in an order, the first `most`.
template <class Before>
std::vector<std::size_t> ordered(std::size_t count, std::size_t most, const Before& before) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), before);
  if (order.size() > most) order.resize(most);
  return order;
}

std::string functions_of(const PatternFamily& family, CallSites& sites) {
  std::vector<std::string> names;
  for (const std::uint64_t path : family.paths) {
    const std::string name = sites.function(path);
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

/// Of all its patterns.
RankList ranks_of(const Patterns& found, const PatternFamily& family) {
  RankList ranks;
  for (const std::uint32_t pattern : family.patterns)
    for (const PatternRole& role : found.patterns[pattern].roles) ranks.insert(role.rank);
  return ranks;
}

Json sums_json(const InstanceSums& sums) {
  const double instances = std::max<double>(static_cast<double>(sums.instances), 1);
  return {{"instances", sums.instances},
          {"events", static_cast<double>(sums.events) / instances},
          {"bytes", sums.bytes / instances},
          {"mean", std::llround(sums.ns / instances)},
          {"most", std::llround(sums.most_ns)}};
}

Json pair_json(const RankPair& pair) {
  return {{"a", pair.a},
          {"b", pair.b},
          {"messages", pair.messages},
          {"bytes", pair.bytes},
          {"transfer", std::llround(pair.transfer_ns)},
          {"residual", std::llround(pair.residual_ns)}};
}

}  // namespace

Json waits(const Trace& trace, const WaitReport& found, Sites& sites) {
  Json json = {{"notes", wait_notes(trace, found)}, {"all", wait_times_json(found.all)}};
  json["places"] = Json::array();
  std::vector<WaitRow> rows = wait_rows(trace, found, trace.whole_ranks(), true);
  if (rows.size() > kMostAnswers) rows.resize(kMostAnswers);
  for (const WaitRow& row : rows) {
    Json one = {{"call", row.call}, {"site", sites.index(row.path)}};
    one.update(wait_times_json(row.times));
    one["longest"] = row.longest.to_string();
    json["places"].push_back(std::move(one));
  }
  json["by_rank"] = waits_by_rank(trace, found);
  return json;
}

Json critical(const Trace& trace, const CriticalPath& path, Sites& sites) {
  Json json = {{"seconds", static_cast<double>(path.end_ns) * 1e-9},
               {"last_rank", path.last},
               {"jumps", path.jumps},
               {"lost_jumps", path.lost_jumps}};
  for (const char* by : {"function", "rank"}) {
    std::vector<CriticalRow> rows = critical_rows(trace, path, by, sites.names());
    if (rows.size() > kMostAnswers) rows.resize(kMostAnswers);
    json[by] = critical_json(path, rows);
  }
  return json;
}

Result<Json> efficiency(const Trace& trace) {
  const Result<Efficiency> found = efficiency_of(trace);
  if (!found) return found.error();
  return Json{{"run_seconds", found->run_ns * 1e-9},
              {"ideal_seconds", found->ideal_ns * 1e-9},
              {"parallel", found->parallel()},
              {"load_balance", found->load_balance()},
              {"communication", found->communication()},
              {"serialisation", found->serialisation()},
              {"transfer", found->transfer()}};
}

Result<Json> patterns(const Trace& trace, Sites& sites) {
  PatternOptions options;
  options.context = [&](std::uint64_t path) { return sites.names().context(path); };
  options.site = [&](std::uint64_t path) { return sites.names().site_key(path); };
  const Result<Patterns> found = find_patterns(trace, options);
  if (!found) return found.error();
  Json json = {{"patterns", found->patterns.size()},
               {"families", found->families.size()},
               {"instances", found->instances},
               {"unmatched", found->facts.unmatched}};
  json["rows"] = Json::array();
  const auto& families = found->families;
  for (const std::size_t i :
       ordered(families.size(), kMostFamilies, [&](std::size_t a, std::size_t b) {
         return families[a].sums.ns > families[b].sums.ns;
       })) {
    const PatternFamily& family = families[i];
    Json row = {
        {"family", "F" + std::to_string(i + 1)}, {"function", functions_of(family, sites.names())},
        {"patterns", family.patterns.size()},    {"least_ranks", family.least_processes},
        {"most_ranks", family.most_processes},   {"ranks", ranks_of(*found, family).to_string()}};
    if (!family.paths.empty()) row["site"] = sites.index(family.paths.front());
    row.update(sums_json(family.sums));
    json["rows"].push_back(std::move(row));
  }
  return json;
}

/// The dendrogram, and the matrix in its order: leaves and cells by place in the order, a branch
/// after the leaves. What never joins has no height. Amounts in bytes or seconds.
Json tree(const RankPairs& found, PairMeasure measure,
          const std::vector<statistics::Merge>& merges) {
  const auto items = static_cast<std::uint32_t>(found.ranks.size());
  Json json = {{"order", Json::array()}, {"merges", Json::array()}, {"cells", Json::array()}};
  std::map<std::uint32_t, std::size_t> place;  // by rank
  std::vector<std::size_t> at(items);
  for (const std::uint32_t item : statistics::leaf_order(items, merges)) {
    at[item] = json["order"].size();
    place[found.ranks[item]] = at[item];
    json["order"].push_back(found.ranks[item]);
  }
  const auto node = [&](std::uint32_t one) { return one < items ? at[one] : std::size_t{one}; };
  for (const statistics::Merge& merge : merges)
    json["merges"].push_back(Json::array(
        {node(merge.a), node(merge.b), std::isinf(merge.height) ? Json() : Json(merge.height)}));
  for (const RankPair& pair : found.pairs)
    if (pair.a != pair.b && pair.amount(measure) > 0 && place.contains(pair.a) &&
        place.contains(pair.b))
      json["cells"].push_back(Json::array({place[pair.a], place[pair.b], pair.amount(measure)}));
  return json;
}

/// Messages of the pairs of these places, as columns: whether the lower rank sent it, when, bytes,
/// and ns until it was received.
Result<Json> plots(const Trace& trace, const RankPairs& found,
                   const std::vector<std::size_t>& places) {
  constexpr std::size_t kMostMessages = 2000;
  if (places.empty()) return Json::array();
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
  for (const std::size_t place : places)
    pairs.emplace_back(found.pairs[place].a, found.pairs[place].b);
  const auto messages = pair_messages(trace, pairs, kMostMessages);
  if (!messages) return messages.error();
  Json json = Json::array();
  for (const PairMessages& pair : *messages) {
    Json forth = Json::array(), sent = forth, bytes = forth, transfer = forth;
    for (const PairMessage& one : pair.kept) {
      forth.push_back(one.source == pair.a ? 1 : 0);
      sent.push_back(one.sent_ns);
      bytes.push_back(one.bytes);
      transfer.push_back(one.transfer_ns());
    }
    json.push_back({{"a", pair.a},
                    {"b", pair.b},
                    {"messages", pair.messages},
                    {"every", pair.every},
                    {"forth", std::move(forth)},
                    {"sent", std::move(sent)},
                    {"bytes", std::move(bytes)},
                    {"transfer", std::move(transfer)}});
  }
  return json;
}

Result<Json> pairs(const Trace& trace) {
  const PairMeasure measure =
      unsupported(trace, PairMeasure::kTransfer) ? PairMeasure::kBytes : PairMeasure::kTransfer;
  const Result<RankPairs> found = rank_pairs(trace, measure);
  if (!found) return found.error();
  const auto items = static_cast<std::uint32_t>(found->ranks.size());
  const std::vector<statistics::PairDistance> distances = pair_distances(*found, measure);
  const std::vector<statistics::Merge> merges =
      statistics::hierarchy(items, distances, statistics::Linkage::kSingle);
  const std::uint32_t clusters = statistics::natural_clusters(items, merges);
  const std::vector<std::uint32_t> labels = statistics::cut_tree(items, merges, clusters);
  std::vector<RankList> members(clusters);
  for (std::uint32_t i = 0; i < items; ++i) members[labels[i]].insert(found->ranks[i]);
  Json json = {{"by", measure_name(measure)}, {"clusters", Json::array()}};
  for (std::size_t i = 0; i < members.size() && i < kMostPairs; ++i)
    json["clusters"].push_back(members[i].to_string());
  if (items <= kMostItems) json["tree"] = tree(*found, measure, merges);
  const std::vector<std::size_t> outstanding = outstanding_pairs(*found, measure);
  json["outstanding"] = Json::array();
  for (const std::size_t i : outstanding)
    if (json["outstanding"].size() < kMostPairs)
      json["outstanding"].push_back(pair_json(found->pairs[i]));
  const std::vector<std::size_t> nearest =
      ordered(found->pairs.size(), kMostPairs, [&](std::size_t a, std::size_t b) {
        return found->pairs[a].amount(measure) > found->pairs[b].amount(measure);
      });
  json["nearest"] = Json::array();
  for (const std::size_t i : nearest) json["nearest"].push_back(pair_json(found->pairs[i]));
  if (measure == PairMeasure::kTransfer) {
    std::vector<std::size_t> shown = outstanding;
    for (const std::size_t i : nearest)
      if (std::find(shown.begin(), shown.end(), i) == shown.end()) shown.push_back(i);
    if (shown.size() > kMostPlots) shown.resize(kMostPlots);
    Result<Json> messages = plots(trace, *found, shown);
    if (!messages) return messages.error();
    json["plots"] = std::move(*messages);
  }
  return json;
}

}  // namespace chameleon::tools::report
