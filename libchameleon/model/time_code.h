// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// A duration as a small number: the nanoseconds themselves below 64, above that six significant
/// bits and an exponent, so that like durations become one value and fold. The code rises with the
/// duration, `decode_time(encode_time(ns))` differs from ns by at most ns / 128, and any number
/// decodes to something. A few bit operations each.

#include <bit>
#include <cstdint>

#include "base/rooms.h"

namespace chameleon::inline model {

constexpr std::int64_t encode_time(std::uint64_t ns) {
  if (ns < 64) return static_cast<std::int64_t>(ns);
  const int shift = std::bit_width(ns) - 7;
  // 64 steps an octave; the middle of a step is at most half a step away.
  return 64 + 64 * std::int64_t{shift} + static_cast<std::int64_t>((ns >> shift) & 63);
}

constexpr std::uint64_t decode_time(std::int64_t code) {
  if (code < 64) return code < 0 ? 0 : static_cast<std::uint64_t>(code);
  const std::int64_t shift = (code - 64) / 64;
  if (shift > 57) return UINT64_MAX;
  const std::uint64_t low = (64 + static_cast<std::uint64_t>(code & 63)) << shift;
  return low + (shift > 0 ? std::uint64_t{1} << (shift - 1) : 0);
}

}  // namespace chameleon::inline model
