// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// How much memory the library has allocated with `new`: its own operator new and delete, hidden in
/// the shared library, count bytes in a header of 16 before each block (memory.cpp; asking the
/// allocator is not possible, it may be the application's). Allocations that bypass them are not
/// counted: zstd's buffers while a commit is written, and libunwind.

#include <cstdint>

#include "base/rooms.h"

namespace chameleon::inline base {

/// Bytes allocated now, and the most there were.
struct MemoryUse {
  std::uint64_t now = 0, most = 0;
};
MemoryUse memory_use();

/// How much may be allocated while a rank takes in another one's trace; set once, at the start.
void allow_for_merging(std::uint64_t bytes);

/// While one of these lives, and there is one at a time, `new` in its thread throws std::bad_alloc
/// beyond that.
class MergeBound {
 public:
  MergeBound();
  ~MergeBound();
  MergeBound(const MergeBound&) = delete;
  MergeBound& operator=(const MergeBound&) = delete;
};

/// From now on `new` takes memory from the kernel alone, and nothing is given back: in a child made
/// by fork() while other threads ran, where a lock of the allocator may be held for ever. Its
/// memory is a copy of the process's, and ends with it.
void take_memory_from_kernel();

/// For memory.cpp: counts `size` bytes more; false, and nothing is counted, if they are beyond a
/// bound.
bool count_allocated(std::uint64_t size);
void count_released(std::uint64_t size);

}  // namespace chameleon::inline base
