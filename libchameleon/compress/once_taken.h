// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// A loop that some ranks take once at every visit has no loop on them: a worker that is given one
/// task executes the bare body, while others iterate. Before lists of ranks are merged, such a body
/// becomes a loop of one iteration, so that both are one loop with a count for each rank.
///
/// Cost: O(nodes), and for each node that may begin such a body kMostTried comparisons of it.

#include <span>
#include <vector>

#include "model/node.h"

namespace chameleon::compress {

/// Puts nodes that are bare in `list` and a loop in `others`, which other ranks execute, into
/// loops. Nodes that are also a loop in `list`, or bare in `others`, stay as they are.
void wrap_once_taken(std::vector<Node>& list, std::span<const Node> others);

}  // namespace chameleon::compress
