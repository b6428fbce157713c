// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Named ranks of an `MpiWorld` that map, reduce and broadcast among themselves: sub-clusters
/// of a main cluster, leads, or sampled workers (Gamblin, de Supinski, Schulz, Fowler, Reed,
/// ICS'10). An algorithm written over a world runs on it unchanged. Members are in canonical
/// order (members.h); the first is the root. The functions of `map` and `generate` get the
/// rank in the world, which names a member everywhere.
///
/// All ranks make the subset, in the same order as any other operation of the world; making
/// it costs nothing. Only members need call its operations, all of them in the same order.
/// On other ranks operations return at once, with default values: so disjoint subsets that
/// ranks go through one after another proceed side by side, and how many operations one has
/// may depend on what only its members know.
///
/// There is no communicator of its own. Messages go over that of the world, under tags of a
/// third range: the subset's number and the operation's. A pair of ranks that is in two
/// subsets goes through both in the same order, and messages of a pair arrive in order; so
/// numbers that repeat after thousands cannot be mistaken either. Waiting is bounded as in
/// the world, which fails with it.
///
/// Cost for m members: `reduce` and `broadcast` m - 1 messages each, ceil(log2 m) deep, and
/// nothing on other ranks. Must not outlive the world, nor be used when that has moved.

#include <optional>
#include <utility>
#include <vector>

#include "world/members.h"
#include "world/mpi_world.h"

namespace chameleon::world {

class MpiSubset {
 public:
  /// This rank's value, if it is a member; a default one otherwise.
  template <class T>
  using PerRank = MpiWorld::PerRank<T>;

  /// To be made on all ranks.
  MpiSubset(MpiWorld& world, std::vector<std::uint32_t> ranks)
      : world_(&world),
        members_(std::move(ranks), world.size()),
        number_(world.subsets_++),
        position_(members_.position(world.rank_)) {}

  std::uint32_t size() const { return members_.size(); }
  const std::vector<std::uint32_t>& ranks() const { return members_.ranks(); }
  bool failed() const { return world_->failed(); }

  /// The members' values of those of all ranks.
  template <class T>
  PerRank<T> of(PerRank<T> all) const {
    if (!member()) return {};
    return all;
  }
  /// The members' values as values of all ranks; a default one on the others.
  template <class T>
  PerRank<T> everyone(PerRank<T> values) const {
    return of(std::move(values));
  }

  /// f(rank) on every member.
  template <class F>
  auto generate(F f) {
    using Result = decltype(world_->generate(f));
    return member() ? world_->generate(f) : Result{};
  }

  /// f(rank, value) on every member; nothing if f gives nothing.
  template <class T, class F>
  auto map(PerRank<T>& values, F f) {
    using Result = decltype(world_->map(values, f));
    if constexpr (std::is_void_v<Result>) {
      if (member()) world_->map(values, f);
    } else {
      return member() ? world_->map(values, f) : Result{};
    }
  }

  /// combine(T& mine, T&& theirs) up the tree over positions; the value at the first member
  /// only.
  template <class T, class C>
  std::optional<T> reduce(PerRank<T> values, C combine) {
    if (!begin()) return std::nullopt;
    world_->reduce_positions(position_, size(), values, combine, true, rank_at());
    if (failed() || position_ != 0 || values.lost) return std::nullopt;
    return std::move(values.value);
  }

  /// The first member's value on all members; a default one when there is none.
  template <class T>
  T broadcast(std::optional<T> at_root) {
    if (!begin()) return T{};
    return world_->broadcast_positions(position_, size(), std::move(at_root), rank_at());
  }

 private:
  bool member() const { return position_ < size(); }
  /// Whether this rank takes part in the next operation.
  bool begin() {
    if (!member()) return false;
    world_->begin_subset_operation(number_, operation_++, tree_depth(size()));
    return true;
  }
  auto rank_at() const {
    return [this](std::uint32_t position) { return members_[position]; };
  }

  MpiWorld* world_;
  Members members_;
  std::uint32_t number_;
  std::uint32_t position_;  ///< of this rank; size() if it is no member
  std::uint32_t operation_ = 0;
};

}  // namespace chameleon::world
