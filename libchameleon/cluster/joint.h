// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// One clustering for several phases: ranks are together where they are together in each of them,
/// so one election serves all, and a lead traces for its ranks regardless of the order of phases.
/// All ranks have both clusterings and find the same, without a message.

#include <cstddef>

#include "cluster/clustering.h"

namespace chameleon::cluster {

/// How many clusters `joint` has. 0: there is none, because it would be more than `most`, or
/// because partners of some cluster follow from its lead's in one reading in the one phase, and in
/// another reading in the other. Allocates nothing. O(clusters of `now` x of `before`).
std::size_t joint_size(const Clustering& now, const Clustering& before, std::size_t most);

/// The ranks that are in both, by the main clusters of `now`. A cluster is led by its lead in
/// `before` if that is one of its ranks, else by its lead in `now`, else by its lowest rank.
Clustering joint(const Clustering& now, const Clustering& before);

}  // namespace chameleon::cluster
