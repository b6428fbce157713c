// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The series over markers: what the intervals between acted-on markers took, summed over ranks,
/// with the least and the most of any rank and whose that was. At most `Series::kMost` spans are
/// kept: as the run grows, neighbours join, and the slowest interval of each stays by itself. Plain
/// values; adding an interval is O(1), amortised.

#include <cstdint>
#include <vector>

#include "base/rooms.h"

namespace chameleon::inline model {

/// One duration of each of some ranks, in ns: the sum, and the extremes with their ranks, of equal
/// ones the lowest.
struct RankExtent {
  std::uint64_t sum_ns = 0;  ///< saturates
  std::uint64_t least_ns = 0, most_ns = 0;
  std::uint32_t least_rank = 0, most_rank = 0;

  static RankExtent of(std::uint32_t rank, std::uint64_t ns) { return {ns, ns, ns, rank, rank}; }
  /// Adds other ranks, or another interval.
  void add(const RankExtent& other);
  bool operator==(const RankExtent&) const = default;
};

/// The length of an interval, over ranks.
struct IntervalTally {
  RankExtent compute;        ///< outside MPI and the tool
  RankExtent communication;  ///< in MPI calls
  RankExtent busy;           ///< both
  RankExtent waiting;        ///< at the marker that ends it, for slower ranks

  void add(const IntervalTally& other);
  bool operator==(const IntervalTally&) const = default;
};

/// One interval, or several that follow each other.
struct SeriesSpan {
  std::uint64_t first = 1;      ///< acted-on marker that ends the first of them, from 1
  std::uint64_t intervals = 1;  ///< how many
  std::uint64_t end_ns = 0;     ///< of the last, on rank 0's clock from the start
  std::uint8_t state = 0;       ///< that the last marker led to, as Phase::state
  std::uint32_t phase = 0;      ///< of the last: equal numbers, equal Call-Paths on all ranks
  IntervalTally all;            ///< sums over the intervals, extremes of single ones
  std::uint64_t slowest = 1;    ///< marker that ends the one in which some rank was busy longest
  IntervalTally worst;          ///< of that one

  bool operator==(const SeriesSpan&) const = default;
};

/// Adds what comes next in time.
void join(SeriesSpan& span, const SeriesSpan& next);

class Series {
 public:
  static constexpr std::size_t kMost = 2048;
  static constexpr std::uint32_t kOtherPhase = 255;  ///< stands for all from it on

  static constexpr std::uint64_t kMostMarker = std::uint64_t{1} << 60;

  /// Appends a span that comes later in time. One that overlaps with those before, or ends beyond
  /// kMostMarker, comes from a damaged file and is left out. Spans follow each other: a gap before
  /// this one is closed.
  void add(const SeriesSpan& span);
  void append(Series later);

  const std::vector<SeriesSpan>& spans() const { return spans_; }
  bool empty() const { return spans_.empty(); }
  void clear() { *this = Series(); }
  bool operator==(const Series&) const = default;

 private:
  static constexpr std::size_t kFew = 64;

  void push(const SeriesSpan& span);

  std::vector<SeriesSpan> spans_;
  std::uint64_t width_ = 1;  ///< intervals that a span may hold
};

}  // namespace chameleon::inline model
