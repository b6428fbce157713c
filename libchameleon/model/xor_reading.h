// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// A partner as the bits in which its rank differs from this rank of the world, as in hypercubes
/// and butterflies. Its rank is that in the event's communicator: the partner follows from a rank
/// of the world and the bits.

#include <cstdint>
#include <optional>

#include "model/end_point.h"
#include "model/value_sequence.h"

namespace chameleon::inline model {

/// The reading of a partner as recorded; a value that is no rank stays unchanged.
constexpr std::int64_t xor_reading(std::int64_t packed, std::int64_t rank) {
  const std::int32_t absolute = packed_absolute(packed);
  return absolute < 0 ? packed : absolute ^ rank;
}

/// The partners that `rank` has where those of `lead` are `packed`, as absolute end-points. Nothing
/// where one would be no rank of `size`. O(terms, and partners in progressions).
std::optional<ValueSequence> move_by_xor(const ValueSequence& packed, std::int64_t lead,
                                         std::int64_t rank, std::int64_t size);

}  // namespace chameleon::inline model
