// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Earlier positions of the endings of a list: an index from a key to positions, latest first. It
/// is a stack like the list itself: entries of nodes that are cut off the list are removed, so
/// every entry is a position in the current list. Nothing is evicted, and the result does not
/// depend on the values of keys.
///
/// Cost: O(1) to insert and to remove an entry. Memory: 16 bytes for each entry, and 16 bytes for
/// each of at most four times as many cells as there are distinct keys (at least 256).

#include <cstdint>
#include <vector>

#include "base/hash.h"

namespace chameleon::compress {

class TailIndex {
 public:
  TailIndex() { clear(); }

  void clear() {
    entries_.clear();
    cells_.assign(kFewestCells, Cell{});
    used_ = 0;
  }

  /// `position` is at least that of every entry present. Gives how many there are of the key now.
  std::uint32_t remember(std::uint64_t key, std::uint32_t position) {
    Cell* cell = &this->cell(key);
    if (cell->latest == kNever) {
      if (2 * (used_ + 1) > cells_.size()) {
        rehash();
        cell = &this->cell(key);
      }
      ++used_;
      *cell = {key, kNone, 0};
    }
    if (cell->latest != kNone && entries_[cell->latest].position == position) return cell->count;
    entries_.push_back({key, position, cell->latest});
    cell->latest = static_cast<std::uint32_t>(entries_.size() - 1);
    return ++cell->count;
  }

  /// Takes out the entries from `position` on.
  void cut(std::uint32_t position) {
    while (!entries_.empty() && entries_.back().position >= position) {
      Cell& cell = this->cell(entries_.back().key);
      cell.latest = entries_.back().before;
      --cell.count;
      entries_.pop_back();
    }
  }

  enum class Found : std::uint8_t { kNone, kNoneOfLatest, kOne };
  /// Calls f(position), the latest first, until one is true: at most `most` times.
  template <class F>
  Found find(std::uint64_t key, int most, F f) const {
    std::uint32_t at = const_cast<TailIndex*>(this)->cell(key).latest;
    for (; at < kNever && most > 0; --most) {
      const Entry& entry = entries_[at];
      at = entry.before;
      if (f(entry.position)) return Found::kOne;
    }
    return at < kNever ? Found::kNoneOfLatest : Found::kNone;
  }

  std::size_t memory_bytes() const {
    return entries_.capacity() * sizeof(Entry) + cells_.capacity() * sizeof(Cell);
  }

 private:
  static constexpr std::size_t kFewestCells = 256;
  static constexpr std::uint32_t kNone = UINT32_MAX;       ///< a key without entries
  static constexpr std::uint32_t kNever = UINT32_MAX - 1;  ///< a cell without a key
  struct Entry {
    std::uint64_t key;
    std::uint32_t position, before;
  };
  struct Cell {
    std::uint64_t key = 0;
    std::uint32_t latest = kNever;
    std::uint32_t count = 0;
  };

  /// The cell of a key, or the empty one where it belongs.
  Cell& cell(std::uint64_t key) {
    std::size_t at = mix(key) & (cells_.size() - 1);
    while (cells_[at].latest != kNever && cells_[at].key != key)
      at = (at + 1) & (cells_.size() - 1);
    return cells_[at];
  }

  /// Keys without entries go; more cells where there are many with.
  void rehash() {
    std::size_t keys = 0;
    for (const Cell& cell : cells_) keys += cell.latest < kNever ? 1 : 0;
    std::size_t size = kFewestCells;
    while (size < 4 * keys) size *= 2;
    std::vector<Cell> old(size);
    old.swap(cells_);
    used_ = keys;
    for (const Cell& cell : old)
      if (cell.latest < kNever) this->cell(cell.key) = cell;
  }

  std::vector<Entry> entries_;
  std::vector<Cell> cells_;  ///< a power of two of them, at least half without a key
  std::size_t used_ = 0;     ///< cells with a key
};

}  // namespace chameleon::compress
