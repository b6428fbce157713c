// SPDX-License-Identifier: BSD-3-Clause
#include "model/series.h"

#include <algorithm>
#include <utility>

namespace chameleon::inline model {

void join(SeriesSpan& span, const SeriesSpan& next) {
  span.intervals += next.intervals;
  span.end_ns = next.end_ns;
  span.state = next.state;
  span.phase = next.phase;
  span.all.add(next.all);
  if (next.worst.busy.most_ns <= span.worst.busy.most_ns) return;
  span.slowest = next.slowest;
  span.worst = next.worst;
}

void RankExtent::add(const RankExtent& other) {
  if (__builtin_add_overflow(sum_ns, other.sum_ns, &sum_ns)) sum_ns = UINT64_MAX;
  if (std::pair(other.least_ns, other.least_rank) < std::pair(least_ns, least_rank)) {
    least_ns = other.least_ns;
    least_rank = other.least_rank;
  }
  if (other.most_ns > most_ns || (other.most_ns == most_ns && other.most_rank < most_rank)) {
    most_ns = other.most_ns;
    most_rank = other.most_rank;
  }
}

void IntervalTally::add(const IntervalTally& other) {
  compute.add(other.compute);
  communication.add(other.communication);
  busy.add(other.busy);
  waiting.add(other.waiting);
}

void Series::add(const SeriesSpan& span) {
  if (span.first > kMostMarker || span.intervals > kMostMarker - span.first) return;
  if (spans_.empty()) return push(span);
  const std::uint64_t next = spans_.back().first + spans_.back().intervals;
  if (span.first < next) return;
  if (span.first == next) return push(span);
  SeriesSpan moved = span;
  moved.slowest -= span.first - next;
  moved.first = next;
  push(moved);
}

void Series::push(const SeriesSpan& span) {
  width_ = std::max(width_, span.intervals);
  if (!spans_.empty() && spans_.back().intervals + span.intervals <= width_) {
    join(spans_.back(), span);
  } else {
    // Spans are large: fewer moves than one at each doubling.
    if (spans_.size() >= kFew && spans_.size() == spans_.capacity())
      spans_.reserve(std::min(4 * spans_.size(), kMost + 1));
    spans_.push_back(span);
  }
  while (spans_.size() > kMost) {
    width_ *= 2;
    std::size_t kept = 0;
    for (std::size_t i = 1; i < spans_.size(); ++i) {
      if (spans_[kept].intervals + spans_[i].intervals <= width_)
        join(spans_[kept], spans_[i]);
      else
        spans_[++kept] = spans_[i];
    }
    spans_.resize(kept + 1);
  }
}

void Series::append(Series later) {
  if (spans_.empty() && width_ == 1) return void(*this = std::move(later));
  for (const SeriesSpan& span : later.spans_) add(span);
}

}  // namespace chameleon::inline model
