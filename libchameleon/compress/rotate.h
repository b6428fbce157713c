// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Joins values that are cut at a seam. A loop may be rotated: in (p q)^n p (q p)^m, the p between
/// the loops comes before those in the second one; after the second continues the first, as (p
/// q)^(n+m) p, the remaining p is the last one. p may hold loops with other numbers of iterations
/// on each rank.
///
/// A loop within may be cut: in p^j ((p)^k q)^n, the first visit of the inner loop has k + j.
///
/// A loop that was visited once may be written out: (p)^3 as p p p.
///
/// Cost: O(values of the last p), kMostRotated at most on a rank, for each group of ranks that
/// differ; of counts, O(segments).

#include <cstdint>
#include <vector>

#include "model/node.h"

namespace chameleon::compress {

inline constexpr std::uint64_t kMostRotated = 4096;

/// Whether the last execution of `node`, by exactly `ranks`, can be taken off.
bool has_last(const Node& node, const RankList& enclosing, const RankList& ranks);

/// `inner` was executed after `bare`, which has the same structure, by the same ranks: now `bare`
/// is the last execution, and all before are in `inner`. Requires `has_last` of both.
void rotate_values(Node& bare, Node& inner, const RankList& ranks);

/// The iterations of a loop that `ranks` visited once, one after the other. Those before one that
/// cannot be taken off (`has_last`) stay a loop.
std::vector<Node> written_out(Node loop, const RankList& ranks);

/// Whether the first visit of a loop can have more iterations: it has one, which is not of some
/// ranks only.
bool has_first(const Node& loop);

/// The first visit of `loop` had `more` iterations before.
void extend_first(Node& loop, std::int64_t more);

}  // namespace chameleon::compress
