// SPDX-License-Identifier: BSD-3-Clause
/// `chameleon matrix TRACE`: who sends how much to whom, as a picture in letters, a
/// list of the heaviest pairs, CSV or JSON.

#include <algorithm>
#include <cmath>
#include <iostream>
#include <memory>

#include "analysis/matrix.h"
#include "tools/common.h"

namespace chameleon {
namespace {

struct Options {
  std::string trace, ranks, by = "bytes";
  bool csv = false, json = false;
};

constexpr std::size_t kMostColumns = 64;
constexpr std::size_t kMostPairs = 10;

std::uint64_t amount(const MatrixCell& cell, const std::string& by) {
  if (by == "messages") return cell.messages;
  return by == "time" ? cell.wait_ns : cell.bytes;
}

std::string amount_text(std::uint64_t amount, const std::string& by) {
  if (by == "messages") return count_text(amount);
  return by == "time" ? duration_text(static_cast<double>(amount))
                      : bytes_text(static_cast<double>(amount));
}

// Shades from nothing to the largest, logarithmic; several ranks share a letter if there are many.
void print_picture(const CommunicationMatrix& matrix, const std::vector<std::uint32_t>& ranks,
                   const std::string& by) {
  constexpr std::string_view kShades = " .:-=+*#%@";
  const std::size_t bins = std::min(ranks.size(), kMostColumns);
  std::vector<double> sums(bins * bins);
  const auto bin = [&](std::uint32_t rank) {
    const auto place = std::lower_bound(ranks.begin(), ranks.end(), rank);
    if (place == ranks.end() || *place != rank) return bins;
    return static_cast<std::size_t>(place - ranks.begin()) * bins / ranks.size();
  };
  double largest = 0;
  for (const auto& [pair, cell] : matrix.cells) {
    const std::size_t from = bin(pair.first), to = bin(pair.second);
    if (from == bins || to == bins) continue;
    double& sum = sums[from * bins + to];
    sum += static_cast<double>(amount(cell, by));
    largest = std::max(largest, sum);
  }
  std::cout << "from (down) to (across)";
  if (bins < ranks.size()) std::cout << ", about " << (ranks.size() + bins - 1) / bins
                                     << " ranks a letter";
  std::cout << "\n";
  for (std::size_t from = 0; from < bins; ++from) {
    std::string line;
    for (std::size_t to = 0; to < bins; ++to) {
      const double share =
          largest <= 0 ? 0 : std::log1p(sums[from * bins + to]) / std::log1p(largest);
      const auto shade = static_cast<std::size_t>(std::ceil(share * (kShades.size() - 1)));
      line += kShades[std::min(shade, kShades.size() - 1)];
    }
    std::cout << "  |" << line << "|\n";
  }
}

void print_text(const CommunicationMatrix& matrix, const RankList& ranks, const std::string& by) {
  print_picture(matrix, ranks.ranks(), by);
  MatrixCell all;
  using Pair = std::pair<std::pair<std::uint32_t, std::uint32_t>, MatrixCell>;
  std::vector<Pair> pairs(matrix.cells.begin(), matrix.cells.end());
  for (const Pair& pair : pairs) {
    all.messages += pair.second.messages;
    all.bytes += pair.second.bytes;
  }
  std::stable_sort(pairs.begin(), pairs.end(), [&](const Pair& a, const Pair& b) {
    return amount(a.second, by) > amount(b.second, by);
  });
  std::cout << count_text(all.messages) << " messages of "
            << bytes_text(static_cast<double>(all.bytes)) << " between "
            << count_text(pairs.size()) << " pairs of ranks\n";
  for (std::size_t i = 0; i < pairs.size() && i < kMostPairs; ++i)
    std::cout << "  " << pairs[i].first.first << " -> " << pairs[i].first.second << "  "
              << amount_text(amount(pairs[i].second, by), by) << "\n";
  CollectiveBytes sums;
  for (const auto& [rank, one] : matrix.collectives) {
    sums.calls += one.calls;
    sums.sent += one.sent;
  }
  if (sums.calls > 0)
    std::cout << "beside them, " << count_text(sums.calls) << " calls of collectives, into which "
              << bytes_text(static_cast<double>(sums.sent)) << " went\n";
  for (const auto& [call, count] : matrix.unmodelled)
    std::cout << "not in here: what " << call << " x" << count << " moves\n";
}

void print_csv(const CommunicationMatrix& matrix) {
  std::cout << "source,dest,messages,bytes,wait_seconds\n";
  for (const auto& [pair, cell] : matrix.cells)
    std::cout << pair.first << "," << pair.second << "," << cell.messages << "," << cell.bytes
              << "," << static_cast<double>(cell.wait_ns) * 1e-9 << "\n";
}

void print_document(const Trace& trace, const CommunicationMatrix& matrix) {
  using Json = nlohmann::ordered_json;
  Json document = json_document("matrix");
  document["ranks"] = trace.world_size;
  document["pairs"] = Json::array();
  for (const auto& [pair, cell] : matrix.cells)
    document["pairs"].push_back({{"source", pair.first},
                                 {"dest", pair.second},
                                 {"messages", cell.messages},
                                 {"bytes", cell.bytes},
                                 {"wait_seconds", static_cast<double>(cell.wait_ns) * 1e-9}});
  document["collectives"] = Json::array();
  for (const auto& [rank, sums] : matrix.collectives)
    document["collectives"].push_back({{"rank", rank},
                                       {"calls", sums.calls},
                                       {"sent_bytes", sums.sent},
                                       {"received_bytes", sums.received}});
  document["not_included"] = Json::object();
  for (const auto& [call, count] : matrix.unmodelled) document["not_included"][call] = count;
  print_json(document);
}

int run_matrix(const Options& options) {
  int status = kExitOk;
  const std::optional<Trace> trace = load_trace("matrix", options.trace, status);
  if (!trace) return status;
  RankList ranks = trace->ranks;
  if (!options.ranks.empty()) {
    const Result<RankList> wanted = RankList::parse(options.ranks);
    if (!wanted) return fail("matrix", wanted.error());
    ranks = ranks.intersection(*wanted);
    if (ranks.empty()) return fail("matrix", "no such ranks in the trace", kExitUsage);
  }
  const Result<CommunicationMatrix> matrix = communication_matrix(*trace, ranks);
  if (!matrix) return fail("matrix", matrix.error());
  if (options.csv)
    print_csv(*matrix);
  else if (options.json)
    print_document(*trace, *matrix);
  else
    print_text(*matrix, ranks, options.by);
  return kExitOk;
}

}  // namespace

void add_matrix_command(CLI::App& app, int& status) {
  auto options = std::make_shared<Options>();
  CLI::App* verb = app.add_subcommand("matrix", "Show who sends how much to whom");
  verb->add_option("trace", options->trace, "Trace file")->required();
  verb->add_option("--ranks", options->ranks, "Only messages of these ranks, as 0-15 or 0-56:8");
  verb->add_option("--by", options->by, "Shown: bytes (default), messages, or time waited")
      ->check(CLI::IsMember({"bytes", "messages", "time"}));
  CLI::Option* csv = verb->add_flag("--csv", options->csv, "A line a pair of ranks");
  verb->add_flag("--json", options->json, "One JSON object")->excludes(csv);
  verb->callback([options, &status] { status = run_matrix(*options); });
}

}  // namespace chameleon
