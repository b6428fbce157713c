// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Values whose order is chance, in nearly as few bits as their entropy: the order in which the
/// messages of a step complete, for example, is another permutation each time. Terms of a value
/// sequence need about three times as much.
///
/// A value is coded as its place in a list of the different values, the one used last in front
/// (Bentley et al. 1986). In permutations of k values the i-th thus has one of k - i places. Places
/// are unary, each bit with an adaptive probability, by a range coder (Martin 1979). The
/// probabilities depend on the place of the value before, or on the position in a period.
///
/// Cost: O(places) for each value, about 0.1 us. The format's page describes the coding.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/bytes.h"

namespace chameleon::inline model {

struct CodedValues {
  static constexpr std::uint64_t kMost = 1U << 16;  ///< values
  static constexpr std::uint64_t kMostDistinct = 64;
  /// The sum of values times different values, of all that a reader or writer of a section codes.
  static constexpr std::uint64_t kMostWork = ByteReader::kMostCoded;
  /// The most values that a reader accepts in a string of bytes.
  static constexpr std::uint64_t most_in(std::uint64_t bytes) { return 64 + 16 * bytes; }

  std::vector<std::int64_t> distinct;  ///< in the order of their first use
  std::uint64_t period = 0;  ///< on whose positions probabilities depend; 0: on the place before
  Bytes bytes;

  /// Codes values, of which there are 2 to kMost; nothing if fewer than 2 or too many
  /// are distinct.
  static std::optional<CodedValues> encode(std::span<const std::int64_t> values);
  /// The `count` values; any bytes give some.
  std::vector<std::int64_t> decode(std::uint64_t count) const;
};

}  // namespace chameleon::inline model
