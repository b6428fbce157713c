// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Memory for buffers and arrays. Small blocks are of powers of two and kept for the next taker, so
/// a steady program allocates once. A new block is filled with fixed-seed random bytes that are
/// harmless as any type (as floating point: small and normal). From 64 MiB on, blocks that may be
/// shared are one: all who need at most as much get the largest so far, so that a replay never has
/// more of them than the largest message takes. `take` and release are O(1), but for the filling.
/// Blocks return themselves; the pool must outlive them.
///
/// A guarded pool gives every taker memory of its own with not a byte to spare (guard.h): an
/// untouchable page follows it, and what is written before it shows when it is given back.

#include <array>
#include <cstddef>
#include <cstdint>
#include <list>
#include <utility>
#include <vector>

#include "base/rooms.h"

namespace chameleon::replay {

class Pool {
  struct Large {
    char* data = nullptr;
    std::uint64_t bytes = 0;
    std::uint64_t filled = 0;
    std::uint32_t users = 0;
  };

 public:
  static constexpr std::uint64_t kLarge = std::uint64_t{1} << 26;

  /// A piece of memory, aligned to 64 bytes; empty if there was none to be had.
  class Block {
   public:
    Block() = default;
    Block(Block&& other) noexcept { *this = std::move(other); }
    Block& operator=(Block&& other) noexcept {
      std::swap(pool_, other.pool_);
      std::swap(data_, other.data_);
      std::swap(bytes_, other.bytes_);
      std::swap(large_, other.large_);
      std::swap(lent_, other.lent_);
      return *this;
    }
    ~Block() {
      if (data_ != nullptr) pool_->give_back(*this);
    }
    char* data() const { return data_; }
    /// The memory may be gone once it is given back.
    bool must_be_kept() const { return large_ != nullptr || pool_->guarded_; }

   private:
    friend class Pool;
    Block(Pool* pool, char* data, std::uint64_t bytes, Large* large = nullptr, bool lent = false)
        : pool_(pool), data_(data), bytes_(bytes), large_(large), lent_(lent) {}
    Pool* pool_ = nullptr;
    char* data_ = nullptr;
    std::uint64_t bytes_ = 0;
    Large* large_ = nullptr;
    bool lent_ = false;
  };

  /// How the memory is used.
  enum class Use {
    kOwn,     ///< by this taker alone, maybe lent to MPI
    kShared,  ///< what it holds is of no meaning
    kRoom,    ///< likewise, and much of it may never be touched: a large one is not filled
  };

  Pool() = default;
  Pool(const Pool&) = delete;
  ~Pool();

  /// Before the first block.
  void guard() { guarded_ = true; }
  Block take(std::uint64_t bytes, Use use = Use::kOwn);
  /// Bytes of the largest shared block that was filled.
  std::uint64_t largest() const { return shared_ == nullptr ? 0 : shared_->filled; }

 private:
  static constexpr unsigned kOrders = 27;  ///< up to `kLarge`
  Block take_large(std::uint64_t bytes, Use use);
  void give_back(Block& block);
  void drop(Large& large);

  std::array<std::vector<char*>, kOrders> free_;
  std::list<Large> large_;
  Large* shared_ = nullptr;  ///< for the next who shares
  bool guarded_ = false;
};

}  // namespace chameleon::replay
