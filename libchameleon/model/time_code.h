// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// A duration as a small number: the nanoseconds themselves below 2^bits, above that `bits`
/// significant bits after the first and an exponent, so that like durations become one value and
/// fold. The code rises with the duration, what it decodes to differs from ns by at most
/// ns / 2^(bits + 1), and any number decodes to something. A few bit operations each.

#include <bit>
#include <cstdint>

#include "base/rooms.h"

namespace chameleon::inline model {

template <int bits>
constexpr std::int64_t encode_ns(std::uint64_t ns) {
  constexpr std::int64_t kSteps = std::int64_t{1} << bits;  // an octave
  if (ns < kSteps) return static_cast<std::int64_t>(ns);
  const int shift = std::bit_width(ns) - bits - 1;
  return kSteps + kSteps * shift + static_cast<std::int64_t>((ns >> shift) & (kSteps - 1));
}

// The middle of a step is at most half a step away.
template <int bits>
constexpr std::uint64_t decode_ns(std::int64_t code) {
  constexpr std::int64_t kSteps = std::int64_t{1} << bits;
  if (code < kSteps) return code < 0 ? 0 : static_cast<std::uint64_t>(code);
  const std::int64_t shift = (code - kSteps) / kSteps;
  if (shift > 63 - bits) return UINT64_MAX;
  const auto low = static_cast<std::uint64_t>(kSteps + (code & (kSteps - 1))) << shift;
  return low + (shift > 0 ? std::uint64_t{1} << (shift - 1) : 0);
}

/// Code of one duration, within ns / 128.
constexpr std::int64_t encode_time(std::uint64_t ns) { return encode_ns<6>(ns); }
constexpr std::uint64_t decode_time(std::int64_t code) { return decode_ns<6>(code); }
/// Code of a sum, within ns / 2048.
constexpr std::int64_t encode_sum(std::uint64_t ns) { return encode_ns<10>(ns); }
constexpr std::uint64_t decode_sum(std::int64_t code) { return decode_ns<10>(code); }

}  // namespace chameleon::inline model
