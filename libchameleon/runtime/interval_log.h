// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The events of the present interval as the wrappers record them: a flat
/// buffer of 64-bit words, four and the call's values an event. Nothing is
/// compressed here; a marker, or a full log, decides what becomes of it. While it
/// is being decided the log is *sealed*: what other threads append meanwhile
/// belongs to the next interval.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

namespace chameleon {

class IntervalLog {
 public:
  /// One event; times in ticks.
  struct Record {
    std::uint16_t call;
    std::uint64_t path;
    std::uint64_t compute, communication;
    std::span<const std::int64_t> values;
  };

  /// Pages of it become resident as they are used.
  explicit IntervalLog(std::uint64_t bytes)
      : most_(bytes / sizeof(std::int64_t)), capacity_(most_), words_(new std::int64_t[most_]) {}

  void append(std::uint16_t call, std::uint64_t path, std::uint64_t compute,
              std::uint64_t communication, const std::int64_t* values, std::size_t count) {
    if (size_ + kHead + count > capacity_) [[unlikely]]
      grow(size_ + kHead + count);
    std::int64_t* at = words_.get() + size_;
    at[0] = static_cast<std::int64_t>(std::uint64_t{call} | (count << 16));
    at[1] = static_cast<std::int64_t>(path);
    at[2] = static_cast<std::int64_t>(compute);
    at[3] = static_cast<std::int64_t>(communication);
    std::copy_n(values, count, at + kHead);
    size_ += kHead + count;
  }

  /// The next event may not fit any more.
  bool full() const { return size_ + 1024 > most_; }
  bool empty() const { return end() == 0; }
  void seal() { sealed_ = size_; }
  bool sealed() const { return sealed_ != kOpen; }
  /// Forgets all events, or those before the seal, which is broken.
  void clear() {
    std::copy(words_.get() + end(), words_.get() + size_, words_.get());
    size_ -= end();
    sealed_ = kOpen;
  }

  /// Calls f(record) in order, up to the seal if there is one.
  template <class F>
  void for_each(F f) const {
    for (std::size_t at = 0; at < end();) {
      const auto head = static_cast<std::uint64_t>(words_[at]);
      const std::size_t count = head >> 16;
      f(Record{static_cast<std::uint16_t>(head & 0xffff),
               static_cast<std::uint64_t>(words_[at + 1]),
               static_cast<std::uint64_t>(words_[at + 2]),
               static_cast<std::uint64_t>(words_[at + 3]),
               {words_.get() + at + kHead, count}});
      at += kHead + count;
    }
  }

 private:
  static constexpr std::size_t kOpen = SIZE_MAX;
  static constexpr std::size_t kHead = 4;

  std::size_t end() const { return sealed() ? sealed_ : size_; }
  void grow(std::size_t least) {
    capacity_ = std::max(least, 2 * capacity_);
    std::unique_ptr<std::int64_t[]> words(new std::int64_t[capacity_]);
    std::copy_n(words_.get(), size_, words.get());
    words_ = std::move(words);
  }

  std::size_t most_;      ///< words, unless sealed
  std::size_t capacity_;  ///< words there is room for
  std::size_t size_ = 0;
  std::size_t sealed_ = kOpen;
  std::unique_ptr<std::int64_t[]> words_;
};

}  // namespace chameleon
