// SPDX-License-Identifier: BSD-3-Clause
#include "model/trace.h"

#include <algorithm>

#include "base/hash.h"
#include "model/view.h"

namespace chameleon::inline model {
FieldKind Trace::field_kind(std::uint16_t call, std::size_t field) const {
  const auto found = calls.find(call);
  if (found == calls.end() || field >= found->second.fields.size()) return FieldKind::kPlain;
  return found->second.fields[field].stored;
}

int Trace::path_field(std::uint16_t call) const {
  const auto found = calls.find(call);
  if (found == calls.end()) return -1;
  const std::vector<Field>& fields = found->second.fields;
  // Before the times, if there are any: close to the end.
  for (std::size_t i = fields.size(); i > 0 && i + 3 > fields.size(); --i)
    if (fields[i - 1].kind == "path") return static_cast<int>(i - 1);
  return -1;
}

std::vector<std::uint32_t> Trace::streams_of(std::uint32_t rank) const {
  std::vector<std::uint32_t> streams;
  if (rank_of(rank) != rank) return streams;
  for (std::uint32_t thread = 0; thread < std::max(threads, 1U); ++thread)
    if (ranks.contains(stream_of(rank, thread))) streams.push_back(stream_of(rank, thread));
  return streams;
}

RankList Trace::ranks_of(const RankList& streams) const {
  if (threads <= 1 || world_size == 0) return streams;
  RankList result;
  for (const RankList::Interval& interval : streams.intervals()) {
    const std::uint32_t first = interval.first % world_size;
    const std::uint32_t count = interval.last - interval.first;  // and one
    if (count >= world_size - 1) return RankList::range(0, world_size - 1);
    const std::uint32_t last = first + count;
    result.merge(RankList::range(first, std::min(last, world_size - 1)));
    if (last >= world_size) result.merge(RankList::range(0, last - world_size));
  }
  return result;
}

std::uint64_t array_id(std::span<const std::int64_t> array) {
  return hash_bytes(array.data(), array.size_bytes());
}

std::uint64_t Trace::intern(std::vector<std::int64_t> array) {
  const std::uint64_t id = array_id(array);
  arrays.try_emplace(id, std::move(array));
  return id;
}

namespace {

/// Of ranks that execute these nodes so many times each.
std::uint64_t events_of(const std::vector<Node>& nodes, const RankList& ranks,
                        std::uint64_t times) {
  std::uint64_t events = 0;
  for (const Node& node : nodes)
    if (!node.is_loop())
      events += times * (node.ranks.empty() ? ranks : ranks.intersection(node.ranks)).size();
  return events;
}

/// Of the loops among them, on all of their ranks.
std::uint64_t events_in_loops(const std::vector<Node>& nodes, const RankList& all) {
  std::uint64_t events = 0;
  for (const Node& node : nodes) {
    if (!node.is_loop()) continue;
    const RankList& ranks = node.ranks.empty() ? all : node.ranks;
    node.iterations.for_each_group(
        ranks, [&](const RankList& of, EndPointForm, const ValueSequence& counts) {
          events += events_of(node.body, of, sum_iterations(counts).total);
        });
    events += events_in_loops(node.body, ranks);
  }
  return events;
}

}  // namespace

std::uint64_t Trace::event_count() const {
  if (facts.empty()) return events_of(nodes, ranks, 1) + events_in_loops(nodes, ranks);
  std::uint64_t events = 0;
  for (const auto& [rank, fact] : facts) events += fact.events;
  return events;
}

bool leaves_out_polls(const Trace& trace) { return trace.recorded_polls == "successful"; }

bool clocks_known(const Trace& trace) {
  if (trace.facts.size() < trace.ranks.size()) return false;
  for (const auto& [rank, fact] : trace.facts)
    if (fact.clock_samples == 0) return false;
  return !trace.facts.empty();
}

}  // namespace chameleon::inline model
