// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Nodes of sets of ranks without a rank in common commute: no rank executes both, so that none
/// knows which comes first. Equal nodes that stand apart, with nothing between them that must stay
/// there, therefore become one. Each rank's order is kept.
///
/// Cost: O(kReach) looks back a node at most, and for each equal node found a pass over the rank
/// lists in between; kMostSteps of both for each node of the list.

#include <vector>

#include "model/node.h"

namespace chameleon::compress {

/// `nodes`, which `all` execute but for those that name their ranks.
void join_commuting(std::vector<Node>& nodes, const RankList& all, const CallSchema& schema);

}  // namespace chameleon::compress
