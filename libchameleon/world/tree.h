// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The one fixed reduction tree: binomial, rooted at rank 0. At step s (1, 2,
/// 4, ...) rank r with r mod 2s = s sends to r - s. Pure arithmetic, so that a
/// real job and virtual ranks in one process combine in the same order.
/// Depth ceil(log2 size); size - 1 messages.

#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/rooms.h"

namespace chameleon::world {

/// Calls receive(child) for each child in order of steps, then send(parent)
/// unless rank is 0.
template <class Receive, class Send>
void walk_up(std::uint32_t rank, std::uint32_t size, Receive receive, Send send) {
  for (std::uint32_t step = 1; step < size; step *= 2) {
    if ((rank & step) != 0) return send(rank - step);
    if (rank + step < size) receive(rank + step);
  }
}

/// The place of `rank` among `ranks`, which are ascending and have `size()` and `operator[]`;
/// nothing if it is not one of them. O(log size).
template <class Ranks>
std::optional<std::uint32_t> place_in(const Ranks& ranks, std::uint32_t rank) {
  std::size_t first = 0;
  for (std::size_t last = ranks.size(); first < last;) {
    const std::size_t middle = first + (last - first) / 2;
    if (ranks[middle] < rank)
      first = middle + 1;
    else
      last = middle;
  }
  if (first == ranks.size() || ranks[first] != rank) return std::nullopt;
  return static_cast<std::uint32_t>(first);
}

}  // namespace chameleon::world
