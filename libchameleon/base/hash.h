// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// 64-bit mixing. Stable across processes, builds and machines of one byte
/// order, so that a hash may travel between ranks and be written to a file.

#include <cstddef>
#include <cstdint>

#include "base/rooms.h"

namespace chameleon::inline base {

/// A bijective finalizer (the `fmix64` of MurmurHash3, public domain).
constexpr std::uint64_t mix(std::uint64_t x) {
  x ^= x >> 33;
  x *= 0xff51afd7ed558ccdULL;
  x ^= x >> 33;
  x *= 0xc4ceb9fe1a85ec53ULL;
  return x ^ (x >> 33);
}

/// Order-sensitive combination of a running hash with one more value.
constexpr std::uint64_t combine(std::uint64_t seed, std::uint64_t value) {
  return mix(seed * 0x9e3779b97f4a7c15ULL + mix(value) + 0x2545f4914f6cdd1dULL);
}

/// Hash of `size` bytes (XXH3, 64 bits).
std::uint64_t hash_bytes(const void* data, std::size_t size);

}  // namespace chameleon::inline base
