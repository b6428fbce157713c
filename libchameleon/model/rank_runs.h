// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// How a set of ranks is held: runs of equal intervals at equal distances. A column of a grid, or
/// every second rank of a row, is one run; a single one needs no allocation. Copies of a larger set
/// are one in memory until one of them changes: most nodes of a trace are of few different sets.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <utility>
#include <vector>

namespace chameleon::inline model {

/// The ranks `first` to `last`, both included.
struct RankInterval {
  std::uint32_t first = 0;
  std::uint32_t last = 0;
  auto operator<=>(const RankInterval&) const = default;

  std::uint64_t size() const { return std::uint64_t{last} - first + 1; }
};

/// `count` intervals as large as the first, each `stride` after the one before.
struct RankRun {
  RankInterval interval;     ///< the first
  std::uint32_t stride = 0;  ///< more than an interval has ranks; 0 where there is one interval
  std::uint32_t count = 0;
  bool operator==(const RankRun&) const = default;

  static RankRun of(RankInterval interval) { return {interval, 0, 1}; }
  std::uint32_t first() const { return interval.first; }
  std::uint32_t last() const { return interval.last + (count - 1) * stride; }
  RankInterval at(std::uint32_t i) const {
    return {interval.first + i * stride, interval.last + i * stride};
  }
  RankInterval back() const { return at(count - 1); }
  /// Its first `n` intervals, and those after them.
  RankRun head(std::uint32_t n) const { return {interval, n < 2 ? 0 : stride, n}; }
  RankRun tail(std::uint32_t n) const {
    return n == count ? RankRun{} : RankRun{at(n), count - n < 2 ? 0 : stride, count - n};
  }
  /// How many of its intervals end below `rank`.
  std::uint32_t below(std::uint32_t rank) const;
};

/// Runs in ascending order of which no two could be one. From the lowest rank on each is as long as
/// it can be; but a run of two leaves its second interval to a longer run that starts there. So
/// equal sets have equal runs.
class RankRuns {
 public:
  RankRuns() = default;
  RankRuns(const RankRuns& other) noexcept : one_(other.one_), more_(other.more_) {
    if (more_ != nullptr) more_->users.fetch_add(1, std::memory_order_relaxed);
  }
  RankRuns(RankRuns&& other) noexcept
      : one_(std::exchange(other.one_, {})), more_(std::exchange(other.more_, nullptr)) {}
  RankRuns& operator=(RankRuns other) noexcept {
    std::swap(one_, other.one_);
    std::swap(more_, other.more_);
    return *this;
  }
  ~RankRuns() {
    if (more_ != nullptr) release();
  }

  bool empty() const { return more_ == nullptr && one_.count == 0; }
  std::span<const RankRun> all() const {
    if (more_ != nullptr) return more_->runs;
    return {&one_, one_.count == 0 ? std::size_t{0} : std::size_t{1}};
  }
  const RankRun& back() const { return more_ != nullptr ? more_->runs.back() : one_; }
  /// Beyond this object; of what sets have in common, this one's share: at least so much, where
  /// copies that soon go are among them.
  std::size_t memory_bytes() const {
    if (more_ == nullptr) return 0;
    return more_->runs.size() * sizeof(RankRun) / more_->users.load(std::memory_order_relaxed);
  }
  /// The same in memory; sets of one run: equal.
  bool is(const RankRuns& other) const { return more_ == other.more_ && one_ == other.one_; }
  /// Adds what lies above all of it; what touches its last interval becomes one with that.
  void push(RankInterval interval);
  void push(RankRun run);
  void clear() { *this = RankRuns(); }

 private:
  struct Several {
    std::atomic<std::uint32_t> users{1};
    std::vector<RankRun> runs;
  };

  /// A large set is no user of its runs any more.
  void release() noexcept;
  /// All of them, for a change of this set only.
  std::vector<RankRun>& several();
  /// These do not touch the last interval.
  void append(RankInterval interval);
  void append(RankRun run);
  RankInterval pop();
  RankRun& end() { return more_ != nullptr ? several().back() : one_; }
  RankRun* before_end();
  void add(RankRun run);

  RankRun one_;
  Several* more_ = nullptr;  ///< all of them, where they are several
};

/// Goes through the intervals of a set, several at a time where they are in one run.
class RankCursor {
 public:
  explicit RankCursor(std::span<const RankRun> runs) : next_(runs) { skip(); }

  explicit operator bool() const { return rest_.count != 0; }
  /// The rest of the present run.
  const RankRun& rest() const { return rest_; }
  RankInterval interval() const { return rest_.interval; }
  /// To the next run.
  void skip() {
    rest_ = next_.empty() ? RankRun{} : next_.front();
    if (!next_.empty()) next_ = next_.subspan(1);
  }
  /// Past `n` intervals of the present run.
  void drop(std::uint32_t n) {
    if (n == rest_.count) return skip();
    rest_ = rest_.tail(n);
  }

 private:
  std::span<const RankRun> next_;
  RankRun rest_;
};

/// The intervals of a set, ascending, none adjacent to another.
class RankIntervals {
 public:
  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = RankInterval;
    using difference_type = std::ptrdiff_t;
    using pointer = const RankInterval*;
    using reference = const RankInterval&;

    Iterator() = default;
    explicit Iterator(std::span<const RankRun> runs) : cursor_(runs) { look(); }
    reference operator*() const { return interval_; }
    pointer operator->() const { return &interval_; }
    Iterator& operator++() {
      cursor_.drop(1);
      look();
      return *this;
    }
    bool operator==(std::default_sentinel_t) const { return !cursor_; }

   private:
    void look() { interval_ = cursor_.interval(); }

    RankCursor cursor_{{}};
    RankInterval interval_;
  };

  explicit RankIntervals(std::span<const RankRun> runs) : runs_(runs) {}
  Iterator begin() const { return Iterator(runs_); }
  std::default_sentinel_t end() const { return {}; }
  /// O(runs).
  std::size_t size() const;

 private:
  std::span<const RankRun> runs_;
};

}  // namespace chameleon::inline model
