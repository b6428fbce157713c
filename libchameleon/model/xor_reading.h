// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// A partner read as the bits in which its rank differs from this rank of the world, as partners in
/// hypercubes and butterflies are told. Its rank is that in the event's communicator, whichever it
/// is: from a rank of the world and the bits, the partner follows.

#include <cstdint>
#include <optional>

#include "model/end_point.h"
#include "model/value_sequence.h"

namespace chameleon::inline model {

/// Of a partner as recorded; what is no rank stays as it is.
constexpr std::int64_t xor_reading(std::int64_t packed, std::int64_t rank) {
  const std::int32_t absolute = packed_absolute(packed);
  return absolute < 0 ? packed : absolute ^ rank;
}

/// The partners that `rank` has where those of `lead` are `packed`, as absolute end-points. Nothing
/// where one would be no rank of `size`. O(terms, and partners in progressions).
std::optional<ValueSequence> move_by_xor(const ValueSequence& packed, std::int64_t lead,
                                         std::int64_t rank, std::int64_t size);

}  // namespace chameleon::inline model
