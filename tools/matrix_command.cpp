// SPDX-License-Identifier: BSD-3-Clause
/// `chameleon matrix TRACE`: who sends how much to whom, as a picture in letters, a
/// list of the heaviest pairs, CSV or JSON.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cmath>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "analysis/matrix.h"
#include "tools/common.h"
#include "tools/png.h"

namespace chameleon::tools {
namespace matrix_verb {

struct Options {
  std::string trace, ranks, by = "bytes", png;
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

/// Amounts between the ranks, several of which share a bin if there are more than `most`.
struct Bins {
  std::size_t count = 0;
  std::vector<double> sums;  ///< by rows: from, then to
  double largest = 0;
  /// 0 for nothing, to 1 for the largest, logarithmic.
  double shade(std::size_t from, std::size_t to) const {
    return largest <= 0 ? 0 : std::log1p(sums[from * count + to]) / std::log1p(largest);
  }
};

Bins bins_of(const CommunicationMatrix& matrix, const std::vector<std::uint32_t>& ranks,
             const std::string& by, std::size_t most) {
  Bins bins;
  bins.count = std::min(ranks.size(), most);
  bins.sums.resize(bins.count * bins.count);
  const auto bin = [&](std::uint32_t rank) {
    const auto place = std::lower_bound(ranks.begin(), ranks.end(), rank);
    if (place == ranks.end() || *place != rank) return bins.count;
    return static_cast<std::size_t>(place - ranks.begin()) * bins.count / ranks.size();
  };
  for (const auto& [pair, cell] : matrix.cells) {
    const std::size_t from = bin(pair.first), to = bin(pair.second);
    if (from == bins.count || to == bins.count) continue;
    double& sum = bins.sums[from * bins.count + to];
    sum += static_cast<double>(amount(cell, by));
    bins.largest = std::max(bins.largest, sum);
  }
  return bins;
}

// A square of pixels a cell, white for nothing, then from pale to dark.
Status write_picture(const CommunicationMatrix& matrix, const std::vector<std::uint32_t>& ranks,
                     const std::string& by, const std::string& path) {
  constexpr std::array<Colour, 5> kStops = {
      {{222, 235, 247}, {158, 202, 225}, {66, 146, 198}, {8, 81, 156}, {3, 24, 66}}};
  constexpr std::size_t kMostCells = 2048, kWanted = 640, kShades = 255;
  std::vector<Colour> palette = {{255, 255, 255}};
  for (std::size_t i = 0; i < kShades; ++i) {
    const double at = static_cast<double>(i) / (kShades - 1) * (kStops.size() - 1);
    const std::size_t low = std::min(static_cast<std::size_t>(at), kStops.size() - 2);
    Colour colour{};
    for (std::size_t part = 0; part < colour.size(); ++part)
      colour[part] = static_cast<std::uint8_t>(kStops[low][part] +
                                               (kStops[low + 1][part] - kStops[low][part]) *
                                                   (at - static_cast<double>(low)));
    palette.push_back(colour);
  }
  const Bins bins = bins_of(matrix, ranks, by, kMostCells);
  const std::size_t cell = std::max<std::size_t>(1, kWanted / bins.count);
  const std::size_t side = bins.count * cell;
  std::vector<std::uint8_t> pixels(side * side);
  for (std::size_t row = 0; row < side; ++row)
    for (std::size_t column = 0; column < side; ++column)
      pixels[row * side + column] =
          static_cast<std::uint8_t>(std::ceil(bins.shade(row / cell, column / cell) * kShades));
  return write_png(path, static_cast<std::uint32_t>(side), static_cast<std::uint32_t>(side), pixels,
                   palette);
}

// Shades from nothing to the largest, logarithmic; several ranks share a letter if there are many.
void print_picture(const CommunicationMatrix& matrix, const std::vector<std::uint32_t>& ranks,
                   const std::string& by) {
  constexpr std::string_view kShades = " .:-=+*#%@";
  const Bins cells = bins_of(matrix, ranks, by, kMostColumns);
  const std::size_t bins = cells.count;
  std::cout << "from (down) to (across)";
  if (bins < ranks.size())
    std::cout << ", about " << (ranks.size() + bins - 1) / bins << " ranks a letter";
  std::cout << "\n";
  for (std::size_t from = 0; from < bins; ++from) {
    std::string line;
    for (std::size_t to = 0; to < bins; ++to) {
      const auto shade =
          static_cast<std::size_t>(std::ceil(cells.shade(from, to) * (kShades.size() - 1)));
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
            << bytes_text(static_cast<double>(all.bytes)) << " between " << count_text(pairs.size())
            << " pairs of ranks\n";
  for (std::size_t i = 0; i < pairs.size() && i < kMostPairs; ++i)
    std::cout << "  " << pairs[i].first.first << " -> " << pairs[i].first.second << "  "
              << amount_text(amount(pairs[i].second, by), by) << "\n";
  CollectiveBytes sums;
  for (const auto& [rank, one] : matrix.collectives) {
    sums.calls += one.calls;
    sums.sent += one.sent;
  }
  if (sums.calls > 0)
    std::cout << "collectives: " << count_text(sums.calls) << " calls, which sent "
              << bytes_text(static_cast<double>(sums.sent)) << "\n";
  for (const auto& [call, count] : matrix.unmodelled)
    std::cout << "not included: the data of " << call << " x" << count << "\n";
  if (by == "time") {
    std::size_t waits = 0, own = 0;
    for (const Pair& pair : pairs)
      if (pair.second.wait_ns > 0) {
        ++waits;
        own += pair.second.own_wait ? 1 : 0;
      }
    if (const std::string text = waits_text(waits, own); !text.empty()) std::cout << text << "\n";
  }
  if (const std::string text = at_once_text(matrix.events, matrix.at_once); !text.empty())
    std::cout << text << "\n";
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
  document["events"] = matrix.events;
  document["at_once"] = matrix.at_once;
  document["pairs"] = Json::array();
  for (const auto& [pair, cell] : matrix.cells)
    document["pairs"].push_back({{"source", pair.first},
                                 {"dest", pair.second},
                                 {"messages", cell.messages},
                                 {"bytes", cell.bytes},
                                 {"wait_seconds", static_cast<double>(cell.wait_ns) * 1e-9},
                                 {"own_wait", cell.own_wait}});
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
  const Result<RankList> wanted = wanted_ranks(*trace, options.ranks);
  if (!wanted) return fail("matrix", wanted.error());
  const RankList& ranks = *wanted;
  const Result<CommunicationMatrix> matrix = communication_matrix(*trace, ranks);
  if (!matrix) return fail("matrix", matrix.error());
  if (!options.png.empty())
    if (const Status written = write_picture(*matrix, ranks.ranks(), options.by, options.png);
        !written)
      return fail("matrix", written.error());
  if (options.csv)
    print_csv(*matrix);
  else if (options.json)
    print_document(*trace, *matrix);
  else if (options.png.empty())
    print_text(*matrix, ranks, options.by);
  return kExitOk;
}

}  // namespace matrix_verb

void add_matrix_command(CLI::App& app, int& status) {
  using namespace matrix_verb;
  auto options = std::make_shared<Options>();
  CLI::App* verb = app.add_subcommand("matrix", "Show how much each rank sends to each other rank");
  verb->add_option("trace", options->trace, "Trace file")->required();
  verb->add_option("--ranks", options->ranks, "Only messages of these ranks, as 0-15 or 0-56:8");
  verb->add_option("--by", options->by, "Shown: bytes (default), messages, or time waited")
      ->check(CLI::IsMember({"bytes", "messages", "time"}));
  CLI::Option* csv = verb->add_flag("--csv", options->csv, "A line a pair of ranks");
  verb->add_flag("--json", options->json, "One JSON object")->excludes(csv);
  verb->add_option("--png", options->png, "Write the picture to this file");
  verb->callback([options, &status] { status = run_matrix(*options); });
}

}  // namespace chameleon::tools
