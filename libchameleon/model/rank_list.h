// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// A set of ranks, held as sorted, disjoint, non-adjacent intervals, so equal
/// sets have equal representations; one interval needs no allocation. Set
/// operations are linear in intervals. Encoded and printed as ScalaTrace's
/// multi-dimensional strided ranges, (start, (count, stride)...), found
/// greedily: a column, or the interior of a grid, is O(dimensions) bytes.
///
/// Text: comma-separated terms, each `3`, `0-15`, `0-56:8` (every 8th from 0
/// to 56), followed by any number of `+STRIDE*COUNT` (all of it COUNT times,
/// STRIDE apart): the interior of an 8 x 8 grid is `9-14+8*6`.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

// GCC 12 takes the moving of an inlined small_vector for an over-read.
#pragma GCC diagnostic push
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wstringop-overread"
#endif
#include <boost/container/small_vector.hpp>
#pragma GCC diagnostic pop

#include "base/bytes.h"
#include "base/result.h"

namespace chameleon::inline model {

class RankList {
 public:
  using Rank = std::uint32_t;
  /// The ranks `first` to `last`, both included.
  struct Interval {
    Rank first = 0;
    Rank last = 0;
    auto operator<=>(const Interval&) const = default;
  };
  using Intervals = boost::container::small_vector<Interval, 1>;

  /// Ranks from here on, and more intervals, are refused by `decode` and `parse`.
  static constexpr Rank kMaxRanks = 1U << 24;
  static constexpr std::size_t kMaxIntervals = 1U << 20;

  RankList() = default;
  RankList(const RankList&) = default;
  RankList& operator=(const RankList&) = default;
  // The vector's may throw, by its declaration; vectors of nodes would then copy their elements.
  RankList(RankList&&) noexcept = default;
  RankList& operator=(RankList&&) noexcept = default;
  ~RankList() = default;
  static RankList single(Rank rank) { return range(rank, rank); }
  /// The ranks `first` to `last`, both included; none when `last < first`.
  static RankList range(Rank first, Rank last);

  void insert(Rank rank);
  /// Becomes the union with `other`.
  void merge(const RankList& other);

  /// O(log intervals).
  bool contains(Rank rank) const;
  /// Number of ranks: O(intervals).
  std::uint64_t size() const;
  bool empty() const { return intervals_.empty(); }
  /// The lowest rank; 0 when empty.
  Rank first() const { return intervals_.empty() ? 0 : intervals_.front().first; }

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
    for (const Interval& interval : intervals_)
      for (std::uint64_t rank = interval.first; rank <= interval.last; ++rank)
        f(static_cast<Rank>(rank));
  }
  std::vector<Rank> ranks() const;
  const Intervals& intervals() const { return intervals_; }

  void encode(ByteWriter& writer) const;
  /// Reads what `encode` wrote; false (and a failed reader) on anything else.
  static bool decode(ByteReader& reader, RankList& list);

  std::string to_string() const;
  /// Reads the text form above, terms in any order and overlapping; the empty
  /// string is the empty set. Error: `kUsage`, with the position as offset.
  static Result<RankList> parse(std::string_view text);

 private:
  /// Adds an interval at or after the last one.
  void push(Interval interval);

  Intervals intervals_;
};

}  // namespace chameleon::inline model
