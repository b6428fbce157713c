// SPDX-License-Identifier: BSD-3-Clause
#include "model/xor_reading.h"

namespace chameleon::inline model {

std::optional<ValueSequence> move_by_xor(const ValueSequence& packed, std::int64_t lead,
                                         std::int64_t rank, std::int64_t size) {
  bool moved = true;
  ValueSequence values = packed.map_each([&](std::int64_t partner) {
    const std::int64_t absolute = packed_absolute(partner);
    const std::int64_t other = absolute < 0 ? absolute : absolute ^ lead ^ rank;
    moved = moved && other < size;
    return other;
  });
  if (!moved) return std::nullopt;
  return values;
}

}  // namespace chameleon::inline model
