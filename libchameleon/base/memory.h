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

}  // namespace chameleon::inline base
