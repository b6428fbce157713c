// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// A random sample of a population that every rank can draw for itself.

#include <cstdint>
#include <vector>

#include "base/rooms.h"

namespace chameleon::statistics {

/// `size` different numbers below `population`, ascending; all of them if there are no more. Every
/// such set is as likely. The same for the same arguments, everywhere. Floyd's method (Bentley &
/// Floyd, CACM 30(9), 1987): O(size) numbers are drawn however large the population is, where
/// Knuth's Algorithm R, by which Gamblin et al. 2010 sample, goes through all of it.
std::vector<std::uint32_t> draw(std::uint32_t population, std::uint32_t size, std::uint64_t seed);

}  // namespace chameleon::statistics
