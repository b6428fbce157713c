// SPDX-License-Identifier: BSD-3-Clause
#include "allocation_count.h"

#include <malloc.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace {

bool g_counts = false;
std::int64_t g_now = 0, g_most = 0, g_bound = INT64_MAX;

}  // namespace

namespace chameleon::tools {

AllocationBound::AllocationBound(std::uint64_t most) {
  g_now = 0;
  g_bound = static_cast<std::int64_t>(std::min<std::uint64_t>(most, INT64_MAX));
  g_counts = true;
}
AllocationBound::~AllocationBound() {
  g_counts = false;
  g_bound = INT64_MAX;
}

AllocationCount::AllocationCount() {
  g_now = g_most = 0;
  g_counts = true;
}
AllocationCount::~AllocationCount() { g_counts = false; }

std::int64_t AllocationCount::now() const { return g_now; }
void AllocationCount::begin() { g_most = g_now; }
std::int64_t AllocationCount::most() const { return g_most; }

}  // namespace chameleon::tools

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
// The forms for arrays call these. What was allocated before the count began may be released in it.
void* operator new(std::size_t size) {
  if (g_counts && g_bound != INT64_MAX &&
      (size > INT64_MAX / 2 || g_now > g_bound - static_cast<std::int64_t>(size))) [[unlikely]]
    throw std::bad_alloc();
  void* block = std::malloc(size == 0 ? 1 : size);
  if (block == nullptr) throw std::bad_alloc();
  if (g_counts) [[unlikely]] {
    g_now += static_cast<std::int64_t>(::malloc_usable_size(block));
    if (g_now > g_most) g_most = g_now;
  }
  return block;
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  try {
    return ::operator new(size);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
void operator delete(void* block) noexcept {
  if (g_counts) [[unlikely]]
    g_now -= static_cast<std::int64_t>(::malloc_usable_size(block));
  std::free(block);
}
void operator delete(void* block, std::size_t) noexcept { ::operator delete(block); }
#endif
