// SPDX-License-Identifier: BSD-3-Clause
#include "replay/pool.h"

#include <bit>
#include <cstdlib>
#include <cstring>

#include "base/hash.h"

namespace chameleon::replay {
namespace {

constexpr unsigned kSmallest = 6;  // 64 bytes

/// 0x3f in every eighth byte and zero in its neighbour make any aligned float or double normal and
/// small; the rest is random, so that nothing compresses or shares it.
void fill(char* data, std::uint64_t bytes) {
  std::uint64_t state = 1;
  for (std::uint64_t at = 0; at < bytes; at += 8) {
    state += 0x9e3779b97f4a7c15ULL;
    const std::uint64_t word = (mix(state) & 0x007fffff007fffffULL) | 0x3f0000003f000000ULL;
    std::memcpy(data + at, &word, 8);
  }
}

}  // namespace

Pool::~Pool() {
  for (std::vector<char*>& blocks : free_)
    for (char* block : blocks) std::free(block);
}

Pool::Block Pool::take(std::uint64_t bytes) {
  unsigned order = bytes <= 1 ? 0 : static_cast<unsigned>(std::bit_width(bytes - 1));
  if (order < kSmallest) order = kSmallest;
  if (order >= kOrders) return {};
  std::vector<char*>& blocks = free_[order];
  if (!blocks.empty()) {
    char* data = blocks.back();
    blocks.pop_back();
    return {this, data, order};
  }
  const std::uint64_t size = std::uint64_t{1} << order;
  auto* data = static_cast<char*>(std::aligned_alloc(64, size));
  if (data == nullptr) return {};
  fill(data, bytes);
  return {this, data, order};
}

}  // namespace chameleon::replay
