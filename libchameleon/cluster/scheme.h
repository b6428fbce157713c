// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// A clustering scheme: how summaries of ranks become clusters and leads. A scheme does not
/// depend on where ranks are; `cluster` carries its values up the tree of a world and down again.
/// The schemes of the papers are files of this folder; docs/design/clustering.md adds one.
///
/// Requirements of a scheme, so that all ranks and all kinds of world agree:
/// - `summarize`, `join` and `elect` depend on their arguments only;
/// - `join` takes in ranks that are all higher than those of `mine`; it is called in the order of
///   the tree, and need be neither commutative nor associative;
/// - a summary grows with distinct behaviours, not with ranks, where the scheme bounds it: its size
///   is that of the largest message, and joining two is what a node of the tree pays.

#include <concepts>
#include <cstdint>
#include <optional>
#include <utility>

#include "cluster/clustering.h"
#include "world/world.h"

namespace chameleon::cluster {

template <class S>
concept ClusteringScheme = Sendable<typename S::Summary> &&
    std::default_initializable<typename S::Summary> &&
    requires(const S& scheme, std::uint32_t rank, const typename S::Input& input,
             typename S::Summary& mine, typename S::Summary&& theirs) {
  /// A rank, from what the scheme needs of it (`SignatureVector`, or any other type).
  { scheme.summarize(rank, input) } -> std::same_as<typename S::Summary>;
  /// Two summaries become one.
  { scheme.join(mine, std::move(theirs)) } -> std::same_as<void>;
  /// At the root, once: the clusters and their leads, from the summary of all ranks.
  { scheme.elect(std::move(theirs)) } -> std::same_as<Clustering>;
};

/// Receivers of a clustering: all ranks, or the root alone if no other rank acts on it.
enum class Audience : std::uint8_t { kAll, kRoot };

/// Collective: the clustering of a world's ranks, or of a subset's, on all of them. 2 (P - 1)
/// messages: summaries up, the clustering down. For the root alone half as many, and elsewhere an
/// empty one. On a world that has failed an empty one.
template <TreeWorld World, ClusteringScheme Scheme>
Clustering cluster(World& world, typename World::template PerRank<typename Scheme::Input> inputs,
                   const Scheme& scheme, Audience audience = Audience::kAll) {
  auto summaries = world.map(inputs, [&](std::uint32_t rank, const typename Scheme::Input& input) {
    return scheme.summarize(rank, input);
  });
  auto all = world.reduce(std::move(summaries),
                          [&](typename Scheme::Summary& mine, typename Scheme::Summary&& theirs) {
                            scheme.join(mine, std::move(theirs));
                          });
  std::optional<Clustering> elected;
  if (all) elected = scheme.elect(std::move(*all));
  if (audience == Audience::kRoot) return elected ? std::move(*elected) : Clustering();
  return world.broadcast(std::move(elected));
}

}  // namespace chameleon::cluster
