// SPDX-License-Identifier: BSD-3-Clause
/// `chameleon pairs TRACE`: which ranks belong together by what passes between them, and which
/// pairs stand out.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>

#include "analysis/pairs.h"
#include "base/new_file.h"
#include "tools/amounts.h"
#include "tools/common.h"
#include "tools/dendrogram.h"
#include "tools/pair_messages.h"

namespace chameleon::tools {
namespace pairs_verb {

using Json = nlohmann::ordered_json;

struct Options {
  std::string trace, by, linkage = "single", svg, csv;
  std::uint32_t clusters = 0;
  std::optional<std::pair<std::uint32_t, std::uint32_t>> pair;
  std::size_t limit = 10;
  bool json = false;
};

struct Clustered {
  RankPairs found;
  PairMeasure measure = PairMeasure::kBytes;
  std::vector<PairDistance> distances;
  std::vector<Merge> merges;
  std::vector<std::uint32_t> order, labels;
  std::uint32_t clusters = 1;
  std::uint32_t items() const { return static_cast<std::uint32_t>(found.ranks.size()); }
};

std::string amount_text(const RankPair& pair, PairMeasure measure) {
  const double amount = pair.amount(measure);
  if (measure == PairMeasure::kMessages) return count_text(pair.messages) + " messages";
  return measure == PairMeasure::kBytes ? bytes_text(amount) : duration_text(amount * 1e9);
}

std::string names_of(const Clustered& all, const std::vector<std::uint32_t>& items) {
  RankList ranks;
  for (const std::uint32_t item : items) ranks.insert(all.found.ranks[item]);
  return ranks_text(ranks);
}

void print_pair(const RankPair& pair, PairMeasure measure) {
  std::cout << "  " << pair.a << " - " << pair.b << "  " << amount_text(pair, measure);
  if (measure != PairMeasure::kMessages)
    std::cout << ", " << count_text(pair.messages) << " messages";
  if (measure != PairMeasure::kBytes)
    std::cout << ", " << bytes_text(static_cast<double>(pair.bytes));
  if (measure == PairMeasure::kTransfer)
    std::cout << ", " << duration_text(std::abs(pair.residual_ns))
              << (pair.residual_ns < 0 ? " less" : " more") << " than expected";
  if (measure == PairMeasure::kWait && pair.longest.event != 0)
    std::cout << ", longest " << duration_text(static_cast<double>(pair.longest.ns)) << " on rank "
              << pair.longest.rank << " in event " << count_text(pair.longest.event);
  std::cout << "\n";
}

// Ranks in the order of the dendrogram, so that those who belong together are squares on the
// diagonal.
void print_matrix(const Clustered& all) {
  constexpr std::string_view kShades = " .:-=+*#%@";
  constexpr std::size_t kMostColumns = 64;
  const std::size_t bins = std::min<std::size_t>(all.items(), kMostColumns);
  std::vector<std::size_t> bin(all.items());
  for (std::size_t place = 0; place < all.order.size(); ++place)
    bin[all.order[place]] = place * bins / all.order.size();
  std::vector<double> sums(bins * bins);
  double largest = 0;
  for (const PairDistance& pair : all.distances)
    for (const auto& [from, to] : {std::pair(bin[pair.a], bin[pair.b]), {bin[pair.b], bin[pair.a]}})
      largest = std::max(largest, sums[from * bins + to] += 1 / pair.distance);
  std::cout << "\nranks in the order of the dendrogram\n";
  for (std::size_t from = 0; from < bins; ++from) {
    std::string line;
    for (std::size_t to = 0; to < bins; ++to) {
      const double share = largest > 0 ? sums[from * bins + to] / largest : 0;
      line += kShades[static_cast<std::size_t>(std::ceil(std::sqrt(share) * (kShades.size() - 1)))];
    }
    std::cout << "  |" << line << "|\n";
  }
}

void print_text(const Clustered& all, const Options& options) {
  constexpr std::size_t kMostLeaves = 64;
  const NameItems names = [&](const auto& items) { return names_of(all, items); };
  std::cout << "pairs: " << count_text(all.found.pairs.size()) << " of " << count_text(all.items())
            << " ranks, by " << measure_name(all.measure) << "; " << options.linkage
            << " linkage of distances 1 / "
            << (all.measure == PairMeasure::kTransfer || all.measure == PairMeasure::kWait
                    ? "seconds"
                    : measure_name(all.measure))
            << "\n";
  std::cout << "clusters: " << count_text(all.clusters)
            << (options.clusters == 0 ? ", cut where distances grow most (--clusters)" : "")
            << "\n";
  for (std::uint32_t cluster = 0; cluster < all.clusters; ++cluster) {
    if (cluster == options.limit) {
      std::cout << "  " << count_text(all.clusters - cluster) << " more (--limit)\n";
      break;
    }
    std::vector<std::uint32_t> items;
    for (std::uint32_t item = 0; item < all.items(); ++item)
      if (all.labels[item] == cluster) items.push_back(item);
    std::cout << "  " << names(items) << "\n";
  }
  std::vector<PairDistance> nearest = all.distances;
  std::stable_sort(nearest.begin(), nearest.end(),
                   [](const auto& x, const auto& y) { return x.distance < y.distance; });
  const auto pair_at = [&](const PairDistance& one) {
    return *std::find_if(all.found.pairs.begin(), all.found.pairs.end(), [&](const RankPair& pair) {
      return pair.a == all.found.ranks[one.a] && pair.b == all.found.ranks[one.b];
    });
  };
  std::cout << "\nnearest pairs\n";
  for (std::size_t i = 0; i < nearest.size() && i < options.limit; ++i)
    print_pair(pair_at(nearest[i]), all.measure);
  const std::vector<std::size_t> outstanding = outstanding_pairs(all.found, all.measure);
  std::cout << (outstanding.empty() ? "no pair stands out\n" : "\npairs that stand out\n");
  for (std::size_t i = 0; i < outstanding.size() && i < options.limit; ++i)
    print_pair(all.found.pairs[outstanding[i]], all.measure);
  const std::size_t leaves =
      all.items() <= kMostLeaves ? all.items() : std::min<std::size_t>(all.clusters, kMostLeaves);
  std::cout << "\ndendrogram: the distance at which branches join\n"
            << dendrogram_text(all.items(), all.merges, names, leaves);
  print_matrix(all);
  if (all.measure == PairMeasure::kWait) {
    std::size_t waits = 0, own = 0;
    for (const RankPair& pair : all.found.pairs)
      if (pair.wait_ns > 0) {
        ++waits;
        own += pair.own_wait ? 1 : 0;
      }
    if (const std::string text = waits_text(waits, own); !text.empty()) std::cout << text << "\n";
  }
  if (const std::string text = at_once_text(all.found.events, all.found.at_once); !text.empty())
    std::cout << text << "\n";
}

void print_document(const Clustered& all, const Options& options) {
  Json document = json_document("pairs");
  document["by"] = measure_name(all.measure);
  document["linkage"] = options.linkage;
  document["events"] = all.found.events;
  document["at_once"] = all.found.at_once;
  document["clusters"] = Json::array();
  for (std::uint32_t cluster = 0; cluster < all.clusters; ++cluster) {
    RankList ranks;
    for (std::uint32_t item = 0; item < all.items(); ++item)
      if (all.labels[item] == cluster) ranks.insert(all.found.ranks[item]);
    document["clusters"].push_back(ranks.to_string());
  }
  document["order"] = Json::array();
  for (const std::uint32_t item : all.order) document["order"].push_back(all.found.ranks[item]);
  document["merges"] = Json::array();
  for (const Merge& merge : all.merges) {
    Json row = {{"a", merge.a}, {"b", merge.b}, {"size", merge.size}, {"height", nullptr}};
    if (!std::isinf(merge.height)) row["height"] = merge.height;
    document["merges"].push_back(std::move(row));
  }
  const std::vector<std::size_t> outstanding = outstanding_pairs(all.found, all.measure);
  document["pairs"] = Json::array();
  for (std::size_t i = 0; i < all.found.pairs.size(); ++i) {
    const RankPair& pair = all.found.pairs[i];
    Json row = {{"a", pair.a}, {"b", pair.b}, {"messages", pair.messages}, {"bytes", pair.bytes}};
    if (all.measure == PairMeasure::kWait) {
      row["wait_seconds"] = pair.wait_ns * 1e-9;
      row["own_wait"] = pair.own_wait;
      if (pair.longest.event != 0)
        row["longest"] = {{"seconds", static_cast<double>(pair.longest.ns) * 1e-9},
                          {"rank", pair.longest.rank},
                          {"thread", pair.longest.thread},
                          {"event", pair.longest.event}};
    }
    if (all.measure == PairMeasure::kTransfer) {
      row["transfer_seconds"] = pair.transfer_ns * 1e-9;
      row["residual_seconds"] = pair.residual_ns * 1e-9;
    }
    row["stands_out"] = std::find(outstanding.begin(), outstanding.end(), i) != outstanding.end();
    document["pairs"].push_back(std::move(row));
  }
  print_json(document);
}

Status write_csv(const Clustered& all, const std::string& path) {
  std::ostringstream file;
  file.precision(9);
  file << "a,b,messages,bytes," << measure_name(all.measure) << "_amount,distance\n";
  for (const RankPair& pair : all.found.pairs) {
    const double amount = pair.amount(all.measure);
    file << pair.a << "," << pair.b << "," << pair.messages << "," << pair.bytes << "," << amount
         << ",";
    if (amount > 0) file << 1 / amount;
    file << "\n";
  }
  return write_new_file(path, file.str());
}

std::optional<std::pair<std::uint32_t, std::uint32_t>> pair_of(const std::string& text) {
  std::pair<std::uint32_t, std::uint32_t> pair;
  const char *begin = text.data(), *end = begin + text.size();
  const auto first = std::from_chars(begin, end, pair.first);
  if (first.ec != std::errc() || first.ptr == end || *first.ptr != ',') return std::nullopt;
  const auto second = std::from_chars(first.ptr + 1, end, pair.second);
  if (second.ec != std::errc() || second.ptr != end) return std::nullopt;
  return pair;
}

/// What receivers of the pair waited, where the trace has no times of its messages.
int run_accounts(const Trace& trace, const Options& options, const std::string& reason) {
  if (!options.svg.empty() || !options.csv.empty())
    return fail("pairs", options.trace + ": no --svg or --csv of --pair: " + reason, kExitRefused);
  const auto [a, b] = *options.pair;
  if (options.json ? print_accounts_document(trace, a, b) : print_accounts(trace, a, b, reason))
    return kExitOk;
  return fail(
      "pairs",
      options.trace + ": no --pair: " +
          (trace.pair_accounts.empty()
               ? reason + ", or with CHAMELEON_PAIRS=on for sums of what receivers waited"
               : "it has no account of ranks " + std::to_string(a) + " and " + std::to_string(b)),
      kExitRefused);
}

int run_pair(const Trace& trace, const Options& options) {
  constexpr std::size_t kMostMessages = std::size_t{1} << 20;
  for (const std::uint32_t rank : {options.pair->first, options.pair->second})
    if (!trace.whole_ranks().contains(rank))
      return fail("pairs",
                  options.trace + ": --pair: there is no rank " + std::to_string(rank) + " in it",
                  kExitUsage);
  if (const auto reason = unsupported(trace, PairMeasure::kTransfer))
    return run_accounts(trace, options, *reason);
  const Result<RankPairs> pairs = rank_pairs(trace, PairMeasure::kTransfer);
  if (!pairs) return fail("pairs", pairs.error());
  const auto found = pair_messages(trace, {&*options.pair, 1}, kMostMessages);
  if (!found) return fail("pairs", found.error());
  const PairMessages& messages = found->front();
  if (messages.messages == 0)
    return fail("pairs",
                options.trace + ": no message passes between ranks " + std::to_string(messages.a) +
                    " and " + std::to_string(messages.b),
                kExitRefused);
  if (!options.svg.empty())
    if (const Status written = write_message_plots(options.svg, messages); !written)
      return fail("pairs", written.error());
  if (!options.csv.empty())
    if (const Status written = write_messages(options.csv, trace, messages); !written)
      return fail("pairs", written.error());
  if (options.json)
    print_messages_document(trace, messages, *pairs);
  else
    print_messages(trace, messages, *pairs, options.limit);
  return kExitOk;
}

int run_pairs(const Options& options) {
  int status = kExitOk;
  const std::optional<Trace> trace = load_trace("pairs", options.trace, status);
  if (!trace) return status;
  if (options.pair) return run_pair(*trace, options);
  Clustered all;
  if (options.by.empty())
    all.measure =
        unsupported(*trace, PairMeasure::kTransfer) ? PairMeasure::kBytes : PairMeasure::kTransfer;
  else
    measure_of(options.by, all.measure);
  if (const auto reason = unsupported(*trace, all.measure))
    return fail("pairs", options.trace + ": no --by " + options.by + ": " + *reason, kExitRefused);
  Result<RankPairs> found = rank_pairs(*trace, all.measure);
  if (!found) return fail("pairs", found.error());
  all.found = std::move(*found);
  Linkage linkage{};
  linkage_of(options.linkage, linkage);
  if (linkage != Linkage::kSingle && all.items() > kMostFullItems)
    return fail("pairs",
                options.linkage + " linkage takes at most " + count_text(kMostFullItems) + " ranks",
                kExitRefused);
  all.distances = pair_distances(all.found, all.measure);
  all.merges = hierarchy(all.items(), all.distances, linkage);
  all.order = leaf_order(all.items(), all.merges);
  all.clusters = options.clusters == 0 ? natural_clusters(all.items(), all.merges)
                                       : std::min(options.clusters, all.items());
  all.labels = cut_tree(all.items(), all.merges, all.clusters);
  const NameItems names = [&](const auto& items) { return names_of(all, items); };
  if (!options.svg.empty())
    if (const Status written = write_dendrogram(options.svg, all.items(), all.merges, names);
        !written)
      return fail("pairs", written.error());
  if (!options.csv.empty())
    if (const Status written = write_csv(all, options.csv); !written)
      return fail("pairs", written.error());
  if (options.json)
    print_document(all, options);
  else
    print_text(all, options);
  return kExitOk;
}

}  // namespace pairs_verb

void add_pairs_command(CLI::App& app, int& status) {
  using namespace pairs_verb;
  auto options = std::make_shared<Options>();
  CLI::App* verb = app.add_subcommand(
      "pairs", "Cluster ranks by what passes between them, and find pairs that stand out");
  verb->add_option("trace", options->trace, "Trace file")->required();
  CLI::Option* by =
      verb->add_option(
              "--by", options->by,
              "What counts between ranks: transfer (time of messages, the default where the "
              "trace has it), wait, bytes (else the default) or messages")
          ->check(CLI::IsMember({"transfer", "wait", "bytes", "messages"}));
  CLI::Option* linkage =
      verb->add_option("--linkage", options->linkage, "single (default), complete or average")
          ->check(CLI::IsMember({"single", "complete", "average"}));
  CLI::Option* clusters = verb->add_option("--clusters", options->clusters,
                                           "Number of clusters into which the dendrogram is cut")
                              ->check(count_of("clusters"));
  verb->add_option_function<std::string>(
          "--pair",
          [options](const std::string& text) {
            options->pair = pair_of(text);
            if (!options->pair)
              throw CLI::ValidationError(
                  "--pair", "'" + text + "' is not a pair of ranks: it takes A,B, such as 2,11");
          },
          "The messages between two ranks, A,B: times by size, call sites, plots")
      ->excludes(by, linkage, clusters);
  verb->add_option("--limit", options->limit, "Pairs and clusters, or sizes of --pair, shown (10)");
  verb->add_option("--svg", options->svg,
                   "Write the dendrogram to this file, with --pair its three plots");
  verb->add_option("--csv", options->csv, "Write the pairs to this file, with --pair its messages");
  verb->add_flag("--json", options->json, "One JSON object");
  verb->callback([options, &status] { status = run_pairs(*options); });
}

}  // namespace chameleon::tools
