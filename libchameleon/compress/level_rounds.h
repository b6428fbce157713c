// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Loops of rounds (rounds.h) in two parts of a trace, which were folded apart. The polls of one
/// part may have found messages that those of the other never found. The rounds of the other then
/// lack those calls, the loops have different shapes, and nothing around them could be appended.
/// So both get the calls of either, as optional loops that some rounds execute, or none.
///
/// The first steps of a program may have one round each, which only later rounds show to be one:
/// `step (test end step poll)^2 ...` is folded such that a round continues in the next iteration.
/// Such a loop is written out while it is small, and folds again around the rounds.
///
/// A loop of rounds begins with a call that may be unsuccessful (it has a flag), and begins and
/// ends alike in both parts. All nodes in it must be of the same ranks.
///
/// Cost: O(nodes of the partial trace, and of the last `reach` nodes of the other if it has a loop
/// that begins so), an alignment of two bodies of at most kMostInRound calls for each such loop
/// that differs, and its counts once; `budget` bounds all that.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/trace.h"

namespace chameleon::compress {

/// If any loops were changed, removes the last nodes of `online`, at most `reach`, and returns
/// them: they may fold with each other now.
std::vector<Node> level_rounds(Trace& online, Trace& partial, std::size_t reach,
                               std::int64_t budget);

}  // namespace chameleon::compress
