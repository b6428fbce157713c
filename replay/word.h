// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// A word: any argument of an MPI call in one integer, a number as it is, a handle or a pointer by
/// its bits. Thus arguments are decoded by kind at run time, and only the last step, the call
/// itself, knows C types. No cost.

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "base/rooms.h"

namespace chameleon::replay {

using Word = std::int64_t;

template <class T>
Word to_word(T value) {
  if constexpr (std::is_pointer_v<T>) {
    return reinterpret_cast<std::intptr_t>(value);
  } else {
    return static_cast<Word>(value);
  }
}

template <class T>
T from_word(Word word) {
  if constexpr (std::is_pointer_v<T>) {
    return reinterpret_cast<T>(static_cast<std::intptr_t>(word));
  } else {
    return static_cast<T>(word);
  }
}

/// Writes the low `width` (1, 4 or 8) bytes of a word to memory.
inline void write_word(void* to, Word word, unsigned width) {
  if (width == 8) {
    std::memcpy(to, &word, 8);
  } else if (width == 4) {
    const auto narrow = static_cast<std::int32_t>(word);
    std::memcpy(to, &narrow, 4);
  } else {
    *static_cast<char*>(to) = static_cast<char>(word);
  }
}

inline Word read_word(const void* from, unsigned width) {
  if (width == 8) {
    Word word;
    std::memcpy(&word, from, 8);
    return word;
  }
  if (width == 4) {
    std::int32_t narrow;
    std::memcpy(&narrow, from, 4);
    return narrow;
  }
  return *static_cast<const char*>(from);
}

}  // namespace chameleon::replay
