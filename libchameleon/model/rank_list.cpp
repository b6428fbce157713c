// SPDX-License-Identifier: BSD-3-Clause
#include "model/rank_list.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <span>
#include <utility>

#include "base/hash.h"
#include "base/read_budget.h"
#include "model/rank_unions.h"

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
std::vector<Range> ranges_of(std::span<const RankRun> runs) {
  std::vector<Range> ranges;
  ranges.reserve(runs.size());
  for (const RankRun& run : runs) {
    Range& range = ranges.emplace_back();
    range.start = run.first();
    if (run.interval.size() > 1) range.dims.push_back({run.interval.size(), 1});
    if (run.count > 1) range.dims.push_back({run.count, run.stride});
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

/// Calls `f(run)` for each run of a range from `start`, while it gives true. The range has to fit,
/// and may be of overlapping runs.
template <class F>
bool expand(std::uint64_t start, std::span<const Dimension> dims, F& f) {
  RankRun run = RankRun::of({static_cast<Rank>(start), static_cast<Rank>(start)});
  if (dims.empty()) return f(run);
  std::size_t inner = 0;
  if (dims[0].stride == 1) run.interval.last += static_cast<Rank>(dims[inner++].count) - 1;
  if (dims.size() == inner + 1 && dims[inner].stride > run.interval.size()) {
    run.count = static_cast<Rank>(dims[inner].count);
    run.stride = static_cast<Rank>(dims[inner++].stride);
  }
  if (dims.size() == inner) return f(run);
  const Dimension& outer = dims.back();
  for (std::uint64_t i = 0; i < outer.count; ++i)
    if (!expand(start + i * outer.stride, dims.first(dims.size() - 1), f)) return false;
  return true;
}

constexpr std::uint64_t kIntervalsAsRun = 64;  ///< they take time, but no memory of their own
constexpr std::size_t kMostDimensions = 24;    ///< more of at least two positions cannot fit

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

/// Calls `f(run)` for what both have in common, in ascending order, while it gives true.
template <class F>
void for_common(std::span<const RankRun> left, std::span<const RankRun> right, F f) {
  RankCursor a(left), b(right);
  while (a && b) {
    const RankInterval x = a.interval(), y = b.interval();
    bool go_on = true;
    if (x.last < y.first) {
      a.drop(a.rest().below(y.first));
    } else if (y.last < x.first) {
      b.drop(b.rest().below(x.first));
    } else if (a.rest() == b.rest()) {
      go_on = f(a.rest());
      a.skip();
      b.skip();
    } else if (x.first <= y.first && x.last >= b.rest().last()) {
      go_on = f(b.rest());
      b.skip();
    } else if (y.first <= x.first && y.last >= a.rest().last()) {
      go_on = f(a.rest());
      a.skip();
    } else {
      go_on = f(RankRun::of({std::max(x.first, y.first), std::min(x.last, y.last)}));
      (x.last < y.last ? a : b).drop(1);
    }
    if (!go_on) return;
  }
}

/// What lies between the intervals, before the first, and after the last.
RankRuns others_than(std::span<const RankRun> runs) {
  constexpr Rank kLast = std::numeric_limits<Rank>::max();
  RankRuns rest;
  Rank next = 0;
  for (const RankRun& run : runs) {
    if (run.first() > next) rest.push(RankInterval{next, run.first() - 1});
    if (run.count > 1)
      rest.push({{run.interval.last + 1, run.first() + run.stride - 1},
                 run.count > 2 ? run.stride : 0,
                 run.count - 1});
    if (run.last() == kLast) return rest;
    next = run.last() + 1;
  }
  rest.push(RankInterval{next, kLast});
  return rest;
}

}  // namespace

RankList RankList::range(Rank first, Rank last) {
  RankList list;
  if (first <= last) list.runs_.push(Interval{first, last});
  return list;
}

void RankList::insert(Rank rank) {
  if (empty() || rank >= runs_.back().back().first) return runs_.push(Interval{rank, rank});
  if (!contains(rank)) merge(single(rank));
}

void RankList::merge(const RankList& other) {
  if (other.empty() || runs_.is(other.runs_)) return;
  if (empty()) {
    runs_ = other.runs_;
    return;
  }
  RankUnions* unions = nullptr;
  const bool appends = runs_.back().back().first <= other.first();  // in place, mostly
  if ((appends ? other.runs().size() : std::max(runs().size(), other.runs().size())) >=
      RankUnions::kFewestRuns)
    unions = RankUnions::present();
  if (unions == nullptr) return unite(other);
  if (const RankRuns* both = unions->find(runs_, other.runs_)) {
    runs_ = *both;
    return;
  }
  const RankRuns mine = runs_;
  unite(other);
  unions->add(mine, other.runs_, runs_);
}

void RankList::unite(const RankList& other) {
  if (runs_.back().back().first <= other.first()) {
    for (const RankRun& run : other.runs()) runs_.push(run);
    return;
  }
  RankRuns all;
  RankCursor a(runs()), b(other.runs());
  while (a && b) {
    if (b.rest().first() < a.rest().first()) std::swap(a, b);
    if (const Rank before = a.rest().below(b.rest().first())) {
      all.push(a.rest().head(before));
      a.drop(before);
    } else if (a.rest() == b.rest() || a.interval().last >= b.rest().last()) {
      b.skip();
    } else {
      all.push(a.interval());
      a.drop(1);
    }
  }
  for (; a; a.skip()) all.push(a.rest());
  for (; b; b.skip()) all.push(b.rest());
  runs_ = std::move(all);
}

bool RankList::contains(Rank rank) const {
  const std::span<const RankRun> all = runs();
  const auto after = std::upper_bound(all.begin(), all.end(), rank,
                                      [](Rank r, const RankRun& run) { return r < run.first(); });
  if (after == all.begin()) return false;
  const RankRun& run = *(after - 1);
  const Rank place =
      run.stride == 0 ? 0 : std::min((rank - run.first()) / run.stride, run.count - 1);
  return rank <= run.at(place).last;
}

std::uint64_t RankList::size() const {
  std::uint64_t total = 0;
  for (const RankRun& run : runs()) total += run.interval.size() * run.count;
  return total;
}

bool RankList::operator==(const RankList& other) const {
  return runs_.is(other.runs_) || std::ranges::equal(runs(), other.runs());
}

bool RankList::operator<(const RankList& other) const {
  RankCursor a(runs()), b(other.runs());
  while (a && b) {
    if (a.interval() != b.interval()) return a.interval() < b.interval();
    const Rank same =
        a.rest().stride == b.rest().stride ? std::min(a.rest().count, b.rest().count) : Rank{1};
    a.drop(same);
    b.drop(same);
  }
  return !a && b;
}

std::uint64_t RankList::hash() const {
  std::uint64_t result = runs().size();
  for (const RankRun& run : runs()) {
    result = combine(result, std::uint64_t{run.first()} << 32 | run.interval.last);
    result = combine(result, std::uint64_t{run.stride} << 32 | run.count);
  }
  return result;
}

bool RankList::intersects(const RankList& other) const {
  bool any = false;
  for_common(runs(), other.runs(), [&](const RankRun&) {
    any = true;
    return false;
  });
  return any;
}

RankList RankList::intersection(const RankList& other) const {
  RankList common;
  for_common(runs(), other.runs(), [&](const RankRun& run) {
    common.runs_.push(run);
    return true;
  });
  return common;
}

RankList RankList::minus(const RankList& other) const {
  if (empty() || other.empty() || runs_.back().last() < other.first() ||
      other.runs_.back().last() < first())
    return *this;
  RankList rest;
  const RankRuns kept = others_than(other.runs());
  for_common(runs(), kept.all(), [&](const RankRun& run) {
    rest.runs_.push(run);
    return true;
  });
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
  const std::vector<Range> ranges = ranges_of(runs());
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
  std::uint64_t end = 0, intervals = 0, runs = 0;
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
    auto add = [&](const RankRun& run) {
      if ((intervals += run.count) > kMaxIntervals) return false;
      ReadBudget::take(2, sizeof run);
      if (!list.empty() && run.first() <= std::uint64_t{list.runs_.back().last()} + 1) return false;
      list.runs_.push(run);
      ++runs;
      return true;
    };
    good = expand(start, dims, add);
  }
  // The lists of one input together: few bytes each can stand for many runs, which take memory, and
  // for a million intervals, which take time.
  if (good && reader.ok() && reader.expand(runs + intervals / kIntervalsAsRun)) return true;
  list = RankList();
  reader.fail();
  return false;
}

std::string RankList::to_string() const {
  std::string text;
  for (const Range& range : ranges_of(runs())) {
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
    auto add = [&](const RankRun& run) {
      if (run.count > kMaxIntervals - intervals.size()) return false;
      for (Rank i = 0; i < run.count; ++i) intervals.push_back(run.at(i));
      return true;
    };
    if (!expand(range.start, range.dims, add)) return wrong("fewer intervals");
    if (position == text.size()) break;
    if (!accept(',')) return wrong("a comma");
  }
  // What is given by hand may overlap and be in any order: joined, not refused.
  std::sort(intervals.begin(), intervals.end());
  for (const Interval& interval : intervals) list.runs_.push(interval);
  return list;
}

std::uint64_t steps_of(const RankList& list) {
  return list.runs().size() + list.intervals().size() / kIntervalsAsRun;
}

}  // namespace chameleon::inline model
