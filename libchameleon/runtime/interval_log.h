// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The events of the present interval as the wrappers record them: a flat
/// buffer of 64-bit words, four and the call's values an event. Nothing is
/// compressed here; a marker, or a full log, decides what becomes of it. While it
/// is being decided the log is *sealed*: what other threads append meanwhile
/// belongs to the next interval.

#include <cstdint>
#include <span>
#include <vector>

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

  explicit IntervalLog(std::uint64_t bytes) : most_(bytes / sizeof(std::int64_t)) {
    words_.reserve(most_);
  }

  void append(std::uint16_t call, std::uint64_t path, std::uint64_t compute,
              std::uint64_t communication, const std::int64_t* values, std::size_t count) {
    words_.push_back(static_cast<std::int64_t>(std::uint64_t{call} | (count << 16)));
    words_.push_back(static_cast<std::int64_t>(path));
    words_.push_back(static_cast<std::int64_t>(compute));
    words_.push_back(static_cast<std::int64_t>(communication));
    words_.insert(words_.end(), values, values + count);
  }

  /// The next event may not fit any more.
  bool full() const { return words_.size() + 1024 > most_; }
  bool empty() const { return end() == 0; }
  void seal() { sealed_ = words_.size(); }
  bool sealed() const { return sealed_ != kOpen; }
  /// Forgets all events, or those before the seal, which is broken.
  void clear() {
    words_.erase(words_.begin(), words_.begin() + static_cast<std::ptrdiff_t>(end()));
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
               std::span(words_).subspan(at + 4, count)});
      at += 4 + count;
    }
  }

 private:
  static constexpr std::size_t kOpen = SIZE_MAX;

  std::size_t end() const { return sealed() ? sealed_ : words_.size(); }

  std::size_t most_;
  std::size_t sealed_ = kOpen;
  std::vector<std::int64_t> words_;
};

}  // namespace chameleon
