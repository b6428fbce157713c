// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Joining traces in time: the earlier events of all ranks, and the later ones. Loops
/// continue over the seam, so that a run of flushes of the same loop stays one loop with a
/// larger count, and flushes that alternate become a loop of loops. It is the fold (fold.h)
/// over nodes of sets of ranks: nodes without a rank in common commute, so each set of ranks
/// has a tail of its own, in which the last node may be (a) one more iteration, or more
/// visits' worth, of the loop before it or of a loop that ends that loop; (b) a loop whose
/// first iteration is bare before it; (c) the second half of a square, which becomes a loop
/// of two; (d) a loop whose body is a rotation of the one before, with the rotated part
/// between them; (e) a loop that begins with a loop whose first iterations are bare before
/// it.
///
/// Exact, always: nodes are folded only where rank sets are equal and values have a common
/// reading; otherwise they stay side by side. Not found: squares longer than kAppendReach
/// nodes.
///
/// Cost: O(nodes and terms of the partial trace + kAppendReach), whatever the length of the
/// online trace, except that a rank seen for the first time takes a pass over it.

#include "model/trace.h"

namespace chameleon::compress {

/// Top-level nodes looked back at (more if the partial trace itself has more).
inline constexpr std::size_t kAppendReach = 256;

/// Joins `partial`, which happened after `online`, into it: for every rank,
/// expand(append(a, b)) = expand(a) expand(b). Ranks may be in one of them only.
/// Facts of a rank add up (its host stays); `complete` and the online facts, if
/// there are any, are `partial`'s. Gives how many groups of values it compared: on most of its
/// time, where ranks differ.
std::uint64_t append(Trace& online, Trace partial);

}  // namespace chameleon::compress
