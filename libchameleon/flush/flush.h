// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// A flush: the partial traces of all ranks become one merged trace at rank 0.
/// Ranks that did the same send it once. Each rank that keeps its trace (a lead,
/// or any rank when the fidelity is `exact`) fingerprints structure and values;
/// the distinct *classes* with their rank lists are reduced up the tree, and a
/// plan comes back: the lowest rank of each class sends, for all of it. A class
/// of a structure that another has sends its values only. Ranks without a trace
/// of their own are represented by their lead's, and the nodes say so.
/// (Chameleon, Algorithm 8, made exact.)
///
/// Of the senders of a structure, the values come to the first, and its trace goes on to rank 0
/// with all of them. Most values would so travel once more than in a plain merge: the senders of
/// the largest structure that rank 0 does not have send to rank 0 itself, the first its whole
/// trace.
///
/// Where most ranks are classes of their own, lists of them and the plan would be as long as the
/// job: they become *crowds*, of which each rank sends for itself, as in a plain merge.
///
/// Cost: a message of at most 64 bytes a class and tree edge and 33 a structure, the plan, and one
/// trace a distinct structure, one list of values a distinct class: of all of them, or of those
/// kinds in which classes of the structure differ (filter.h). There are some hundred classes at
/// most; of a crowd each rank sends its values, or its trace where structures differ.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "flush/plan.h"
#include "flush/senders.h"
#include "flush/shipment.h"
#include "world/world.h"

namespace chameleon::flush {

/// Completes the merged trace at rank 0: final readings, and the events of each rank if they are at
/// most `PackedFacts::kMostExact`; of others the nodes tell.
Trace finish_flush(Trace merged, const std::vector<ShareClass>& classes, const FlushPlan& plan);

/// Merges what all ranks have, given as classes (a list for each rank, of one class; of none if it
/// has no trace), `comparisons` (fidelity `checked`; else empty) and `ship`, which makes a
/// sender's `Shipment` from the plan. The merged trace at rank 0, nothing elsewhere
/// (and nothing if the world failed). Its `ranks` are those whose events arrived: where a rank runs
/// out of memory on the way, what depends on it is left out. `learn` gets the plan, on every rank.
/// `rounds`: what this rank knows about what comes after this, and then, what all know. Collective.
template <class World, class Classes, class Comparisons, class Ship, class Learn>
std::optional<Trace> flush(World& world, Classes classes, Comparisons comparisons,
                           const Clustering& clustering, FlushOptions options, Ship ship,
                           Learn learn, Rounds* rounds = nullptr) {
  const bool filters = options.filter != Filter::kOff;
  world.map(classes, [filters](std::uint32_t, std::vector<ShareClass>& mine) {
    for (ShareClass& one : mine)
      if (!filters) one.kinds.reset();
  });
  const auto all = world.reduce(std::move(classes), join_classes);
  std::optional<std::vector<Comparison>> compared;
  if (options.fidelity == Fidelity::kChecked)
    compared = world.reduce(std::move(comparisons), join_comparisons);
  std::optional<FlushPlan> made;
  if (all)
    world.attempt([&] {
      made = make_plan(*all, clustering, options, world.size(),
                       compared.value_or(std::vector<Comparison>()));
    });
  const FlushPlan plan = world.broadcast(std::move(made));
  learn(plan);
  Senders senders;
  const bool prepared = world.attempt([&] { senders = senders_of(plan); });
  const Absent absent =
      world.absent(prepared && !plan.empty(), rounds != nullptr ? *rounds : Rounds());
  if (rounds != nullptr) *rounds = absent.rounds;
  if (!absent.all_named() || absent.names(0)) return std::nullopt;
  senders.leave_out(absent);
  const auto shipment_of = [&](std::uint32_t rank, bool direct) {
    Shipment mine;
    if (senders.sends_directly(rank) != direct) return mine;
    const std::optional<FlushPlan::Entry> entry = plan.entry_of(rank);
    if (!entry) return mine;
    mine = ship(rank, *entry);
    const bool first = direct && rank == senders.direct.group().front();
    if (first || plan.is_whole(entry->group)) mine.values_only = false;
    return mine;
  };
  auto shipments =
      generate_late(world, [&](std::uint32_t rank) { return shipment_of(rank, false); });
  auto direct = generate_late(world, [&](std::uint32_t rank) { return shipment_of(rank, true); });
  shipments = world.reduce_groups(senders.groups, std::move(shipments), join_shipments);
  world.map(shipments, [](std::uint32_t, Shipment& shipment) { shipment.values_only = false; });
  auto merged = world.reduce(senders.firsts, std::move(shipments), join_shipments);
  auto largest = world.reduce(senders.direct, std::move(direct), join_shipments);
  if (merged && largest && !world.attempt([&] { join_shipments(*merged, std::move(*largest)); }))
    return std::nullopt;
  if (!merged || !all) return std::nullopt;
  std::optional<Trace> finished;
  world.attempt([&] { finished = finish_flush(std::move(merged->trace), *all, plan); });
  return finished;
}

/// A rank's share, in a world of its own or of all.
template <class Shares>
Share& share_of(Shares& shares, std::uint32_t rank) {
  if constexpr (requires { shares.size(); })
    return shares[rank];
  else
    return shares.value;
}

/// The overload for shares already in memory; `complete(rank, Share&)` adds, to those that are
/// sent, the parts that comparing them does not need.
template <class World, class Complete, class Learn>
std::optional<Trace> flush(World& world, typename World::template PerRank<Share>& shares,
                           const Clustering& clustering, FlushOptions options, Complete complete,
                           Learn learn, Rounds* rounds = nullptr) {
  auto classes = world.map(shares, [](std::uint32_t rank, Share& share) {
    std::vector<ShareClass> mine;
    if (share.keeps) mine.push_back(classify(rank, share));
    return mine;
  });
  auto comparisons = world.map(shares, [&](std::uint32_t rank, Share& share) {
    return options.fidelity == Fidelity::kChecked
               ? comparison_of(rank, share.hashes, share.keeps, clustering)
               : std::vector<Comparison>();
  });
  return flush(
      world, std::move(classes), std::move(comparisons), clustering, options,
      [&](std::uint32_t rank, const FlushPlan::Entry& entry) {
        Share& share = share_of(shares, rank);
        complete(rank, share);
        return prepare(entry, share);
      },
      learn, rounds);
}

template <class World>
std::optional<Trace> flush(World& world, typename World::template PerRank<Share>& shares,
                           const Clustering& clustering, FlushOptions options) {
  return flush(
      world, shares, clustering, options, [](std::uint32_t, Share&) {}, [](const FlushPlan&) {});
}

}  // namespace chameleon::flush
