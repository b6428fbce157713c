// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The events of the present interval as the wrappers record them: 16 bytes each, the number of
/// the event in a table of distinct ones (event_table.h) and its times. A marker, or a full log,
/// decides what becomes of it. While it is being decided the log is *sealed*: what other threads
/// append meanwhile belongs to the next interval. The table outlives intervals, until it takes
/// half of the log's bytes.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <utility>

#include "record/event_table.h"

namespace chameleon::record {

class IntervalLog {
 public:
  /// One event; times in ticks, up to 2^48 (a day), where they end.
  class Record {
   public:
    Record() = default;
    [[gnu::always_inline]] Record(std::uint32_t event, std::uint64_t compute,
                                  std::uint64_t communication) {
      if ((compute | communication) >> 48 != 0) [[unlikely]] {
        const std::uint64_t most = (std::uint64_t{1} << 48) - 1;
        compute = std::min(compute, most);
        communication = std::min(communication, most);
      }
      event_ = event;
      communication_ = static_cast<std::uint32_t>(communication);
      rest_ = compute << 16 | communication >> 32;
    }
    std::uint32_t event() const { return event_; }  ///< its number in the table
    std::uint64_t compute() const { return rest_ >> 16; }
    std::uint64_t communication() const { return (rest_ & 0xffff) << 32 | communication_; }

   private:
    std::uint32_t event_, communication_;
    std::uint64_t rest_;
  };

  /// Half of `bytes` is for records, whose pages become resident as they are used.
  explicit IntervalLog(std::uint64_t bytes)
      : most_(bytes / 2 / sizeof(Record)),
        most_table_bytes_(bytes / 2),
        capacity_(most_),
        records_(new Record[most_]) {}

  /// The number of an event, see EventTable.
  std::uint32_t find(std::uint16_t call, std::uint64_t path, const std::int64_t* values,
                     std::size_t count) {
    const std::uint32_t number = table_.find(call, path, values, count);
    table_full_ = table_.bytes() > most_table_bytes_;
    return number;
  }
  template <class HasKey>
  [[gnu::always_inline]] std::uint32_t expect(std::uint16_t call, std::uint64_t path,
                                              HasKey has_key) {
    return table_.expect(call, path, has_key);
  }
  void learn_key(std::uint32_t number, std::span<const std::int64_t> key) {
    table_.learn_key(number, key);
  }

  [[gnu::always_inline]] void append(std::uint32_t event, std::uint64_t compute,
                                     std::uint64_t communication) {
    if (size_ == capacity_) [[unlikely]]
      grow();
    // In place: a copy would wait for what has just been written in parts.
    new (&records_[size_++]) Record(event, compute, communication);
  }

  /// No more events should come before room is made.
  bool full() const { return size_ + 1 > most_ || table_full_; }
  bool empty() const { return end() == 0; }
  /// The table is to be cleared as if it were full.
  void crowd() { table_full_ = true; }
  /// Much can come yet.
  bool roomy() const { return 2 * size_ < most_ && !table_full_; }
  void seal() { sealed_ = size_; }
  bool sealed() const { return sealed_ != kOpen; }
  const EventTable& table() const { return table_; }

  /// Forgets all events, or those before the seal, which is broken.
  void clear() {
    std::copy(records_.get() + end(), records_.get() + size_, records_.get());
    size_ -= end();
    sealed_ = kOpen;
    sifted_ = 0;
    if (size_ == 0 && table_full_) {
      table_.clear();
      table_full_ = false;
    }
  }

  /// Times of records that were taken out, and how many these were.
  struct TakenOut {
    std::uint64_t count = 0, compute = 0, communication = 0;
  };
  /// Takes records out for whose event `is_out` holds. Their times, beside those of `before`, are
  /// added to the record that follows them; what is left after the last one stays in `before`.
  /// Records that stayed an earlier time are not asked about again.
  template <class IsOut>
  void take_out(IsOut is_out, TakenOut& before) {
    std::size_t kept = sifted_;
    for (std::size_t i = sifted_; i < end(); ++i) {
      const Record one = records_[i];
      if (is_out(one.event())) {
        ++before.count;
        before.compute += one.compute();
        before.communication += one.communication();
        continue;
      }
      records_[kept++] = Record(one.event(), one.compute() + before.compute,
                                one.communication() + before.communication);
      before.compute = before.communication = 0;
    }
    size_ = sifted_ = kept;
  }

  /// All records in order, up to the seal if there is one.
  std::span<const Record> records() const { return {records_.get(), end()}; }

  /// Calls f(record) for each of them.
  template <class F>
  void for_each(F f) const {
    for (std::size_t i = 0; i < end(); ++i) f(records_[i]);
  }

 private:
  static constexpr std::size_t kOpen = SIZE_MAX;

  std::size_t end() const { return sealed() ? sealed_ : size_; }
  [[gnu::noinline]] void grow() {
    const std::size_t capacity = std::max<std::size_t>(64, 2 * capacity_);
    std::unique_ptr<Record[]> records(new Record[capacity]);
    std::copy_n(records_.get(), size_, records.get());
    records_ = std::move(records);
    capacity_ = capacity;
  }

  std::size_t most_;              ///< records, unless sealed
  std::size_t most_table_bytes_;  ///< kept from one interval to the next
  bool table_full_ = false;
  std::size_t capacity_;  ///< records there is room for
  std::size_t size_ = 0;
  std::size_t sifted_ = 0;  ///< first records of which none is to be taken out
  std::size_t sealed_ = kOpen;
  std::unique_ptr<Record[]> records_;
  EventTable table_;
};

}  // namespace chameleon::record
