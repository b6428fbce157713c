// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// How good a clustering is, and how unlike two are (CAPEK: Gamblin et al. 2010, sections 3.3 and
/// 7.3): the Bayesian information criterion of X-means (Pelleg & Moore 2000), and Mirkin's
/// distance. O(clusters), and O(n) for two partitions of n items.

#include <cstdint>
#include <span>

#include "base/rooms.h"

namespace chameleon::statistics {

/// The criterion, to be maximised, of clusters with these numbers of items (none empty), whose
/// squared distances to their medoids add up to `squares`, in `dimensions`. Infinite if nothing
/// remains to explain: each item is its own cluster, or there are no distances. The smallest such
/// number of clusters is the one to choose. `published`: the paper's form, which counts the
/// dimensions only once; equal in one dimension.
double bayesian_criterion(std::span<const std::uint64_t> sizes, double squares, double dimensions,
                          bool published = false);

/// The share of ordered pairs of items that are together in one partition only: 0 if both are the
/// same. Labels by item, of both partitions alike many.
double mirkin_distance(std::span<const std::uint32_t> a, std::span<const std::uint32_t> b);

}  // namespace chameleon::statistics
