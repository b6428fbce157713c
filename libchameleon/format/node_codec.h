// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Nodes as bytes, for codec.cpp and for traffic between ranks: whole, or, to a
/// rank that has the same structure, their values and times alone.

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "model/trace.h"

namespace chameleon::format {

// Arrays and paths are known by 64-bit hashes in memory. In the file, events
// name them by their place in the tables, so that small numbers are written.
template <class Table>
std::map<std::uint64_t, std::uint64_t> places(const Table& table) {
  std::map<std::uint64_t, std::uint64_t> result;
  for (const auto& [id, entry] : table) result.emplace(id, result.size());
  return result;
}

/// No part of a trace can be about more ranks: keeps a few bytes from claiming millions.
inline std::uint64_t rank_count(const Trace& trace) {
  return std::max<std::uint64_t>(trace.ranks.size(),
                                 std::uint64_t{trace.world_size} * trace.threads);
}

/// The symbols of all events, ascending: the order of the table of `write_nodes`.
std::vector<std::uint64_t> node_symbols(const std::vector<Node>& nodes);

/// Fields of calls.
using CallFields = std::set<std::pair<std::uint16_t, std::size_t>>;

/// Writes fields of arrays as places in the trace's table. Returns the other fields: at least one
/// of their arrays is not in the table, so their hashes are written.
CallFields write_nodes(ByteWriter& out, const Trace& trace);

/// Tables of a payload, in the order of the places by which nodes name their entries.
struct TableOrder {
  std::vector<std::uint64_t> paths;  ///< signatures
  std::vector<std::int64_t> arrays;  ///< content hashes
  CallFields by_place;               ///< fields of arrays that are written so
};

/// Reads what `write_nodes` wrote into `trace.nodes`. Fails the reader on anything else.
void read_nodes(ByteReader& in, const TableOrder& order, Trace& trace);

/// Whether a parameter of a node is written. A loop has one parameter, its iterations.
using WrittenParam = std::function<bool(const Node&, std::size_t)>;
/// Parameters, iteration counts, rank sets and times of the nodes, in order. `arrays` are the
/// content hashes of those that the receiver has, in an order that it knows.
void write_values(ByteWriter& out, const Trace& trace, const std::vector<std::int64_t>& arrays,
                  const WrittenParam& written);
/// Puts what `write_values` wrote of a trace of the same structure into `trace`,
/// a copy of the receiver's own, which keeps what was not written.
bool read_values(ByteReader& in, Trace& trace, const std::vector<std::int64_t>& arrays,
                 const WrittenParam& written);

}  // namespace chameleon::format
