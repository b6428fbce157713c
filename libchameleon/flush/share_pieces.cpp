// SPDX-License-Identifier: BSD-3-Clause
#include "flush/share_pieces.h"

#include <algorithm>
#include <set>
#include <utility>

#include "compress/pieces.h"
#include "format/file.h"
#include "model/view.h"

namespace chameleon::flush {
namespace {

bool is_in_file(const Share& share) { return share.stored && share.stored->more(); }

/// How many nodes of what is in memory are the next piece.
std::size_t next_count(const Share& share) {
  const std::vector<Node>& nodes = share.trace.nodes;
  return share.most_bytes == 0 ? nodes.size() : count_within(nodes, share.most_bytes);
}

/// Pieces before this one have those that they refer to.
void keep_arrays_in_use(Trace& piece) {
  if (piece.arrays.empty()) return;
  const std::set<std::uint64_t> needed = arrays_of(piece.nodes, piece);
  std::erase_if(piece.arrays, [&](const auto& array) { return !needed.contains(array.first); });
}

/// How many events a stream has in nodes that are visited so many times.
std::uint64_t events_of(const std::vector<Node>& nodes, std::uint32_t stream, const RankList& all,
                        std::uint64_t times) {
  std::uint64_t events = 0;
  for (const Node& node : nodes) {
    const RankList& ranks = node.ranks.empty() ? all : node.ranks;
    if (!ranks.contains(stream)) continue;
    if (!node.is_loop()) events += times;
    node.iterations.for_each_group(
        ranks, [&](const RankList& of, EndPointForm, const ValueSequence& counts) {
          if (node.is_loop() && of.contains(stream))
            events += events_of(node.body, stream, ranks, sum_iterations(counts).total);
        });
  }
  return events;
}

/// The events of a piece that is not the last of the share go with it.
void move_events(Share& share, Share& piece) {
  piece.trace.ranks.for_each([&](std::uint32_t stream) {
    const std::uint64_t events = events_of(piece.trace.nodes, stream, piece.trace.ranks, 1);
    const auto move = [&](std::uint64_t& from, std::uint64_t& to) {
      to += std::min(from, events);
      from -= std::min(from, events);
    };
    if (piece.trace.thread_of(stream) == 0) move(share.events, piece.events);
    if (const auto all = share.trace.facts.find(stream); all != share.trace.facts.end())
      move(all->second.events, piece.trace.facts[stream].events);
  });
}

Share take(Share& share) {
  Share piece;
  piece.keeps = share.keeps;
  piece.paused = share.paused;
  piece.hashes = share.hashes;
  piece.rules = share.rules;
  piece.sites = share.sites;
  if (!share.keeps) {
    piece.events = share.events;
  } else if (is_in_file(share)) {
    piece.trace = share.stored->next();
    move_events(share, piece);
  } else if (const std::size_t count = next_count(share); count < share.trace.nodes.size()) {
    piece.trace = take_first(share.trace, count);
    move_events(share, piece);
  } else {
    piece.events = std::exchange(share.events, 0);
    Trace rest;
    rest.world_size = share.trace.world_size;
    rest.threads = share.trace.threads;
    rest.ranks = share.trace.ranks;
    rest.calls = share.trace.calls;
    piece.trace = std::exchange(share.trace, std::move(rest));
    if (share.most_bytes != 0) keep_arrays_in_use(piece.trace);
  }
  return piece;
}

}  // namespace

bool has_more(const Share& share) {
  return share.keeps && (is_in_file(share) || !share.trace.nodes.empty());
}

Share take_piece(Share& share) {
  try {
    return take(share);
  } catch (...) {
    share.stored.reset();
    share.trace.nodes.clear();
    throw;
  }
}

Bytes ShareDeltas::next() {
  while (!lost_ && !shares_.empty()) {
    Share& share = *shares_.front();
    if (is_in_file(share)) {
      Bytes piece = share.stored->next_delta();
      lost_ = piece.empty();
      return piece;
    }
    if (shares_.size() == 1) break;
    shares_ = shares_.subspan(1);
    if (!share.trace.nodes.empty()) return delta_commit(std::exchange(share.trace, Trace()));
  }
  return {};
}

}  // namespace chameleon::flush
