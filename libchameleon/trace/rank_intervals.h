// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// A vector of intervals of ranks in 16 bytes: one is held within, more are
/// allocated. Moving copies two words and cannot throw, whatever is held, and
/// leaves nothing behind.

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace chameleon {

class RankIntervals {
 public:
  /// The ranks `first` to `last`, both included.
  struct Interval {
    std::uint32_t first = 0;
    std::uint32_t last = 0;
    auto operator<=>(const Interval&) const = default;
  };
  using value_type = Interval;
  using iterator = Interval*;
  using const_iterator = const Interval*;

  RankIntervals() = default;
  RankIntervals(const RankIntervals& other) { assign(other); }
  RankIntervals(RankIntervals&& other) noexcept { swap(other); }
  RankIntervals& operator=(const RankIntervals& other) {
    if (this != &other) assign(other);
    return *this;
  }
  RankIntervals& operator=(RankIntervals&& other) noexcept {
    RankIntervals taken(std::move(other));
    swap(taken);
    return *this;
  }
  ~RankIntervals() {
    if (capacity_ != 1) delete[] held_.many;
  }

  Interval* begin() { return capacity_ == 1 ? &held_.one : held_.many; }
  Interval* end() { return begin() + size_; }
  const Interval* begin() const { return capacity_ == 1 ? &held_.one : held_.many; }
  const Interval* end() const { return begin() + size_; }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  Interval& operator[](std::size_t i) { return begin()[i]; }
  const Interval& operator[](std::size_t i) const { return begin()[i]; }
  Interval& front() { return *begin(); }
  const Interval& front() const { return *begin(); }
  Interval& back() { return end()[-1]; }
  const Interval& back() const { return end()[-1]; }

  void push_back(Interval interval) {
    if (size_ == capacity_) reserve(2 * std::size_t{capacity_});
    begin()[size_++] = interval;
  }
  void insert(const Interval* at, Interval interval) {
    const std::ptrdiff_t place = at - begin();
    push_back(interval);
    std::rotate(begin() + place, end() - 1, end());
  }
  void erase(Interval* at) {
    std::copy(at + 1, end(), at);
    --size_;
  }
  void reserve(std::size_t capacity) {
    if (capacity <= capacity_) return;
    auto* const many = new Interval[capacity];
    std::copy(begin(), end(), many);
    if (capacity_ != 1) delete[] held_.many;
    held_.many = many;
    capacity_ = static_cast<std::uint32_t>(capacity);
  }

 private:
  void assign(const RankIntervals& other) {
    size_ = 0;
    reserve(other.size());
    std::copy(other.begin(), other.end(), begin());
    size_ = other.size_;
  }
  void swap(RankIntervals& other) noexcept {
    std::swap(held_, other.held_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
  }

  union Held {
    Interval one;
    Interval* many;
  };
  Held held_{.many = nullptr};
  std::uint32_t size_ = 0;
  std::uint32_t capacity_ = 1;  ///< 1: held within
};

static_assert(sizeof(RankIntervals) == 16);

}  // namespace chameleon
