// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Bytes that this process allocates with `new` while they are counted: one count at a time, of one
/// thread. Otherwise `new` costs a comparison more; the count of the traced process (base/memory.h)
/// would cost every verb a header for each block. With sanitizers, which have a `new` of their
/// own, it counts nothing.

#include "world/virtual_world.h"

namespace chameleon::tools {

/// While one of these lives, `new` throws std::bad_alloc instead of allocating more than `most`
/// bytes at a time. Counts, so there is no AllocationCount beside it.
class AllocationBound {
 public:
  explicit AllocationBound(std::uint64_t most);
  ~AllocationBound();
  AllocationBound(const AllocationBound&) = delete;
  AllocationBound& operator=(const AllocationBound&) = delete;
};

class AllocationCount final : public world::Allocations {
 public:
  AllocationCount();
  ~AllocationCount() override;
  AllocationCount(const AllocationCount&) = delete;
  AllocationCount& operator=(const AllocationCount&) = delete;

  std::int64_t now() const override;
  void begin() override;
  std::int64_t most() const override;
};

}  // namespace chameleon::tools
