// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// A vote of an MpiWorld under way: how far it has come on this rank, and this rank's part of its
/// result. It is small enough to be copied, and needs no allocation.

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "base/rooms.h"

namespace chameleon::world {

struct SmallVote {
  /// Bytes of a vote at most, and of the message that says that one is lost.
  static constexpr std::size_t kMost = 304, kLost = 5;
  using Message = std::array<std::uint8_t, kMost>;
  using Combine = void (*)(void* mine, const void* theirs);

  int tag = 0, next_tag = 0;
  std::size_t size = 0;
  Combine combine = nullptr;
  double begin = 0, timeout = 0;  ///< of waiting
  std::uint32_t missing = 0;      ///< who did not come, if it is lost
  std::uint32_t heard = 0;        ///< how many children
  bool lost = false, sent = false, over = true;
  Message value{};

  void lose(std::uint32_t rank) {
    if (!std::exchange(lost, true)) missing = rank;
  }
  template <class T>
  void set(const T& from) {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= kMost && sizeof(T) != kLost);
    std::memcpy(value.data(), &from, sizeof(T));
  }
  template <class T>
  void get(T& to) const {
    std::memcpy(&to, value.data(), sizeof(T));
  }
};

/// combine(T& mine, T&& theirs) of values as they are in messages. It has no state: the vote
/// continues after its caller has returned.
template <class T, class C>
SmallVote::Combine combine_messages(C) {
  static_assert(std::is_empty_v<C>);
  return [](void* mine, const void* theirs) {
    T sum, copy;
    std::memcpy(&sum, mine, sizeof(T));
    std::memcpy(&copy, theirs, sizeof(T));
    C{}(sum, std::move(copy));
    std::memcpy(mine, &sum, sizeof(T));
  };
}

}  // namespace chameleon::world
