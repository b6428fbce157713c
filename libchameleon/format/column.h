// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// One number for each of many ranks, as bytes. Equal and regular numbers are a value sequence, a
/// few bytes however many; numbers that are merely near each other are packed: blocks of 32, each
/// as wide as the largest distance from its least number needs, in units of the power of two that
/// all distances are multiples of. The file says which it is.

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <span>

#include "base/bytes.h"
#include "model/value_sequence.h"

namespace chameleon::format::column {

inline constexpr std::size_t kBlock = 32;
/// Added to the width of a block whose distances are multiples of a power of two, which follows.
inline constexpr unsigned kShifted = 128;

struct Encoded {
  bool packed = false;
  Bytes bytes;
};
/// The shorter of the two.
Encoded encode(std::span<const std::int64_t> numbers);
/// The same behind a byte that is 1 if it is packed, else 0.
void write(ByteWriter& out, std::span<const std::int64_t> numbers);

/// Reads `count` numbers of a packed column: f(number) for each. False (and a failed reader) on
/// what cannot be one.
template <class F>
bool read_packed(ByteReader& in, std::uint64_t count, F f) {
  std::uint64_t base = 0;
  for (; count != 0 && in.ok(); count -= std::min<std::uint64_t>(count, kBlock)) {
    base += static_cast<std::uint64_t>(in.svarint());
    const unsigned head = in.u8(), width = head % kShifted;
    const unsigned shift = head >= kShifted ? in.u8() : 0;
    const std::uint64_t here = std::min<std::uint64_t>(count, kBlock);
    if (width + shift > 64 || (head >= kShifted && width == 0)) in.fail();
    const std::span<const std::uint8_t> bits = in.raw((here * width + 7) / 8);
    if (!in.ok()) return false;
    for (std::uint64_t i = 0; i < here; ++i) {
      std::uint64_t offset = 0;
      for (std::uint64_t bit = i * width, end = bit + width; bit < end;) {
        const std::uint64_t taken = std::min<std::uint64_t>(8 - bit % 8, end - bit);
        const std::uint64_t part = bits[bit / 8] >> (bit % 8) & ((1U << taken) - 1);
        offset |= part << (bit - i * width);
        bit += taken;
      }
      f(static_cast<std::int64_t>(base + (offset << shift)));
    }
  }
  return in.ok();
}

/// The same of a column of either kind.
template <class F>
bool read(ByteReader& in, bool packed, std::uint64_t count, F f) {
  if (packed) return read_packed(in, count, f);
  ValueSequence numbers;
  if (!in.ok() || !ValueSequence::decode(in, numbers) || numbers.size() != count) {
    in.fail();
    return false;
  }
  for (ValueSequence::Cursor cursor(numbers); !cursor.done();) f(cursor.next());
  return true;
}

/// Reads a column that `write` wrote, as the above.
template <class F>
bool read(ByteReader& in, std::uint64_t count, F f) {
  const std::uint8_t packed = in.u8();
  if (packed > 1) in.fail();
  return read(in, packed == 1, count, f);
}

}  // namespace chameleon::format::column
