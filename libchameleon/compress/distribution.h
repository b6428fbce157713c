// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Bounds the memory of parameter values in a trace. If values differ at each step, on each rank,
/// they do not repeat and the trace grows with the run. Beyond a limit the longest sequences become
/// *distributions*: as many values, in ascending order, with the exact least and greatest value and
/// the exact number in each of some ranges, but without their order. The nodes declare that, by
/// rank and kind. Calls, iterations, objects and partners stay exact.
///
/// Cost: a walk over the trace; O(values) for sequences that become distributions.

#include <cstddef>

#include "model/trace.h"

namespace chameleon::compress {

/// Ranges of a distribution, at most.
inline constexpr std::size_t kMostRanges = 32;

/// As many values as `values`, ascending, with its least and greatest. Negative values, which
/// mostly are not amounts but names, stay what they are as long as there are fewer than ranges.
ValueSequence distribution(const ValueSequence& values);

/// Makes distributions of parameters' values, the longest first, until those that can be take at
/// most half of `most_bytes`, if they take more than all of it. Gives how many parameters changed.
std::size_t limit_values(Trace& trace, std::size_t most_bytes);
/// The memory of the values that it bounds.
std::size_t value_bytes(Trace& trace);

}  // namespace chameleon::compress
