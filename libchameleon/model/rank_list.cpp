// SPDX-License-Identifier: BSD-3-Clause
#include "model/rank_list.h"

#include <algorithm>
#include <charconv>
#include <span>

#include "base/hash.h"

namespace chameleon::inline model {

namespace {

using Rank = RankList::Rank;

/// One range of a dimension: `count` times, `stride` apart.
struct Dimension {
  std::uint64_t count;
  std::uint64_t stride;
  bool operator==(const Dimension&) const = default;
};

/// `start`, repeated along each dimension; the first is the innermost.
struct Range {
  std::uint64_t start;
  std::vector<Dimension> dims;
};

/// Joins runs of consecutive ranges of one shape at equal distances, one
/// dimension at a time until nothing joins. Because only neighbours join,
/// ranges stay disjoint and ascending.
std::vector<Range> ranges_of(const RankList::Intervals& intervals) {
  std::vector<Range> ranges;
  for (const auto& [first, last] : intervals) {
    ranges.push_back({first, {}});
    if (last > first) ranges.back().dims.push_back({std::uint64_t{last} - first + 1, 1});
  }
  for (bool joined = true; joined;) {
    joined = false;
    std::vector<Range> next;
    const auto run_from = [&](std::size_t i) {
      std::size_t end = i + 1;
      while (end < ranges.size() && ranges[end].dims == ranges[i].dims &&
             ranges[end].start - ranges[end - 1].start == ranges[i + 1].start - ranges[i].start)
        ++end;
      return end - i;
    };
    for (std::size_t i = 0; i < ranges.size();) {
      std::size_t run = run_from(i);
      // Two ranges alone must not spoil a longer run that starts at the second.
      if (run == 2 && run_from(i + 1) > 2) run = 1;
      next.push_back(std::move(ranges[i]));
      if (run > 1) {
        next.back().dims.push_back({run, ranges[i + 1].start - next.back().start});
        joined = true;
      }
      i += run;
    }
    ranges = std::move(next);
  }
  return ranges;
}

/// Calls `f(first, last)` for each interval of a range from `start`, while it gives true.
template <class F>
bool expand(std::uint64_t start, std::span<const Dimension> dims, F& f) {
  if (dims.empty()) return f(start, start);
  const Dimension& dim = dims.back();
  if (dims.size() == 1 && dim.stride == 1) return f(start, start + dim.count - 1);
  for (std::uint64_t i = 0; i < dim.count; ++i)
    if (!expand(start + i * dim.stride, dims.first(dims.size() - 1), f)) return false;
  return true;
}

constexpr std::size_t kMostDimensions = 24;  ///< more of at least two positions cannot fit

/// True when a range from `start` stays below the limit, each dimension
/// having at least two distinct positions.
bool fits(std::uint64_t start, std::span<const Dimension> dims) {
  std::uint64_t last = start;
  for (const auto& [count, stride] : dims) {
    if (count < 2 || stride == 0 || count >= RankList::kMaxRanks || stride >= RankList::kMaxRanks)
      return false;
    last += (count - 1) * stride;
    if (last >= RankList::kMaxRanks) return false;
  }
  return last < RankList::kMaxRanks;
}

}  // namespace

RankList RankList::range(Rank first, Rank last) {
  RankList list;
  if (first <= last) list.intervals_.push_back({first, last});
  return list;
}

void RankList::push(Interval interval) {
  if (!intervals_.empty() && std::uint64_t{intervals_.back().last} + 1 >= interval.first) {
    intervals_.back().last = std::max(intervals_.back().last, interval.last);
  } else {
    intervals_.push_back(interval);
  }
}

void RankList::insert(Rank rank) {
  if (intervals_.empty() || rank >= intervals_.back().first) return push({rank, rank});
  const auto after = std::upper_bound(intervals_.begin(), intervals_.end(), rank,
                                      [](Rank r, const Interval& i) { return r < i.first; });
  const bool joins_after = after->first == rank + 1;
  if (after != intervals_.begin()) {
    const auto before = after - 1;
    if (rank <= before->last) return;
    if (before->last + 1 == rank) {
      before->last = joins_after ? after->last : rank;
      if (joins_after) intervals_.erase(after);
      return;
    }
  }
  if (joins_after) {
    after->first = rank;
  } else {
    intervals_.insert(after, {rank, rank});
  }
}

void RankList::merge(const RankList& other) {
  if (other.empty() || this == &other) return;
  if (empty() || intervals_.back().first <= other.intervals_.front().first) {
    for (const Interval& interval : other.intervals_) push(interval);
    return;
  }
  RankList all;
  all.intervals_.reserve(intervals_.size() + other.intervals_.size());
  auto mine = intervals_.begin();
  auto theirs = other.intervals_.begin();
  while (mine != intervals_.end() || theirs != other.intervals_.end()) {
    const bool take_mine = theirs == other.intervals_.end() ||
                           (mine != intervals_.end() && mine->first <= theirs->first);
    all.push(take_mine ? *mine++ : *theirs++);
  }
  *this = std::move(all);
}

bool RankList::contains(Rank rank) const {
  const auto after = std::upper_bound(intervals_.begin(), intervals_.end(), rank,
                                      [](Rank r, const Interval& i) { return r < i.first; });
  return after != intervals_.begin() && rank <= (after - 1)->last;
}

std::uint64_t RankList::size() const {
  std::uint64_t total = 0;
  for (const auto& [first, last] : intervals_) total += std::uint64_t{last} - first + 1;
  return total;
}

bool RankList::operator==(const RankList& other) const {
  return std::equal(intervals_.begin(), intervals_.end(), other.intervals_.begin(),
                    other.intervals_.end());
}

bool RankList::operator<(const RankList& other) const {
  return std::lexicographical_compare(intervals_.begin(), intervals_.end(),
                                      other.intervals_.begin(), other.intervals_.end());
}

std::uint64_t RankList::hash() const {
  std::uint64_t result = intervals_.size();
  for (const auto& [first, last] : intervals_)
    result = combine(result, std::uint64_t{first} << 32 | last);
  return result;
}

bool RankList::intersects(const RankList& other) const {
  auto a = intervals_.begin();
  auto b = other.intervals_.begin();
  while (a != intervals_.end() && b != other.intervals_.end()) {
    if (a->last < b->first) {
      ++a;
    } else if (b->last < a->first) {
      ++b;
    } else {
      return true;
    }
  }
  return false;
}

RankList RankList::intersection(const RankList& other) const {
  RankList common;
  auto a = intervals_.begin();
  auto b = other.intervals_.begin();
  while (a != intervals_.end() && b != other.intervals_.end()) {
    const Interval both{std::max(a->first, b->first), std::min(a->last, b->last)};
    if (both.first <= both.last) common.intervals_.push_back(both);
    if (a->last < b->last) {
      ++a;
    } else {
      ++b;
    }
  }
  return common;
}

RankList RankList::minus(const RankList& other) const {
  RankList rest;
  auto hole = other.intervals_.begin();
  for (auto [first, last] : intervals_) {
    while (hole != other.intervals_.end() && hole->last < first) ++hole;
    bool left = true;
    // The last hole met may reach into the next interval: it is not passed.
    for (; hole != other.intervals_.end() && hole->first <= last; ++hole) {
      if (hole->first > first) rest.intervals_.push_back({first, hole->first - 1});
      if (hole->last >= last) {
        left = false;
        break;
      }
      first = hole->last + 1;
    }
    if (left) rest.intervals_.push_back({first, last});
  }
  return rest;
}

std::vector<Rank> RankList::ranks() const {
  std::vector<Rank> all;
  all.reserve(size());
  for_each([&](Rank rank) { all.push_back(rank); });
  return all;
}

// Number of ranges; each its start less the previous end, and its dimensions:
// their number, then count and stride of each.
void RankList::encode(ByteWriter& writer) const {
  const std::vector<Range> ranges = ranges_of(intervals_);
  writer.varint(ranges.size());
  std::uint64_t end = 0;
  for (const Range& range : ranges) {
    writer.varint(range.start - end);
    writer.varint(range.dims.size());
    end = range.start;
    for (const auto& [count, stride] : range.dims) {
      writer.varint(count);
      writer.varint(stride);
      end += (count - 1) * stride;
    }
  }
}

bool RankList::decode(ByteReader& reader, RankList& list) {
  list = RankList();
  std::uint64_t end = 0;
  bool good = true;
  for (std::uint64_t left = reader.count(2); left != 0 && good; --left) {
    std::uint64_t start = reader.varint();
    good = start < kMaxRanks;
    start += end;
    end = start;
    Dimension held[kMostDimensions];
    const std::uint64_t count = reader.count(2);
    good = good && count <= kMostDimensions;
    for (std::uint64_t i = 0; good && i < count; ++i) {
      held[i].count = reader.varint();
      held[i].stride = reader.varint();
    }
    const std::span<const Dimension> dims(held, good ? count : 0);
    good = good && reader.ok() && fits(start, dims);
    if (!good) break;
    for (const Dimension& dim : dims) end += (dim.count - 1) * dim.stride;
    // What `encode` writes is ascending without touching intervals.
    auto add = [&](std::uint64_t first, std::uint64_t last) {
      if (list.intervals_.size() >= kMaxIntervals) return false;
      if (!list.empty() && first <= std::uint64_t{list.intervals_.back().last} + 1) return false;
      list.intervals_.push_back({static_cast<Rank>(first), static_cast<Rank>(last)});
      return true;
    };
    good = expand(start, dims, add);
  }
  // The lists of one input together: few bytes each can stand for a million intervals.
  if (good && reader.ok() && reader.expand(list.intervals_.size())) return true;
  list = RankList();
  reader.fail();
  return false;
}

std::string RankList::to_string() const {
  std::string text;
  for (const Range& range : ranges_of(intervals_)) {
    if (!text.empty()) text += ',';
    text += std::to_string(range.start);
    for (std::size_t i = 0; i < range.dims.size(); ++i) {
      const auto& [count, stride] = range.dims[i];
      if (i == 0) {
        const std::uint64_t last = range.start + (count - 1) * stride;
        const bool pair = count == 2 && stride != 1 && range.dims.size() == 1;
        text += (pair ? ',' : '-') + std::to_string(last);
        if (stride != 1 && !pair) text += ':' + std::to_string(stride);
      } else {
        text += '+' + std::to_string(stride) + '*' + std::to_string(count);
      }
    }
  }
  return text;
}

Result<RankList> RankList::parse(std::string_view text) {
  RankList list;
  std::size_t position = 0;
  const auto wrong = [&](const char* expected) {
    return Error{ErrorKind::kUsage, "rank list \"" + std::string(text) + "\": expected " + expected,
                 position};
  };
  const auto number = [&](std::uint64_t& value) {
    const char* begin = text.data() + position;
    const auto [end, error] = std::from_chars(begin, text.data() + text.size(), value);
    if (error != std::errc() || value >= kMaxRanks) return false;
    position += static_cast<std::size_t>(end - begin);
    return true;
  };
  const auto accept = [&](char symbol) {
    if (position >= text.size() || text[position] != symbol) return false;
    ++position;
    return true;
  };
  std::vector<Interval> intervals;
  while (position < text.size() || position != 0) {
    Range range{0, {}};
    if (!number(range.start)) return wrong("a rank below 2^24");
    if (accept('-')) {
      std::uint64_t last = 0, stride = 1;
      if (!number(last) || last < range.start) return wrong("a last rank not below the first");
      if (accept(':') && (!number(stride) || stride == 0)) return wrong("a stride of at least 1");
      const std::uint64_t count = (last - range.start) / stride + 1;
      if (count > 1) range.dims.push_back({count, stride});
    }
    while (accept('+')) {
      std::uint64_t stride = 0, count = 0;
      if (!number(stride) || !accept('*') || !number(count) || range.dims.size() == kMostDimensions)
        return wrong("+STRIDE*COUNT");
      range.dims.push_back({count, stride});
    }
    if (!fits(range.start, range.dims))
      return wrong("ranks below 2^24, strides of at least 1, counts of at least 2");
    auto add = [&](std::uint64_t first, std::uint64_t last) {
      if (intervals.size() >= kMaxIntervals) return false;
      intervals.push_back({static_cast<Rank>(first), static_cast<Rank>(last)});
      return true;
    };
    if (!expand(range.start, range.dims, add)) return wrong("fewer intervals");
    if (position == text.size()) break;
    if (!accept(',')) return wrong("a comma");
  }
  // What is given by hand may overlap and be in any order: joined, not refused.
  std::sort(intervals.begin(), intervals.end());
  for (const Interval& interval : intervals) list.push(interval);
  return list;
}

}  // namespace chameleon::inline model
