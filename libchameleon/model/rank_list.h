// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// A set of ranks, held as runs of equal intervals at equal distances, so equal sets have equal
/// representations, and the rows of a plane or every second rank of a row are one run of 16 bytes.
/// Set operations are linear in runs, and in the intervals of runs that overlap without being
/// equal. Encoded and printed as ScalaTrace's multi-dimensional strided ranges,
/// (start, (count, stride)...), found greedily: a column, or the interior of a grid, is
/// O(dimensions) bytes.
///
/// Text: comma-separated terms, each `3`, `0-15`, `0-56:8` (every 8th from 0
/// to 56), followed by any number of `+STRIDE*COUNT` (all of it COUNT times,
/// STRIDE apart): the interior of an 8 x 8 grid is `9-14+8*6`.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "model/rank_runs.h"

namespace chameleon::inline model {

class RankList {
 public:
  using Rank = std::uint32_t;
  using Interval = RankInterval;
  /// Ranks from here on, and more intervals, are refused by `decode` and `parse`.
  static constexpr Rank kMaxRanks = 1U << 24;
  static constexpr std::size_t kMaxIntervals = 1U << 20;

  static RankList single(Rank rank) { return range(rank, rank); }
  /// The ranks `first` to `last`, both included; none when `last < first`.
  static RankList range(Rank first, Rank last);

  void insert(Rank rank);
  /// Becomes the union with `other`.
  void merge(const RankList& other);

  /// O(log runs).
  bool contains(Rank rank) const;
  /// Number of ranks: O(runs).
  std::uint64_t size() const;
  bool empty() const { return runs_.empty(); }
  /// The lowest rank; 0 when empty.
  Rank first() const { return empty() ? 0 : runs().front().first(); }

  bool operator==(const RankList& other) const;
  /// A total order: lexicographic over intervals.
  bool operator<(const RankList& other) const;
  std::uint64_t hash() const;

  bool intersects(const RankList& other) const;
  RankList intersection(const RankList& other) const;
  /// The ranks not in `other`.
  RankList minus(const RankList& other) const;

  /// Calls `f(rank)` in ascending order.
  template <class F>
  void for_each(F f) const {
    for (const Interval& interval : intervals())
      for (std::uint64_t rank = interval.first; rank <= interval.last; ++rank)
        f(static_cast<Rank>(rank));
  }
  std::vector<Rank> ranks() const;
  RankIntervals intervals() const { return RankIntervals(runs()); }
  std::span<const RankRun> runs() const { return runs_.all(); }
  /// Bytes beyond the object; of what lists have in common, this one's share.
  friend std::size_t memory_of(const RankList& list) { return list.runs_.memory_bytes(); }

  void encode(ByteWriter& writer) const;
  /// Reads what `encode` wrote; false (and a failed reader) on anything else.
  static bool decode(ByteReader& reader, RankList& list);

  std::string to_string() const;
  /// Reads the text form above, terms in any order and overlapping; the empty
  /// string is the empty set. Error: `kUsage`, with the position as offset.
  static Result<RankList> parse(std::string_view text);

 private:
  void unite(const RankList& other);

  RankRuns runs_;
};

/// Whether it is one rank.
inline bool is_single(const RankList& list) {
  return list.runs().size() == 1 && list.first() == list.runs().front().last();
}

/// The longest time of an operation on a list, in steps of which a run takes one: O(runs).
std::uint64_t steps_of(const RankList& list);

}  // namespace chameleon::inline model
