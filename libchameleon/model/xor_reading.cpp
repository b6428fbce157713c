// SPDX-License-Identifier: BSD-3-Clause
#include "model/xor_reading.h"

#include <utility>

namespace chameleon::inline model {

std::optional<ValueSequence> move_by_xor(const ValueSequence& packed, std::int64_t lead,
                                         std::int64_t rank, std::int64_t size) {
  bool moved = true;
  ValueSequence values = packed.map_linear([&](std::int64_t start, std::int64_t stride) {
    const std::int64_t absolute = packed_absolute(start);
    const std::int64_t partner = absolute < 0 ? absolute : absolute ^ lead ^ rank;
    moved = moved && stride == 0 && partner < size;
    return std::pair<std::int64_t, std::int64_t>(partner, 0);
  });
  if (!moved) return std::nullopt;
  return values;
}

}  // namespace chameleon::inline model
