// SPDX-License-Identifier: BSD-3-Clause
// Counts in libchameleon.so only: libstdc++ is static there and all names are hidden, so that
// these operators are the library's own and never the application's. Elsewhere it knows nothing.
#include "base/memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace chameleon::inline base {
namespace {

constexpr std::size_t kHeader = alignof(std::max_align_t);
static_assert(kHeader >= sizeof(std::size_t));

constinit bool g_from_kernel = false;

/// Of a child with one thread.
void* allocate_from_kernel(std::size_t size) {
  constexpr std::size_t kPiece = std::size_t{4} << 20;
  static constinit unsigned char* free_room = nullptr;
  static constinit std::size_t left = 0;
  if (size > SIZE_MAX / 2) return nullptr;
  size = (size + kHeader - 1) / kHeader * kHeader;
  if (size > left) {
    const std::size_t piece = std::max(size, kPiece);
    void* const room =
        ::mmap(nullptr, piece, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (room == MAP_FAILED) return nullptr;
    free_room = static_cast<unsigned char*>(room);
    left = piece;
  }
  left -= size;
  free_room += size;
  return free_room - size;
}

[[maybe_unused]] void* allocate(std::size_t size) {
  if (g_from_kernel) [[unlikely]]
    return allocate_from_kernel(size);
  if (size > SIZE_MAX - kHeader) return nullptr;
  if (!count_allocated(size)) return nullptr;
  auto* block = static_cast<unsigned char*>(std::malloc(size + kHeader));
  if (block == nullptr) {
    count_released(size);
    return nullptr;
  }
  *reinterpret_cast<std::size_t*>(block) = size;
  return block + kHeader;
}

[[maybe_unused]] void release(void* pointer) noexcept {
  if (pointer == nullptr || g_from_kernel) return;
  unsigned char* block = static_cast<unsigned char*>(pointer) - kHeader;
  count_released(*reinterpret_cast<std::size_t*>(block));
  std::free(block);
}

}  // namespace

void take_memory_from_kernel() { g_from_kernel = true; }

}  // namespace chameleon::inline base

#ifndef CHAMELEON_SMPI  // whose ranks share the program's
// The forms for arrays call these.
void* operator new(std::size_t size) {
  for (;;) {
    if (void* block = chameleon::allocate(size)) return block;
    const std::new_handler handler = std::get_new_handler();
    if (handler == nullptr) throw std::bad_alloc();
    handler();
  }
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return chameleon::allocate(size);
}
void operator delete(void* pointer) noexcept { chameleon::release(pointer); }
void operator delete(void* pointer, std::size_t) noexcept { chameleon::release(pointer); }
#endif
