// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Some of the ranks of a `VirtualWorld`: see mpi_subset.h, whose results and messages are
/// the same. Operations are counted in the traffic of the world, one after another, so that
/// `depth` is that of a rank which is in all of the subsets.

#include <optional>
#include <utility>
#include <vector>

#include "world/members.h"
#include "world/virtual_world.h"

namespace chameleon::world {

class VirtualSubset {
 public:
  /// The members' values, by position.
  template <class T>
  using PerRank = std::vector<T>;

  VirtualSubset(VirtualWorld& world, std::vector<std::uint32_t> ranks)
      : world_(&world), members_(std::move(ranks), world.size()) {}

  std::uint32_t size() const { return members_.size(); }
  const std::vector<std::uint32_t>& ranks() const { return members_.ranks(); }
  bool failed() const { return false; }

  /// The members' values of those of all ranks.
  template <class T>
  PerRank<T> of(std::vector<T> all) const {
    PerRank<T> values;
    values.reserve(size());
    for (const std::uint32_t rank : ranks()) values.push_back(std::move(all[rank]));
    return values;
  }
  /// The members' values as values of all ranks; a default one on the others.
  template <class T>
  std::vector<T> everyone(PerRank<T> values) const {
    std::vector<T> all(world_->size());
    for (std::uint32_t at = 0; at < size(); ++at) all[members_[at]] = std::move(values[at]);
    return all;
  }

  /// f(rank) for every member.
  template <class F>
  auto generate(F f) {
    std::vector<decltype(f(std::uint32_t{}))> values;
    values.reserve(size());
    for (const std::uint32_t rank : ranks()) values.push_back(f(rank));
    return values;
  }

  /// f(rank, value) for every member; nothing if f gives nothing.
  template <class T, class F>
  auto map(PerRank<T>& values, F f) {
    using R = decltype(f(std::uint32_t{}, values.front()));
    if constexpr (std::is_void_v<R>) {
      for (std::uint32_t at = 0; at < size(); ++at) f(members_[at], values[at]);
    } else {
      std::vector<R> results;
      results.reserve(size());
      for (std::uint32_t at = 0; at < size(); ++at) results.push_back(f(members_[at], values[at]));
      return results;
    }
  }

  /// combine(T& mine, T&& theirs) up the tree over positions, to the first member.
  template <class T, class C>
  std::optional<T> reduce(PerRank<T> values, C combine) {
    if (values.empty()) return std::nullopt;
    return world_->reduce_positions(size(), combine,
                                    [&](std::uint32_t at) -> T& { return values[at]; });
  }

  /// The first member's value on all members; a default one when there is none.
  template <class T>
  T broadcast(std::optional<T> at_root) {
    T value = at_root ? std::move(*at_root) : T{};
    world_->count_broadcast(value, size());
    return value;
  }

 private:
  VirtualWorld* world_;
  Members members_;
};

}  // namespace chameleon::world
