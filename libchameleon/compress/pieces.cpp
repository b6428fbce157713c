// SPDX-License-Identifier: BSD-3-Clause
#include "compress/pieces.h"

#include <iterator>

namespace chameleon::compress {
namespace {

constexpr std::size_t kHeap = 16;  ///< of a block, for the allocator

std::size_t bytes_of(const Param& param) {
  if (const ParamSpread* spread = param.spread())
    return sizeof(ParamSpread) + memory_of(spread->ranks);
  if (param.grouped()) return param.groups().memory_bytes();
  return param.values().memory_bytes() - sizeof(ValueSequence);
}

std::size_t bytes_of(const Node& node) {
  std::size_t bytes = sizeof node + memory_of(node.ranks) + bytes_of(node.iterations) + kHeap;
  for (const Param& param : node.params) bytes += sizeof param + bytes_of(param);
  bytes += node.times.size() * sizeof(TimeEntry) + node.inexact.size() * sizeof(Inexact);
  for (const TimeEntry& times : node.times) bytes += memory_of(times.ranks);
  for (const Inexact& inexact : node.inexact) bytes += memory_of(inexact.ranks);
  return bytes + memory_bytes(node.body);
}

void add_arrays(std::span<const Node> nodes, const Trace& schema, std::set<std::uint64_t>& ids) {
  for (const Node& node : nodes) {
    add_arrays(node.body, schema, ids);
    const auto call = schema.calls.find(node.call);
    if (node.is_loop() || call == schema.calls.end()) continue;
    const std::vector<Field>& fields = call->second.fields;
    for (std::size_t i = 0; i < node.params.size() && i < fields.size(); ++i)
      if (fields[i].stored == FieldKind::kArray)
        node.params[i].for_each_group({}, [&](const RankList&, EndPointForm, const auto& values) {
          static_cast<void>(values.map_each([&](std::int64_t id) {
            ids.insert(static_cast<std::uint64_t>(id));
            return id;
          }));
        });
  }
}

}  // namespace

std::size_t memory_bytes(std::span<const Node> nodes) {
  std::size_t bytes = 0;
  for (const Node& node : nodes) bytes += bytes_of(node);
  return bytes;
}

std::size_t count_within(std::span<const Node> nodes, std::size_t most) {
  std::size_t count = 0;
  for (std::size_t bytes = 0; count < nodes.size(); ++count)
    if ((bytes += bytes_of(nodes[count])) > most && count > 0) break;
  return count;
}

std::set<std::uint64_t> arrays_of(std::span<const Node> nodes, const Trace& schema) {
  std::set<std::uint64_t> ids;
  add_arrays(nodes, schema, ids);
  return ids;
}

Trace take_first(Trace& trace, std::size_t count) {
  Trace piece;
  piece.world_size = trace.world_size;
  piece.threads = trace.threads;
  piece.ranks = trace.ranks;
  piece.calls = trace.calls;
  piece.nodes.reserve(count);
  const auto end = trace.nodes.begin() + static_cast<std::ptrdiff_t>(count);
  std::move(trace.nodes.begin(), end, std::back_inserter(piece.nodes));
  trace.nodes.erase(trace.nodes.begin(), end);
  for (const std::uint64_t id : arrays_of(piece.nodes, piece))
    if (const auto array = trace.arrays.find(id); array != trace.arrays.end())
      piece.arrays.insert(*array);
  return piece;
}

}  // namespace chameleon::compress
