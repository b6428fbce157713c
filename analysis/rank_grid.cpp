// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/rank_grid.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <span>

#include "analysis/communicators.h"
#include "mpi/call_table.h"

namespace chameleon::analysis {
namespace {

/// Instances of one call that are looked at.
constexpr std::uint64_t kMostInstances = 64;

/// Dimensions, those of one left out, if they are of all ranks and can be drawn.
std::optional<std::vector<std::uint32_t>> drawn(std::span<const std::int64_t> listed,
                                                std::uint64_t ranks) {
  std::vector<std::uint32_t> dims;
  std::uint64_t product = 1;
  for (const std::int64_t one : listed) {
    // Beyond the world's size, or of a call that failed.
    if (one < 1 || static_cast<std::uint64_t>(one) > ranks) return std::nullopt;
    product *= static_cast<std::uint64_t>(one);
    if (product > ranks) return std::nullopt;
    if (one > 1) dims.push_back(static_cast<std::uint32_t>(one));
  }
  if (product != ranks || dims.empty() || dims.size() > 3) return std::nullopt;
  return dims;
}

bool cartesian(const Trace& trace, std::uint64_t ranks, std::vector<std::uint32_t>& dims) {
  const std::function<bool(const std::vector<Node>&)> walk = [&](const std::vector<Node>& nodes) {
    for (const Node& node : nodes) {
      if (node.is_loop()) {
        if (walk(node.body)) return true;
        continue;
      }
      const auto call = trace.calls.find(node.call);
      if (call == trace.calls.end()) continue;
      const int field = field_index(call->second, "dims");
      if (field < 0 || static_cast<std::size_t>(field) >= node.params.size()) continue;
      const CallInfo* known = find_call(call->second.name);
      if (known == nullptr || !has(*known, Attribute::kCreates)) continue;
      EndPointForm form{};
      ValueSequence own;
      const ValueSequence* values =
          node.params[static_cast<std::size_t>(field)].find(trace.ranks.first(), form, own);
      if (values == nullptr) continue;
      ValueSequence::Cursor cursor(*values);
      for (std::uint64_t i = 0; i < std::min<std::uint64_t>(values->size(), kMostInstances); ++i)
        if (auto found = drawn(array_of(trace, cursor.next()), ranks)) {
          dims = std::move(*found);
          return true;
        }
    }
    return false;
  };
  return walk(trace.nodes);
}

// Distances (the shorter way around) that many pairs of partners have and that divide the world.
std::vector<std::uint32_t> steps(const CommunicationMatrix& matrix, std::uint32_t ranks) {
  std::map<std::uint32_t, std::uint64_t> pairs;
  for (const auto& [pair, cell] : matrix.cells) {
    if (cell.messages == 0) continue;
    const std::uint32_t apart =
        pair.first > pair.second ? pair.first - pair.second : pair.second - pair.first;
    ++pairs[std::min(apart, ranks - apart)];
  }
  std::uint64_t most = 0;
  for (const auto& [distance, count] : pairs) most = std::max(most, count);
  std::vector<std::uint32_t> kept;
  for (const auto& [distance, count] : pairs)
    if (distance > 1 && ranks % distance == 0 && count * 5 >= most * 3) kept.push_back(distance);
  return kept;
}

}  // namespace

RankGrid rank_grid(const Trace& trace, const CommunicationMatrix* matrix) {
  RankGrid grid;
  const std::uint32_t ranks = std::max<std::uint32_t>(trace.world_size, 1);
  if (cartesian(trace, ranks, grid.dims)) {
    grid.source = RankGrid::Source::kCartesian;
    return grid;
  }
  grid.dims = {ranks};
  if (matrix == nullptr) return grid;
  const std::vector<std::uint32_t> found = steps(*matrix, ranks);
  // More would be a tree or a butterfly, which no grid shows.
  if (found.empty() || found.size() > 2) return grid;
  const std::uint32_t width = found[0];
  if (found.size() == 2 && found[1] % width == 0)
    grid.dims = {ranks / found[1], found[1] / width, width};
  else
    grid.dims = {ranks / width, width};
  grid.source = RankGrid::Source::kDistances;
  return grid;
}

}  // namespace chameleon::analysis
