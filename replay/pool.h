// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Memory for buffers and arrays, in blocks of powers of two that are kept for the next taker, so
/// a steady program allocates once. A new block is filled with fixed-seed random bytes that are
/// harmless as any type (as floating point: small and normal). `take` and release are O(1) after
/// that. Blocks return themselves; the pool must outlive them.

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/rooms.h"

namespace chameleon::replay {

class Pool {
 public:
  /// A piece of memory, aligned to 64 bytes; empty if there was none to be had.
  class Block {
   public:
    Block() = default;
    Block(Block&& other) noexcept { *this = std::move(other); }
    Block& operator=(Block&& other) noexcept {
      std::swap(pool_, other.pool_);
      std::swap(data_, other.data_);
      std::swap(order_, other.order_);
      return *this;
    }
    ~Block() {
      if (data_ != nullptr) pool_->free_[order_].push_back(data_);
    }
    char* data() const { return data_; }

   private:
    friend class Pool;
    Block(Pool* pool, char* data, unsigned order) : pool_(pool), data_(data), order_(order) {}
    Pool* pool_ = nullptr;
    char* data_ = nullptr;
    unsigned order_ = 0;
  };

  Pool() = default;
  Pool(const Pool&) = delete;
  ~Pool();

  Block take(std::uint64_t bytes);

 private:
  static constexpr unsigned kOrders = 48;
  std::array<std::vector<char*>, kOrders> free_;
};

}  // namespace chameleon::replay
