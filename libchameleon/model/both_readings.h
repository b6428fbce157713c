// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// End-points known both ways, absolute * 2^32 + relative, as fewer bytes: eight a value are five
/// or fewer. Where the caller's rank in the communicator is `self`, most have absolute - relative =
/// self, so that (1 - 2^32) * value - self * 2^32 is the relative reading alone. Modulo 2^64 that
/// can be undone whatever the values are: (1 - 2^32) * (1 + 2^32) = 1.

#include <cstdint>
#include <optional>

#include "model/value_sequence.h"

namespace chameleon::inline model {

struct BothReadings {
  std::int64_t self = 0;  ///< as most of the first partners say
  ValueSequence values;

  /// Nothing where these are no shorter, as far as the first ones tell. O(terms).
  static std::optional<BothReadings> of(const ValueSequence& values);
  /// The values they were made from. O(terms).
  ValueSequence undone() const;
};

}  // namespace chameleon::inline model
