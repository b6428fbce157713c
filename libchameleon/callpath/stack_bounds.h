// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The readable memory around a stack pointer, from `/proc/self/maps`: what a walk may touch, so
/// that tables which lie about a frame cost a call path and not the application. The last few
/// stacks are remembered, and asked for again only when none of them holds the stack pointer (a
/// microsecond per mapping, without allocation). What was remembered may have been unmapped since:
/// then it is too generous, and walks are as safe as the unwind tables are right.

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/rooms.h"

namespace chameleon::callpath {

class StackBounds {
 public:
  struct Range {
    std::uintptr_t low = 0;
    std::uintptr_t high = 0;  ///< one past the end; 0: nothing is known to be readable
    bool holds(std::uintptr_t address) const { return address >= low && address < high; }
  };

  /// The range around the stack pointer `sp`; empty if there is none.
  const Range& of(std::uintptr_t sp) noexcept {
    return ranges_[last_].holds(sp) ? ranges_[last_] : find(sp);
  }

 private:
  const Range& find(std::uintptr_t sp) noexcept;

  std::array<Range, 8> ranges_{};
  std::size_t last_ = 0;
  std::size_t next_ = 0;
};

/// The run of readable mappings around `address`, down to the mapping below where it is the main
/// stack, which grows; empty if there is none or `/proc` cannot be read. Keeps `errno`.
StackBounds::Range readable_around(std::uintptr_t address) noexcept;

}  // namespace chameleon::callpath
