// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// What earlier walks over the stack found, by where they began. A walk is a function of the
/// program counter, rsp and rbp it starts from and of the words it reads. So with equal rsp and
/// call site, equal rbp where an unsaved one was used, and each word equal to what the walk read
/// there, it would find the same frames again. `find` compares the words *in the order of the
/// walk*, those of a page at once, and stops at the first page with one that differs: up to there
/// a walk would read the very same addresses, so no page is touched that a walk would not touch,
/// even if the stack of the earlier walk has been unmapped or has become another thread's. Not
/// covered: that code at one address became other code, and what interpreters run (`Dependence`).
///
/// Two places per (call site, rsp), `kSets` sets, some 1 MiB of which only what is used becomes
/// resident. No allocation but in `make`. Cost of a hit: 0.4 ns a word.

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "base/rooms.h"

namespace chameleon::callpath {

/// Where a walk begins: the present frame.
struct Registers {
  std::uintptr_t pc;
  std::uintptr_t sp;
  std::uintptr_t bp;
};

/// A word of the stack that a walk read.
struct StackWord {
  std::uintptr_t address;
  std::uint64_t value;
};

/// Reads the stack as it lies there, also between the variables of sanitized functions.
#define CHAMELEON_READS_STACK [[gnu::no_sanitize("address", "thread")]]

CHAMELEON_READS_STACK inline std::uint64_t read_word(std::uintptr_t address) {
  std::uint64_t word;
  std::memcpy(&word, reinterpret_cast<const void*>(address), sizeof word);
  return word;
}

class StackMemo {
 public:
  /// Walks that read more words are not remembered: 114 frames, 57 where rbp chains them.
  static constexpr std::size_t kMostWords = 117;
  static constexpr std::size_t kSets = 256;
  static constexpr std::uint8_t kManyMisses = 7;

  /// What an answer may change with although the words are the same.
  enum Dependence : std::uint8_t {
    kOnLoader = 1,  ///< a module on the path may be unloaded
    kOnPython = 2,  ///< an interpreter is on the stack; `signature` is a number of PythonPaths
  };

  struct Slot {
    void* call_site;
    std::uint32_t generation;  ///< of the memo when it was filled; 0: never
    std::uint32_t count;
    std::uint64_t signature;
    Registers start;
    bool uses_bp;                       ///< the walk used rbp before any frame restored it
    std::uint8_t depends;               ///< on more than the words: `Dependence`, added up
    std::uint8_t ends[kMostWords + 8];  ///< of the words that share a page with those before
    StackWord words[kMostWords];
  };

  struct Free {
    void operator()(StackMemo* memo) const { std::free(memo); }
  };
  using Pointer = std::unique_ptr<StackMemo, Free>;

  /// An empty memo, or null. All zero, so that no page is touched.
  static Pointer make() {
    auto* const memo = static_cast<StackMemo*>(std::calloc(1, sizeof(StackMemo)));
    if (memo != nullptr) memo->generation_ = 1;
    return Pointer(memo);
  }

  /// The earlier walk that a walk from here would repeat, or null.
  const Slot* find(void* call_site, const Registers& here) {
    const std::size_t set = set_of(call_site, here.sp);
    Use& use = uses_[set];
    for (std::uint8_t i = 0; i < 2; ++i) {
      const Slot& slot = slots_[2 * set + (use.recent ^ i)];
      if (!matches(slot, call_site, here)) continue;
      if (i != 0) use.recent ^= 1;
      use.misses = 0;
      return &slot;
    }
    return nullptr;
  }

  /// A slot for a walk that begins here; it counts once it is filled. Null where walks from here
  /// are seldom repeated, so that remembering them does not pay: but for every eighth.
  Slot* replace(void* call_site, const Registers& here) {
    const std::size_t set = set_of(call_site, here.sp);
    Use& use = uses_[set];
    if (++use.misses > kManyMisses && use.misses % 8 != 0) return nullptr;
    if (slots_[2 * set + use.recent].generation == generation_) use.recent ^= 1;
    Slot& slot = slots_[2 * set + use.recent];
    slot.generation = 0;
    return &slot;
  }

  /// Makes a slot, whose other members are set, one to be found.
  void fill(Slot& slot, void* call_site) const {
    std::uint8_t* end = slot.ends;
    for (std::uint32_t i = 1; i <= slot.count; ++i)
      if (i == slot.count || slot.words[i].address / kPage != slot.words[i - 1].address / kPage ||
          (slot.words[i].address + 7) / kPage != slot.words[i].address / kPage)
        *end++ = static_cast<std::uint8_t>(i);
    slot.call_site = call_site;
    slot.generation = generation_;
  }

  void clear() { ++generation_; }

 private:
  static constexpr std::uintptr_t kPage = 4096;  ///< the least there is

  /// Of a set.
  struct Use {
    std::uint8_t recent;  ///< place
    std::uint8_t misses;  ///< since the last hit, modulo 256
  };

  CHAMELEON_READS_STACK bool matches(const Slot& slot, void* call_site,
                                     const Registers& here) const {
    if (slot.call_site != call_site || slot.generation != generation_ || slot.start.sp != here.sp ||
        slot.start.pc != here.pc || (slot.uses_bp && slot.start.bp != here.bp))
      return false;
    const StackWord* word = slot.words;
    for (const std::uint8_t* end = slot.ends;; ++end) {
      const StackWord* const next = slot.words + *end;
      if (differ(word, next)) return false;
      if (*end == slot.count) return true;
      word = next;
    }
  }

  /// Whether a word is not as it was. The stack is read without a branch a word.
  CHAMELEON_READS_STACK [[gnu::always_inline]] static bool differ(const StackWord* word,
                                                                  const StackWord* end) {
    std::uint64_t differs = 0;
    for (; end - word >= 4; word += 4)
      differs |=
          difference(word[0]) | difference(word[1]) | difference(word[2]) | difference(word[3]);
    for (; word != end; ++word) differs |= difference(*word);
    return differs != 0;
  }
  CHAMELEON_READS_STACK static std::uint64_t difference(const StackWord& word) {
    return read_word(word.address) ^ word.value;
  }

  static std::size_t set_of(void* call_site, std::uintptr_t sp) {
    static_assert(kSets == 256);
    const std::uint64_t key =
        (reinterpret_cast<std::uintptr_t>(call_site) ^ sp << 20) * 0x9e3779b97f4a7c15ULL;
    return key >> 56;
  }

  std::uint32_t generation_;
  std::array<Use, kSets> uses_;
  std::array<Slot, 2 * kSets> slots_;
};
static_assert(sizeof(StackMemo::Slot) == 2048, "places are found by a shift");

}  // namespace chameleon::callpath
