// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// From raw stacks (return addresses of this process) to stack signatures:
/// open addressing, linear probing, whole stacks compared, so an answer is
/// never that of another stack. `find` does not allocate. Bounded: when
/// `kMostAddresses` are held (8 MB), everything is forgotten and learnt anew.

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "base/hash.h"

namespace chameleon::callpath {

using RawStack = std::span<void* const>;

/// A hash of addresses as they are, good for one process only: `hash_stack`, or one address after
/// the other.
inline constexpr std::uint64_t kHashOfNoStack = 0x2545f4914f6cdd1dULL;
inline std::uint64_t hash_address(std::uint64_t hash, std::uintptr_t address) {
  return (hash ^ address) * 0xffffffff9e3779b1ULL;  // one instruction: a constant of 32 bits
}

inline std::uint64_t hash_stack(RawStack stack) {
  std::uint64_t hash = kHashOfNoStack;
  for (void* address : stack) hash = hash_address(hash, reinterpret_cast<std::uintptr_t>(address));
  return mix(hash);
}

class RawTable {
 public:
  static constexpr std::size_t kMostAddresses = std::size_t{1} << 20;

  /// The signature stored for `stack` (whose hash is given), or null.
  const std::uint64_t* find(std::uint64_t hash, RawStack stack) const {
    if (slots_.empty()) return nullptr;
    for (std::size_t i = hash & (slots_.size() - 1);; i = (i + 1) & (slots_.size() - 1)) {
      const Slot& slot = slots_[i];
      if (slot.depth == 0) return nullptr;
      if (slot.hash == hash && slot.depth == stack.size() &&
          std::equal(stack.begin(), stack.end(), addresses_.begin() + slot.first))
        return &slot.signature;
    }
  }

  /// Stores the signature of a stack that is not in the table and not empty.
  void insert(std::uint64_t hash, RawStack stack, std::uint64_t signature) {
    if (addresses_.size() + stack.size() > kMostAddresses) clear();
    if ((used_ + 1) * 2 > slots_.size()) grow();
    const auto first = static_cast<std::uint32_t>(addresses_.size());
    addresses_.insert(addresses_.end(), stack.begin(), stack.end());
    place({hash, signature, first, static_cast<std::uint32_t>(stack.size())});
    ++used_;
  }

  void clear() {
    std::fill(slots_.begin(), slots_.end(), Slot{});
    addresses_.clear();
    used_ = 0;
  }

  std::size_t size() const { return used_; }

 private:
  struct Slot {
    std::uint64_t hash = 0;
    std::uint64_t signature = 0;
    std::uint32_t first = 0;
    std::uint32_t depth = 0;  ///< 0: free
  };

  void place(const Slot& slot) {
    std::size_t i = slot.hash & (slots_.size() - 1);
    while (slots_[i].depth != 0) i = (i + 1) & (slots_.size() - 1);
    slots_[i] = slot;
  }

  void grow() {
    std::vector<Slot> old(std::max<std::size_t>(64, slots_.size() * 2));
    old.swap(slots_);
    for (const Slot& slot : old)
      if (slot.depth != 0) place(slot);
  }

  std::vector<Slot> slots_;
  std::vector<void*> addresses_;
  std::size_t used_ = 0;
};

}  // namespace chameleon::callpath
