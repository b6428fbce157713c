// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Which loops of two sets of ranks are one loop of the program, though their bodies differ. Loops
/// that ran equally often and execute the same call at the same call path are; so are the only
/// loops of the two lists that ran so often, at the top of a trace: the time loop of ranks that
/// have nothing else in common. Of all ways to pair the loops in order, the one in which pairs
/// share the most call paths is taken.
///
/// Cost: O(events of the bodies + pairs of loops x call paths). Beyond kMostPairs pairs, only the
/// next loops of the other list are looked at.

#include <span>
#include <utility>
#include <vector>

#include "model/node.h"

namespace chameleon::compress {

inline constexpr std::size_t kMostPairs = 1U << 14;

/// Places in `a` and in `b`, both ascending. `top`: these lists are the top of a trace.
std::vector<std::pair<std::size_t, std::size_t>> loop_partners(std::span<const Node> a,
                                                               std::span<const Node> b, bool top);

}  // namespace chameleon::compress
