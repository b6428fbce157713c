// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <map>

#include "tools/report/report.h"

namespace chameleon::tools::report {
namespace {

/// Pairs kept as they are; beyond, ranks are put together until they are no more.
constexpr std::size_t kMostCells = 50000;

using Cells = std::map<std::pair<std::uint32_t, std::uint32_t>, MatrixCell>;

template <class Place>
Cells joined(const CommunicationMatrix& matrix, const Place& place) {
  Cells cells;
  for (const auto& [pair, cell] : matrix.cells) {
    const std::int64_t from = place(pair.first), to = place(pair.second);
    if (from < 0 || to < 0) continue;
    MatrixCell& sum = cells[{static_cast<std::uint32_t>(from), static_cast<std::uint32_t>(to)}];
    sum.messages += cell.messages;
    sum.bytes += cell.bytes;
    sum.wait_ns += cell.wait_ns;
  }
  return cells;
}

Json columns(const Cells& cells) {
  Json source = Json::array(), dest = source, messages = source, bytes = source, wait = source;
  for (const auto& [pair, cell] : cells) {
    source.push_back(pair.first);
    dest.push_back(pair.second);
    messages.push_back(cell.messages);
    bytes.push_back(cell.bytes);
    wait.push_back(cell.wait_ns);
  }
  return {{"source", std::move(source)},
          {"dest", std::move(dest)},
          {"messages", std::move(messages)},
          {"bytes", std::move(bytes)},
          {"wait", std::move(wait)}};
}

}  // namespace

Json matrix(const Trace& trace, const CommunicationMatrix& matrix) {
  std::uint32_t together = 1;
  Cells cells = matrix.cells;
  while (cells.size() > kMostCells) {
    together *= 2;
    cells = joined(matrix, [&](std::uint32_t rank) { return rank / together; });
  }
  Json json = {{"ranks", trace.world_size}, {"ranks_per_cell", together}};
  json["cells"] = columns(cells);

  const std::vector<Cluster>& clusters = trace.online.clusters;
  if (clusters.size() > 1) {
    std::vector<std::int32_t> of(trace.world_size, -1);
    for (std::size_t i = 0; i < clusters.size(); ++i)
      clusters[i].ranks.for_each([&](std::uint32_t rank) {
        if (rank < of.size()) of[rank] = static_cast<std::int32_t>(i);
      });
    json["clusters"] = columns(joined(matrix, [&](std::uint32_t rank) -> std::int64_t {
      return rank < of.size() ? of[rank] : -1;
    }));
  }
  MatrixCell sum;
  for (const auto& [pair, cell] : matrix.cells) {
    sum.messages += cell.messages;
    sum.bytes += cell.bytes;
    sum.wait_ns += cell.wait_ns;
  }
  CollectiveBytes collective;
  for (const auto& [rank, one] : matrix.collectives) {
    collective.calls += one.calls;
    collective.sent += one.sent;
    collective.received += one.received;
  }
  json["pairs"] = matrix.cells.size();
  json["messages"] = sum.messages;
  json["bytes"] = sum.bytes;
  json["wait_seconds"] = static_cast<double>(sum.wait_ns) * 1e-9;
  json["collectives"] = {{"calls", collective.calls},
                         {"sent_bytes", collective.sent},
                         {"received_bytes", collective.received}};
  json["not_included"] = Json::object();
  for (const auto& [call, count] : matrix.unmodelled) json["not_included"][call] = count;
  return json;
}

}  // namespace chameleon::tools::report
