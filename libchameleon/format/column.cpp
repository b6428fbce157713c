// SPDX-License-Identifier: BSD-3-Clause
#include "format/column.h"

namespace chameleon::format::column {
namespace {

void write_block(ByteWriter& out, std::span<const std::int64_t> numbers, std::uint64_t& base) {
  const auto [least, most] = std::minmax_element(numbers.begin(), numbers.end());
  const auto low = static_cast<std::uint64_t>(*least);
  int width = std::bit_width(static_cast<std::uint64_t>(*most) - low), shift = 0;
  if (width > 0) {
    std::uint64_t any = 0;
    for (const std::int64_t number : numbers) any |= static_cast<std::uint64_t>(number) - low;
    // Worth its byte.
    if (static_cast<std::size_t>(std::countr_zero(any)) * numbers.size() > 8)
      shift = std::countr_zero(any);
  }
  width -= shift;
  out.svarint(static_cast<std::int64_t>(low - base));
  out.u8(static_cast<std::uint8_t>(width + (shift > 0 ? kShifted : 0)));
  if (shift > 0) out.u8(static_cast<std::uint8_t>(shift));
  base = low;
  unsigned held = 0;  // bits of a byte that is not full yet
  int have = 0;
  for (const std::int64_t number : numbers) {
    std::uint64_t offset = (static_cast<std::uint64_t>(number) - low) >> shift;
    for (int left = width; left > 0;) {
      const int taken = std::min(8 - have, left);
      held |= static_cast<unsigned>(offset & ((1U << taken) - 1)) << have;
      offset >>= taken;
      left -= taken;
      have += taken;
      if (have < 8) continue;
      out.u8(static_cast<std::uint8_t>(held));
      held = 0;
      have = 0;
    }
  }
  if (have != 0) out.u8(static_cast<std::uint8_t>(held));
}

}  // namespace

Encoded encode(std::span<const std::int64_t> numbers) {
  const auto exactly = [](ByteWriter& writer, bool packed) {
    Bytes bytes = writer.take();
    bytes.shrink_to_fit();
    return Encoded{packed, std::move(bytes)};
  };
  ByteWriter packed;
  std::uint64_t base = 0;
  for (std::size_t i = 0; i < numbers.size(); i += kBlock)
    write_block(packed, numbers.subspan(i, std::min(kBlock, numbers.size() - i)), base);
  // A sequence that takes far more memory than the other form has bytes, so far, is none.
  constexpr std::size_t kLook = 4096, kTimes = 16;
  const double each = static_cast<double>(packed.bytes().size()) /
                      static_cast<double>(std::max<std::size_t>(1, numbers.size()));
  ValueSequence sequence;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    sequence.append(numbers[i]);
    if (i % kLook != kLook - 1) continue;
    const auto so_far = static_cast<std::size_t>(each * static_cast<double>(i));
    if (sequence.memory_bytes() > kTimes * (so_far + 4 * kLook)) return exactly(packed, true);
  }
  ByteWriter regular;
  sequence.encode(regular);
  if (packed.bytes().size() < regular.bytes().size()) return exactly(packed, true);
  return exactly(regular, false);
}

void write(ByteWriter& out, std::span<const std::int64_t> numbers) {
  const Encoded encoded = encode(numbers);
  out.u8(encoded.packed ? 1 : 0);
  out.raw(encoded.bytes);
}

}  // namespace chameleon::format::column
