// SPDX-License-Identifier: BSD-3-Clause
// Counts in libchameleon.so only: libstdc++ is static there and all names are hidden, so that
// these operators are the library's own and never the application's. Elsewhere it knows nothing.
#include "base/memory.h"

#include <cstddef>
#include <cstdlib>
#include <new>

namespace chameleon::inline base {
namespace {

constexpr std::size_t kHeader = alignof(std::max_align_t);
static_assert(kHeader >= sizeof(std::size_t));

[[maybe_unused]] void* allocate(std::size_t size) {
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
  if (pointer == nullptr) return;
  unsigned char* block = static_cast<unsigned char*>(pointer) - kHeader;
  count_released(*reinterpret_cast<std::size_t*>(block));
  std::free(block);
}

}  // namespace

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
