// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/critical_path.h"

#include <algorithm>

#include "base/hash.h"
#include "base/time_between.h"

namespace chameleon::analysis {
namespace {

/// Ends of paths that are kept in all, and of a stream.
constexpr std::size_t kMostEnds = std::size_t{1} << 21, kMostEndsOfOne = 4096, kFewestOfOne = 32;
constexpr std::size_t kFirstCompact = std::size_t{1} << 16;

}  // namespace

void PathShare::add(const PathShare& other) {
  compute_ns += other.compute_ns;
  call_ns += other.call_ns;
  marker_ns += other.marker_ns;
  visits += other.visits;
}

PathShare PathShare::times(std::uint64_t number) const {
  return {compute_ns * number, call_ns * number, marker_ns * number, visits * number};
}

CriticalPathBuilder::CriticalPathBuilder(std::size_t streams)
    : kept_(
          std::clamp(kMostEnds / std::max<std::size_t>(streams, 1), kFewestOfOne, kMostEndsOfOne)),
      streams_(streams),
      compact_at_(kFirstCompact) {}

std::uint32_t CriticalPathBuilder::place_of(std::uint16_t call, std::uint64_t path) {
  const auto [found, is_new] =
      place_.try_emplace(combine(path, call), static_cast<std::uint32_t>(all_.size()));
  if (is_new) all_.push_back({{0, call, path}, {}});
  return found->second;
}

std::uint32_t CriticalPathBuilder::fresh(std::uint32_t parent, Key key, const PathShare& own,
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
  piece.key = key;
  piece.own = own.times(times_);
  piece.end_ns = end_ns;
  piece.jumps = 0;
  piece.gate = false;
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
  while (piece.parent != kNone && pieces_[piece.parent].references == 1 &&
         !pieces_[piece.parent].gate) {
    const std::uint32_t gone = piece.parent;
    Piece& parent = pieces_[gone];
    if (!parent.before) parent.before = std::make_unique<Shares>();
    (*parent.before)[parent.key].add(parent.own);
    if (piece.before) {
      if (piece.before->size() > parent.before->size()) piece.before.swap(parent.before);
      for (const auto& [key, share] : *piece.before) (*parent.before)[key].add(share);
    }
    piece.before = std::move(parent.before);
    piece.jumps += parent.jumps;
    piece.parent = parent.parent;
    free_.push_back(gone);
  }
}

/// Most pieces are soon on no path any more: those that are left are put together now and then.
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
std::uint32_t CriticalPathBuilder::from_cause(const Cause& cause, Key key, const PathShare& own,
                                              std::uint64_t end_ns) {
  const std::uint64_t late_event = numbers_.kept(cause.stream, cause.event);
  const End* const before = late_event > 1 ? end_of(cause.stream, late_event - 1) : nullptr;
  if (before == nullptr && late_event > 1) {
    lost_ += times_;
    return kNone;
  }
  const std::uint32_t parent = before == nullptr ? kNone : before->piece;
  const std::uint64_t since = parent == kNone ? 0 : pieces_[parent].end_ns;
  const std::uint64_t gap = cause.begin_ns - std::min(cause.begin_ns, since);
  PathShare late;
  late.marker_ns = std::min(gap, cause.waited_ns);
  late.compute_ns = gap - late.marker_ns;
  const std::uint32_t came =
      fresh(parent, key_of(place_of(cause.call, cause.path), cause.stream), late, cause.begin_ns);
  const std::uint32_t made = fresh(came, key, own, end_ns);
  pieces_[made].jumps = times_;
  return made;
}

void CriticalPathBuilder::keep(Stream& stream, std::uint64_t event, std::uint32_t piece) {
  if (stream.ends.empty()) stream.ends.resize(kept_);
  ++pieces_[piece].references;
  End& end = stream.ends[event % kept_];
  const std::uint32_t gone = end.piece;
  end = {event, piece};
  stream.last = piece;
  if (gone != kNone) release(gone);
}

void CriticalPathBuilder::add(const TimedEvent& event) {
  if (streams_.size() <= event.stream()) streams_.resize(event.stream() + std::size_t{1});
  const std::uint64_t since = streams_[event.stream()].end_ns;
  const std::uint64_t gap = event.begin_ns - std::min(event.begin_ns, since);
  PathShare own;
  own.visits = 1;
  own.marker_ns = std::min(gap, time_between(event.wait_begin_ns, event.wait_end_ns));
  own.compute_ns = gap - own.marker_ns;
  own.call_ns = time_between(event.begin_ns, event.end_ns);
  const std::uint32_t place = place_of(event.at->event().node->call, event.at->event().path);
  all_[place].share.add(own.times(times_));
  const Key key = key_of(place, event.stream());
  std::uint32_t made = kNone;
  const Cause& cause = event.cause;
  if (cause.kind != Cause::Kind::kNone && cause.stream != event.stream() && cause.is_later) {
    PathShare rest;
    rest.visits = 1;
    rest.call_ns = event.end_ns - std::min(event.end_ns, cause.begin_ns);
    made = from_cause(cause, key, rest, event.end_ns);
  }
  Stream& stream = streams_[event.stream()];
  if (made == kNone) made = fresh(stream.last, key, own, event.end_ns);
  stream.end_ns = event.end_ns;
  stream.end_rest = event.end_rest;
  stream.event = numbers_.next(event.stream(), event.at->number());
  keep(stream, stream.event, made);
}

/// All paths go through a gate here, and through another where the events are over.
void CriticalPathBuilder::take(std::uint64_t times) {
  times_ = 1;
  numbers_.take(times);
  for (std::uint32_t i = 0; i < streams_.size(); ++i) {
    Stream& stream = streams_[i];
    if (stream.last == kNone) continue;
    const std::uint32_t gate = fresh(stream.last, key_of(0, i), {}, stream.end_ns);
    pieces_[gate].gate = true;
    keep(stream, stream.event, gate);
  }
  times_ = times;
}

CriticalPath CriticalPathBuilder::finish() {
  CriticalPath found;
  found.lost_jumps = lost_;
  const Stream* last = nullptr;
  for (const Stream& stream : streams_)
    if (stream.last != kNone && (last == nullptr || stream.end() > last->end())) last = &stream;
  if (last == nullptr) return found;
  found.last = static_cast<std::uint32_t>(last - streams_.data());
  found.end_ns = last->end_ns;
  std::map<StreamPlace, PathShare> sums;
  const auto put = [&](Key key, const PathShare& share) {
    const CriticalPlace& place = all_[key >> 32];
    sums[{static_cast<std::uint32_t>(key), place.call, place.path}].add(share);
  };
  Key out = kNone;
  bool inside = false;
  for (std::uint32_t at = last->last; at != kNone; at = pieces_[at].parent) {
    if (pieces_[at].gate) {
      if (inside && pieces_[at].key != out) found.goes_astray = true;
      out = pieces_[at].key;
      inside = !inside;
    }
    if (!pieces_[at].gate) put(pieces_[at].key, pieces_[at].own);
    found.jumps += pieces_[at].jumps;
    if (pieces_[at].before)
      for (const auto& [key, share] : *pieces_[at].before) put(key, share);
  }
  for (const auto& [key, share] : sums) found.places.push_back({key, share});
  for (const CriticalPlace& place : all_) found.all[{place.call, place.path}] = place.share;
  return found;
}

namespace {

/// Gone through once; what it is where `goes_astray` is not known.
Result<CriticalPath> critical_path_once(const Trace& trace, Loops loops, bool slack) {
  CriticalPathBuilder builder(trace.whole_ranks().size());
  std::optional<SlackBuilder> slacks;
  if (slack) slacks.emplace();
  RoundWatch watch;
  watch.take = [&](std::uint64_t times, double) {
    builder.take(times);
    if (slacks) slacks->take(times);
  };
  const auto add = [&](const TimedEvent& event) {
    builder.add(event);
    if (slacks) slacks->add(event);
  };
  const Result<TimelineFacts> run =
      run_timeline(trace, trace.whole_ranks(), add, false, Network::kRecorded,
                   loops == Loops::kAtOnce ? &watch : nullptr);
  if (!run) return run.error();
  CriticalPath found = builder.finish();
  if (slacks && !found.goes_astray) found.slack = slacks->finish();
  found.end_ns = run->end_ns;
  found.events = run->events;
  found.at_once = run->at_once;
  return found;
}

}  // namespace

Result<CriticalPath> critical_path(const Trace& trace, Loops loops, bool slack) {
  Result<CriticalPath> found = critical_path_once(trace, loops, slack);
  if (!found || !found->goes_astray) return found;
  return critical_path_once(trace, Loops::kEach, slack);
}

}  // namespace chameleon::analysis
