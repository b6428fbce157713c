// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Broadcast from several roots at once: the values of named ranks on all ranks, as sampled
/// workers announce what each of them found. One list goes up the tree over the roots and
/// down the tree of all, so that its cost does not grow with (roots x ranks) messages:
/// for r roots r - 1 messages up, one more if rank 0 is no root, and P - 1 down;
/// ceil(log2 r) + ceil(log2 P) deep, and one more. Every message down holds all values.
/// (`broadcast_groups` of both worlds is for groups that each have a root of their own.)

#include <cstdint>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "world/members.h"

namespace chameleon::world {

/// The values of `roots` (known to all ranks) on all ranks, by ascending rank.
/// Empty without roots, and on a world that has failed. T is given:
/// `broadcast_from<Found>(world, workers, std::move(found))`.
template <class T, class World>
std::vector<T> broadcast_from(World& world, const Members& members,
                              typename World::template PerRank<T> values) {
  auto lists = world.map(values, [&](std::uint32_t rank, T& value) {
    std::vector<T> list;
    if (members.position(rank) < members.size()) list.push_back(std::move(value));
    return list;
  });
  const auto append = [](std::vector<T>& mine, std::vector<T>&& theirs) {
    std::move(theirs.begin(), theirs.end(), std::back_inserter(mine));
  };
  return world.broadcast(world.reduce(members.ranks(), std::move(lists), append));
}

/// The same of roots in any order.
template <class T, class World>
std::vector<T> broadcast_from(World& world, std::vector<std::uint32_t> roots,
                              typename World::template PerRank<T> values) {
  return broadcast_from<T>(world, Members(std::move(roots), world.size()), std::move(values));
}

}  // namespace chameleon::world
