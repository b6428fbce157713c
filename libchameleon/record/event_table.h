// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The distinct events of a rank: (call, call path, values), each once and known by a number.
/// Programs repeat themselves, so an event is first compared with what followed the one before
/// it the last time; only if that fails it is hashed and looked up, and only if it is new it is
/// stored. Numbers hold until `clear`, which begins a new *generation*: number and generation
/// together are never used twice.
///
/// An event may have a *key*: what its values were made from. `expect` compares the keys of two
/// events, the one that followed last time and the last one of the same call path, with one not
/// encoded yet. Events get keys when they come again: those that never do take no space for it.
///
/// Cost: a comparison of the key or the values where the guess is right (a few ns), otherwise a
/// hash and a comparison (some 20 ns); no allocation but to grow.

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "base/hash.h"

namespace chameleon::record {

class EventTable {
 public:
  struct Entry {
    std::uint64_t path = 0;  ///< stack signature
    std::uint64_t hash = 0;
    std::uint32_t first = 0;  ///< of its values
    std::uint32_t next = 0;   ///< what came after it the last time
    std::uint32_t key = 0;    ///< its key's place and kKeyed, or how often it came without one
    std::uint16_t call = 0;
    std::uint16_t count = 0;
  };
  static constexpr std::uint32_t kNone = UINT32_MAX;

  /// The number of an event that comes after the one this was last asked for.
  std::uint32_t find(std::uint16_t call, std::uint64_t path, const std::int64_t* values,
                     std::size_t count) {
    const std::uint32_t guess = last_ < entries_.size() ? entries_[last_].next : 0;
    if (guess < entries_.size() && is(entries_[guess], call, path, values, count)) [[likely]]
      return last_ = guess;
    return look_up(call, path, values, count);
  }

  /// The event whose key `has_key(key)` accepts, which comes next, or `kNone`.
  template <class HasKey>
  [[gnu::always_inline]] std::uint32_t expect(std::uint16_t call, std::uint64_t path,
                                              HasKey has_key) {
    if (entries_.empty()) return kNone;
    std::uint32_t& next = entries_[last_].next;
    std::uint32_t guess = next;
    for (bool again = false;; again = true) {
      const Entry& entry = entries_[guess];
      if (entry.path == path && entry.call == call && entry.key >= kKeyed &&
          has_key(&keys_[entry.key - kKeyed]))
        break;
      if (again) return kNone;
      guess = by_path_[path % kPaths];
      if (guess >= entries_.size()) return kNone;
    }
    return last_ = next = guess;
  }
  /// This is an event's key now, of as many elements as others of its call.
  void learn_key(std::uint32_t number, std::span<const std::int64_t> key);

  const Entry& operator[](std::uint32_t number) const { return entries_[number]; }
  std::span<const std::int64_t> values(const Entry& entry) const {
    return {values_.data() + entry.first, entry.count};
  }
  std::size_t size() const { return entries_.size(); }
  std::uint32_t generation() const { return generation_; }
  std::size_t bytes() const {
    return entries_.size() * sizeof(Entry) +
           (values_.size() + keys_.size()) * sizeof(std::int64_t) +
           places_.size() * sizeof(std::uint32_t);
  }

  /// Forgets all events.
  void clear();

 private:
  static constexpr std::size_t kPaths = 256;
  static constexpr std::uint32_t kKeyed = 2;

  bool is(const Entry& entry, std::uint16_t call, std::uint64_t path, const std::int64_t* values,
          std::size_t count) const {
    if (entry.path != path || entry.call != call || entry.count != count) return false;
    const std::int64_t* known = values_.data() + entry.first;
    // Without a branch a value, which the processor then compares several at a time.
    std::int64_t differs = 0;
    for (std::size_t i = 0; i < count; ++i) differs |= known[i] ^ values[i];
    return differs == 0;
  }
  std::uint32_t look_up(std::uint16_t call, std::uint64_t path, const std::int64_t* values,
                        std::size_t count);
  void place(std::uint32_t number);
  void grow();

  std::vector<Entry> entries_;
  std::vector<std::int64_t> values_;
  std::vector<std::int64_t> keys_;
  std::array<std::uint32_t, kPaths> by_path_{};  ///< the last event with a key
  std::vector<std::uint32_t> places_;            ///< open addressing: number + 1, at most half full
  std::uint32_t last_ = 0;
  std::uint32_t generation_ = 1;
};

}  // namespace chameleon::record
