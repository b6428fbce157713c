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
/// Cost: a message of at most 64 bytes a class and tree edge, the plan, and one
/// trace a distinct structure, one list of values a distinct class.

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cluster/clustering.h"
#include "model/time_table.h"
#include "model/trace.h"
#include "world/absent.h"
#include "world/world.h"

namespace chameleon::flush {

/// What ranks that are not leads keep in state L (CHAMELEON_FIDELITY).
enum class Fidelity : std::uint8_t { kExact, kChecked, kLead };
const char* fidelity_name(Fidelity fidelity);

/// Hashes of what a rank did, kept also where events are dropped: one a kind of parameter (the bits
/// of `Inexactness` in order), of all but unsuccessful polls; one of these; and one of the set of
/// calls that poll.
using StreamHashes = std::array<std::uint64_t, 8>;
inline constexpr std::size_t kPollsHash = 6, kPollPlacesHash = 7;

/// What a rank brings to a flush.
struct Share {
  /// Of this rank alone; empty unless `keeps`. With several streams it is a class of its own,
  /// whatever others did, and its facts tell the events of each.
  Trace trace;
  bool keeps = true;
  bool paused = false;                   ///< tracing was switched off at some time: declared
  std::uint64_t events = 0;              ///< of the rank's first stream
  StreamHashes hashes{};                 ///< for fidelity `checked`
  std::vector<StreamAccounts> accounts;  ///< over the run, also of what was dropped
};

/// Ranks whose traces are equal, times aside, when their end-points are read alike.
struct ShareClass {
  std::uint64_t structure = 0;
  std::uint64_t relative = 0;  ///< values with partners relative to the rank
  std::uint64_t mixed = 0;     ///< the same, but partners that are always rank 0 absolute
  bool relative_holds = true, mixed_holds = true;  ///< for all of the ranks
  bool paused = false;
  std::uint64_t events = 0;
  RankList ranks;

  void encode(ByteWriter& writer) const;
  static bool decode(ByteReader& reader, ShareClass& value);
};

ShareClass classify(std::uint32_t rank, const Share& share);
/// Joins lists of classes, in the order of `mine` then `theirs`.
void join_classes(std::vector<ShareClass>& mine, std::vector<ShareClass>&& theirs);

/// Ranks of one lead with equal hashes of their streams.
struct Comparison {
  std::uint32_t lead = 0;
  StreamHashes hashes{};
  RankList ranks;

  void encode(ByteWriter& writer) const;
  static bool decode(ByteReader& reader, Comparison& value);
};
void join_comparisons(std::vector<Comparison>& mine, std::vector<Comparison>&& theirs);

/// Who sends what: entry by entry a class, its sender the lowest rank of it.
struct FlushPlan {
  struct Entry {
    std::uint32_t sender = 0;
    std::uint32_t group = 0;  ///< of equal structure, by place
    bool relative = true;     ///< the reading that holds
    bool alone = true;        ///< one rank: both readings stay
    bool by_xor = false;      ///< partners of the others follow from the sender's by XOR
    RankList ranks;           ///< whose trace it is, those it represents included
    std::vector<Inexact> inexact;

    void encode(ByteWriter& writer) const;
    static bool decode(ByteReader& reader, Entry& value);
  };
  std::vector<Entry> entries;  ///< by sender
  std::uint32_t groups = 0;

  const Entry* find_sender(std::uint32_t rank) const;
  /// Ranks in which a trace that stands for them is inexact.
  RankList differing() const;
  void encode(ByteWriter& writer) const;
  static bool decode(ByteReader& reader, FlushPlan& value);
};

/// A rank's part in a plan, made before anyone counts on it.
struct Senders {
  std::vector<std::vector<std::uint32_t>> groups;  ///< ascending
  std::vector<std::uint32_t> firsts;               ///< of the groups, ascending

  /// Without the ranks that are absent. No allocation.
  void leave_out(const Absent& absent);
};
Senders senders_of(const FlushPlan& plan);

/// The plan for these classes, where `clustering` says who represents whom;
/// `comparisons` are of fidelity `checked` (empty: nobody was compared).
FlushPlan make_plan(const std::vector<ShareClass>& classes, const Clustering& clustering,
                    Fidelity fidelity, const std::vector<Comparison>& comparisons);

/// A trace on its way: whole, or only its values, to a rank of the same structure.
struct Shipment {
  Trace trace;
  bool values_only = false;
  std::vector<Inexact> inexact;  ///< of the nodes, which say so already
  Bytes received;                ///< values not read yet

  void encode(ByteWriter& writer) const;
  static bool decode(ByteReader& reader, Shipment& value);
};

/// Declares, at the nodes of a trace, what a plan's entry finds inexact.
void declare(Trace& trace, const std::vector<Inexact>& inexact);

/// Makes a sender's trace that of its whole class.
Shipment prepare(const FlushPlan::Entry& entry, Share& share);
void join_shipments(Shipment& mine, Shipment&& theirs);
/// Completes the merged trace at rank 0: final readings, events of each rank.
Trace finish_flush(Trace merged, const std::vector<ShareClass>& classes, const FlushPlan& plan);

/// Merges what all ranks have, given as classes (of one rank each; none if it has no
/// trace), `comparisons` (fidelity `checked`; else empty) and `ship`, which makes a
/// sender's `Shipment` from the plan. The merged trace at rank 0, nothing elsewhere
/// (and nothing if the world failed). Its `ranks` are those whose events arrived: where a rank runs
/// out of memory on the way, what depends on it is left out. `learn` gets the plan, on every rank.
/// Collective.
template <class World, class Ship, class Learn>
std::optional<Trace> flush(World& world,
                           typename World::template PerRank<std::vector<ShareClass>> classes,
                           typename World::template PerRank<std::vector<Comparison>> comparisons,
                           const Clustering& clustering, Fidelity fidelity, Ship ship,
                           Learn learn) {
  const auto all = world.reduce(std::move(classes), join_classes);
  std::optional<std::vector<Comparison>> compared;
  if (fidelity == Fidelity::kChecked)
    compared = world.reduce(std::move(comparisons), join_comparisons);
  std::optional<FlushPlan> made;
  if (all)
    world.attempt([&] {
      made = make_plan(*all, clustering, fidelity, compared.value_or(std::vector<Comparison>()));
    });
  const FlushPlan plan = world.broadcast(std::move(made));
  learn(plan);
  Senders senders;
  const bool prepared = world.attempt([&] { senders = senders_of(plan); });
  const Absent absent = world.absent(prepared && !plan.entries.empty());
  if (!absent.all_named() || absent.names(0)) return std::nullopt;
  senders.leave_out(absent);
  auto shipments = world.generate([&](std::uint32_t rank) {
    const FlushPlan::Entry* entry = plan.find_sender(rank);
    return entry != nullptr ? ship(rank, *entry) : Shipment();
  });
  shipments = world.reduce_groups(senders.groups, std::move(shipments), join_shipments);
  world.map(shipments, [](std::uint32_t, Shipment& shipment) { shipment.values_only = false; });
  auto merged = world.reduce(senders.firsts, std::move(shipments), join_shipments);
  if (!merged || !all) return std::nullopt;
  std::optional<Trace> finished;
  world.attempt([&] { finished = finish_flush(std::move(merged->trace), *all, plan); });
  return finished;
}

/// A rank's in a world of one's own or of all.
template <class Shares>
Share& share_of(Shares& shares, std::uint32_t rank) {
  if constexpr (requires { shares.size(); })
    return shares[rank];
  else
    return shares.value;
}

/// The same for shares that are there; `complete(rank, Share&)` adds, to those that are sent,
/// what comparing them does not need.
template <class World, class Complete, class Learn>
std::optional<Trace> flush(World& world, typename World::template PerRank<Share>& shares,
                           const Clustering& clustering, Fidelity fidelity, Complete complete,
                           Learn learn) {
  auto classes = world.map(shares, [](std::uint32_t rank, Share& share) {
    std::vector<ShareClass> mine;
    if (share.keeps) mine.push_back(classify(rank, share));
    return mine;
  });
  auto comparisons = world.map(shares, [&](std::uint32_t rank, Share& share) {
    std::vector<Comparison> mine;
    const SubCluster* cluster = clustering.find(rank);
    if (fidelity == Fidelity::kChecked && cluster != nullptr &&
        (!share.keeps || cluster->lead == rank))
      mine.push_back({cluster->lead, share.hashes, RankList::single(rank)});
    return mine;
  });
  return flush(
      world, std::move(classes), std::move(comparisons), clustering, fidelity,
      [&](std::uint32_t rank, const FlushPlan::Entry& entry) {
        Share& share = share_of(shares, rank);
        complete(rank, share);
        return prepare(entry, share);
      },
      learn);
}

template <class World>
std::optional<Trace> flush(World& world, typename World::template PerRank<Share>& shares,
                           const Clustering& clustering, Fidelity fidelity) {
  return flush(
      world, shares, clustering, fidelity, [](std::uint32_t, Share&) {}, [](const FlushPlan&) {});
}

}  // namespace chameleon::flush
