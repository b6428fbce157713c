// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Which loops of two sets of ranks are one loop of the program, though their bodies differ. Loops
/// that ran equally often and execute the same call at the same call path are. At the top of a
/// trace, so are the only loops of the two lists with that number of iterations in which both
/// execute more than three quarters of their calls: the time loop of ranks that have nothing else
/// in common. Loops are paired in order, so that pairs share as many call paths as possible.
///
/// Cost: O(events of the bodies + pairs of loops x call paths). Beyond kMostPairs pairs, only the
/// next loops of the other list are considered.

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
