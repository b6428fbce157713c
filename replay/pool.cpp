// SPDX-License-Identifier: BSD-3-Clause
#include "replay/pool.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>

#include "base/hash.h"
#include "replay/guard.h"

namespace chameleon::replay {
namespace {

constexpr unsigned kSmallest = 6;  // 64 bytes
/// Longer memory repeats its begin.
constexpr std::uint64_t kPattern = std::uint64_t{1} << 22;

/// 0x3f in every eighth byte and zero in its neighbour make any aligned float or double normal and
/// small; the rest is random, so that nothing compresses or shares it.
void fill(char* data, std::uint64_t bytes) {
  std::uint64_t state = 1;
  const std::uint64_t first = std::min(bytes, kPattern);
  for (std::uint64_t at = 0; at < first; at += 8) {
    state += 0x9e3779b97f4a7c15ULL;
    const std::uint64_t word = (mix(state) & 0x007fffff007fffffULL) | 0x3f0000003f000000ULL;
    std::memcpy(data + at, &word, std::min<std::uint64_t>(8, first - at));
  }
  for (std::uint64_t at = first; at < bytes; at += kPattern)
    std::memcpy(data + at, data, std::min(kPattern, bytes - at));
}

}  // namespace

Pool::~Pool() {
  for (std::vector<char*>& blocks : free_)
    for (char* block : blocks) std::free(block);
  for (const Large& large : large_) munmap(large.data, large.bytes);
}

Pool::Block Pool::take(std::uint64_t bytes, Use use) {
  if (guarded_) {
    char* data = take_guarded(bytes);
    if (data == nullptr) return {};
    if (use != Use::kRoom || bytes < kLarge) fill(data, bytes);
    return {this, data, bytes, nullptr, use == Use::kOwn};
  }
  if (bytes > kLarge) return take_large(bytes, use);
  unsigned order = bytes <= 1 ? 0 : static_cast<unsigned>(std::bit_width(bytes - 1));
  if (order < kSmallest) order = kSmallest;
  const std::uint64_t size = std::uint64_t{1} << order;
  std::vector<char*>& blocks = free_[order];
  if (!blocks.empty()) {
    char* data = blocks.back();
    blocks.pop_back();
    return {this, data, size};
  }
  auto* data = static_cast<char*>(std::aligned_alloc(64, size));
  if (data == nullptr) return {};
  fill(data, size);
  return {this, data, size};
}

/// Memory that is not touched is only an address.
Pool::Block Pool::take_large(std::uint64_t bytes, Use use) {
  const bool shares = use != Use::kOwn;
  if (!shares || shared_ == nullptr || shared_->bytes < bytes) {
    void* data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (data == MAP_FAILED) return {};
    Large* const before = shares ? shared_ : nullptr;
    large_.push_back({static_cast<char*>(data), bytes, 0, 0});
    if (shares) shared_ = &large_.back();
    if (before != nullptr && before->users == 0) drop(*before);
  }
  Large& large = shares ? *shared_ : large_.back();
  if (use != Use::kRoom && large.filled < bytes) {
    fill(large.data, bytes);
    large.filled = bytes;
  }
  ++large.users;
  return {this, large.data, bytes, &large};
}

void Pool::give_back(Block& block) {
  // MPICH over UCX may write 8 bytes before the memory of a window.
  if (guarded_) return give_back_guarded(block.data_, block.bytes_, !block.lent_);
  if (block.large_ == nullptr)
    return free_[static_cast<unsigned>(std::bit_width(block.bytes_ - 1))].push_back(block.data_);
  if (--block.large_->users == 0 && block.large_ != shared_) drop(*block.large_);
}

void Pool::drop(Large& large) {
  munmap(large.data, large.bytes);
  large_.remove_if([&](const Large& one) { return &one == &large; });
}

}  // namespace chameleon::replay
