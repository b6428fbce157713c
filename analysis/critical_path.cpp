// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/critical_path.h"

#include <algorithm>
#include <tuple>

#include "base/hash.h"

namespace chameleon::analysis {
namespace {

/// Ends of paths that are kept in all, and of a stream.
constexpr std::size_t kMostEnds = std::size_t{1} << 21, kMostEndsOfOne = 4096, kFewestOfOne = 32;
constexpr std::size_t kFirstCompact = std::size_t{1} << 16;

std::uint64_t key_of(const CriticalPlace& place) {
  return combine(combine(place.path, place.call), std::uint64_t{place.stream});
}

CriticalPlace place_at(const TimedEvent& event) {
  CriticalPlace place;
  place.stream = event.stream();
  place.call = event.at->event().node->call;
  place.path = event.at->event().path;
  place.share.visits = 1;
  return place;
}

}  // namespace

void PathShare::add(const PathShare& other) {
  compute_ns += other.compute_ns;
  call_ns += other.call_ns;
  marker_ns += other.marker_ns;
  visits += other.visits;
}

CriticalPathBuilder::CriticalPathBuilder(std::size_t streams)
    : kept_(
          std::clamp(kMostEnds / std::max<std::size_t>(streams, 1), kFewestOfOne, kMostEndsOfOne)),
      streams_(streams),
      compact_at_(kFirstCompact) {}

std::uint32_t CriticalPathBuilder::fresh(std::uint32_t parent, const CriticalPlace& own,
                                         std::uint64_t end_ns) {
  if (free_.empty() && pieces_.size() >= compact_at_) compact();
  std::uint32_t made = static_cast<std::uint32_t>(pieces_.size());
  if (free_.empty()) {
    pieces_.emplace_back();
  } else {
    made = free_.back();
    free_.pop_back();
  }
  Piece& piece = pieces_[made];
  piece.parent = parent;
  piece.references = 0;
  piece.own = own;
  piece.end_ns = end_ns;
  piece.jumps = 0;
  if (parent != kNone) ++pieces_[parent].references;
  return made;
}

void CriticalPathBuilder::release(std::uint32_t piece) {
  while (piece != kNone && --pieces_[piece].references == 0) {
    const std::uint32_t parent = pieces_[piece].parent;
    pieces_[piece].before.reset();
    free_.push_back(piece);
    piece = parent;
  }
}

/// Takes in what comes before, as far as no other path has it.
void CriticalPathBuilder::absorb(std::uint32_t at) {
  Piece& piece = pieces_[at];
  while (piece.parent != kNone && pieces_[piece.parent].references == 1) {
    const std::uint32_t gone = piece.parent;
    Piece& parent = pieces_[gone];
    if (!parent.before) parent.before = std::make_unique<Places>();
    const auto put = [&](const CriticalPlace& place) {
      const auto [found, is_new] = parent.before->try_emplace(key_of(place), place);
      if (!is_new) found->second.share.add(place.share);
    };
    put(parent.own);
    if (piece.before)
      for (const auto& [key, place] : *piece.before) put(place);
    piece.before = std::move(parent.before);
    piece.jumps += parent.jumps;
    piece.parent = parent.parent;
    free_.push_back(gone);
  }
}

void CriticalPathBuilder::compact() {
  std::vector<bool> is_free(pieces_.size(), false);
  for (const std::uint32_t piece : free_) is_free[piece] = true;
  for (std::uint32_t i = 0; i < pieces_.size(); ++i) {
    if (is_free[i]) continue;
    const std::size_t before = free_.size();
    absorb(i);
    for (std::size_t k = before; k < free_.size(); ++k) is_free[free_[k]] = true;
  }
  compact_at_ = std::max(kFirstCompact, 2 * (pieces_.size() - free_.size()));
}

const CriticalPathBuilder::End* CriticalPathBuilder::end_of(std::uint32_t stream,
                                                            std::uint64_t event) const {
  if (stream >= streams_.size() || streams_[stream].ends.empty()) return nullptr;
  const End& end = streams_[stream].ends[event % kept_];
  return end.event == event && end.piece != kNone ? &end : nullptr;
}

/// The path that came with who was waited for, and then this call.
std::uint32_t CriticalPathBuilder::from_cause(const Cause& cause, const CriticalPlace& own,
                                              std::uint64_t end_ns) {
  const End* const before = cause.event > 1 ? end_of(cause.stream, cause.event - 1) : nullptr;
  if (before == nullptr && cause.event > 1) {
    ++lost_;
    return kNone;
  }
  const std::uint32_t parent = before == nullptr ? kNone : before->piece;
  const std::uint64_t since = parent == kNone ? 0 : pieces_[parent].end_ns;
  CriticalPlace late;
  late.stream = cause.stream;
  late.call = cause.call;
  late.path = cause.path;
  const std::uint64_t gap = cause.begin_ns - std::min(cause.begin_ns, since);
  late.share.marker_ns = std::min(gap, cause.waited_ns);
  late.share.compute_ns = gap - late.share.marker_ns;
  late.share.visits = 0;
  const std::uint32_t came = fresh(parent, late, cause.begin_ns);
  const std::uint32_t made = fresh(came, own, end_ns);
  pieces_[made].jumps = 1;
  return made;
}

void CriticalPathBuilder::keep(Stream& stream, std::uint64_t event, std::uint32_t piece) {
  if (stream.ends.empty()) stream.ends.resize(kept_);
  ++pieces_[piece].references;
  End& end = stream.ends[event % kept_];
  const std::uint32_t gone = end.piece;
  end = {event, piece};
  stream.last = piece;
  if (gone == kNone) return;
  release(gone);
  // The one after it is the oldest that is kept, and now has what came before to itself.
  const End& oldest = stream.ends[(event + 1) % kept_];
  if (oldest.piece != kNone) absorb(oldest.piece);
}

void CriticalPathBuilder::count(const CriticalPlace& place) {
  CriticalPlace whole = place;
  whole.stream = 0;
  const auto [found, is_new] = all_.try_emplace(combine(place.path, place.call), whole);
  if (!is_new) found->second.share.add(place.share);
}

void CriticalPathBuilder::add(const TimedEvent& event) {
  if (streams_.size() <= event.stream()) streams_.resize(event.stream() + std::size_t{1});
  CriticalPlace own = place_at(event);
  const std::uint64_t since = streams_[event.stream()].end_ns;
  const std::uint64_t gap = event.begin_ns - std::min(event.begin_ns, since);
  own.share.marker_ns = std::min(gap, event.wait_end_ns - event.wait_begin_ns);
  own.share.compute_ns = gap - own.share.marker_ns;
  own.share.call_ns = event.end_ns - event.begin_ns;
  count(own);
  std::uint32_t made = kNone;
  const Cause& cause = event.cause;
  if (cause.kind != Cause::Kind::kNone && cause.stream != event.stream() &&
      cause.begin_ns > event.begin_ns) {
    CriticalPlace rest = own;
    rest.share = {};
    rest.share.visits = 1;
    rest.share.call_ns = event.end_ns - std::min(event.end_ns, cause.begin_ns);
    made = from_cause(cause, rest, event.end_ns);
  }
  Stream& stream = streams_[event.stream()];
  if (made == kNone) made = fresh(stream.last, own, event.end_ns);
  stream.end_ns = event.end_ns;
  keep(stream, event.at->number(), made);
}

CriticalPath CriticalPathBuilder::finish() {
  CriticalPath found;
  found.lost_jumps = lost_;
  const Stream* last = nullptr;
  for (const Stream& stream : streams_)
    if (stream.last != kNone && (last == nullptr || stream.end_ns > last->end_ns)) last = &stream;
  if (last == nullptr) return found;
  found.last = static_cast<std::uint32_t>(last - streams_.data());
  found.end_ns = last->end_ns;
  std::map<std::tuple<std::uint32_t, std::uint16_t, std::uint64_t>, PathShare> sums;
  const auto put = [&](const CriticalPlace& place) {
    sums[{place.stream, place.call, place.path}].add(place.share);
  };
  for (std::uint32_t at = last->last; at != kNone; at = pieces_[at].parent) {
    put(pieces_[at].own);
    found.jumps += pieces_[at].jumps;
    if (pieces_[at].before)
      for (const auto& [key, place] : *pieces_[at].before) put(place);
  }
  for (const auto& [key, share] : sums)
    found.places.push_back({std::get<0>(key), std::get<1>(key), std::get<2>(key), share});
  for (const auto& [key, place] : all_) found.all[{place.call, place.path}] = place.share;
  return found;
}

Result<CriticalPath> critical_path(const Trace& trace) {
  CriticalPathBuilder builder(trace.whole_ranks().size());
  const Result<TimelineFacts> run = run_timeline(
      trace, trace.whole_ranks(), [&](const TimedEvent& event) { builder.add(event); });
  if (!run) return run.error();
  return builder.finish();
}

}  // namespace chameleon::analysis
