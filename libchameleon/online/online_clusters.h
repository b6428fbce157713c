// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Of Online: which clusters hold, who leads, and who keeps an interval.

#include <algorithm>
#include <new>
#include <utility>

#include "cluster/joint.h"
#include "online/online_marker.h"

namespace chameleon::online {

/// What leads hold for others, before other clusters hold.
template <class World>
void Online<World>::flush_represented() {
  if (holds_for_others()) flush();
}

/// The phase's clusters hold again, also for the interval that ended. If they are the current ones,
/// leads go on. If what was kept before does not belong to them, every rank keeps what it does
/// until a flush is due, so that phases which take turns cost no flush each.
template <class World>
void Online<World>::take(Action action, std::uint64_t phase) {
  Clusters taken = clusters_.phases.clusters(phase);  // before a flush that may forget them
  const bool switches = action == Action::kSwitch || action == Action::kSwitchAndFlush;
  if (!switches) progress_.all_keep = true;  // what they kept in AT is not flushed
  if (taken != clusters_.current) {
    flush_represented();
    const Clusters both = joint_with(taken);
    if (both == nullptr) progress_.all_keep = true;
    take_clusters(both != nullptr ? both : std::move(taken));
  }
  votes_.map(members_, [&](std::uint32_t rank, Member& member) { settle_at(rank, member); });
  settled();
  drop();
  progress_.since_flush = std::max<std::uint64_t>(progress_.since_flush, 1);  // leads hold it
}

/// From here on. Who strayed from the former ones keeps its own no longer.
template <class World>
void Online<World>::take_clusters(Clusters clusters) {
  clusters_.current = std::move(clusters);
  progress_.early = 0;
  votes_.map(members_, [](std::uint32_t, Member& member) { member.keeps_own = false; });
}

/// Clusters that serve all phases of these and of the current ones, which have them from here on;
/// null if there are none: the current ones are of no phase any more, or too few ranks would be
/// alike in all of these phases. All ranks find the same. One without memory for them has none,
/// which is its failure.
template <class World>
typename Online<World>::Clusters Online<World>::joint_with(const Clusters& clusters) {
  const Clusters current = clusters_.current;
  if (lossless() || !clusters_.phases.has(current)) return nullptr;
  const std::size_t k = options_.cluster.k;
  const std::size_t most = k == cluster::kUnbounded
                               ? votes_.size()
                               : std::max({2 * k, clusters->size(), current->size()});
  if (cluster::joint_size(*clusters, *current, most) == 0) return nullptr;
  Clustering joint;
  note_failure(attempt([&] { joint = cluster::joint(*clusters, *current); }));
  const Clusters both = clusters_.room.hold(std::move(joint));
  const std::size_t place = clusters_.room.place(both);
  votes_.map(members_, [&](std::uint32_t, Member& member) {
    member.alone[place] =
        member.alone[clusters_.room.place(clusters)] || member.alone[clusters_.room.place(current)];
  });
  clusters_.phases.replace(current, both);
  clusters_.phases.replace(clusters, both);
  return both;
}

/// A rank's interval that ended is of a phase of the current clusters.
template <class World>
void Online<World>::settle_at(std::uint32_t rank, Member& member) {
  member.settled = phase_hash(rank, undecided(member).interval);
}

template <class World>
void Online<World>::settled() {
  progress_.settled = true;
}

/// Who strays keeps the interval, and so do the ranks of a lead that strays. What they dropped is
/// flushed first, since in a flush a rank is either represented or not. They go on keeping theirs
/// until a flush is due: nobody has to wait where they stray once more. After some such flushes all
/// ranks do so.
template <class World>
void Online<World>::stand_alone(const StrayRanks& strays) {
  if (flushes_for(strays)) {
    flush();
    progress_.since_flush = 1;  // leads hold the interval
    progress_.all_keep = ++progress_.early >= kMostEarly;
  }
  if (!lossless())
    votes_.map(members_, [&](std::uint32_t rank, Member& member) {
      const SubCluster* mine = clusters_.current->find(rank);
      member.keeps_own = member.keeps_own || undecided(member).astray ||
                         (mine != nullptr && strays.may_have(mine->lead));
    });
  drop();
}

/// From here on leads trace for all ranks of their clusters again that do not stray.
template <class World>
void Online<World>::flush_due() {
  if (!lossless() && progress_.all_keep)
    flush_history();
  else
    flush();
  progress_.all_keep = false;
  progress_.early = 0;
  votes_.map(members_, [](std::uint32_t, Member& member) { member.keeps_own = false; });
}

/// Who does not keep the interval in L forgets it.
template <class World>
void Online<World>::drop() {
  present().map(members_, [&](std::uint32_t rank, Member& member) {
    if (keeps_in_lead(rank, member))
      member.rank->join();
    else
      member.rank->drop();
  });
}

template <class World>
bool Online<World>::keeps_in_lead(std::uint32_t rank, const Member& member) const {
  if (lossless() || progress_.all_keep || member.keeps_own ||
      member.alone[clusters_.room.place(clusters_.current)])
    return true;
  const SubCluster* mine = clusters_.current->find(rank);
  return mine == nullptr || mine->lead == rank;
}

/// By the interval that ended. If the phases before have clusters, those that serve them too.
template <class World>
void Online<World>::elect(std::uint64_t phase) {
  auto signatures = votes_.map(members_, [&](std::uint32_t rank, Member& member) {
    SignatureVector signature = undecided(member).interval.signature;
    if (member.differs != 0) signature.tell_apart(member.differs);
    member.rank->marker_log().note_election(options_.cluster, signature);
    settle_at(rank, member);
    if (member.rank->failed()) throw std::bad_alloc();  // it has no signature
    return signature;
  });
  const Clusters elected = clusters_.room.hold(cluster(votes_, std::move(signatures)));
  clusters_.phases.keep(phase, elected);
  const std::size_t place = clusters_.room.place(elected);
  votes_.map(members_, [&](std::uint32_t, Member& member) {
    member.alone[place] = stands_alone(undecided(member).interval);
  });
  const Clusters both = joint_with(elected);
  take_clusters(both != nullptr ? both : elected);
  settled();
  heed(votes_);
  ++facts_.clusterings;
  note_clusters();
}

/// Clusters, and counts what it takes. Where nobody is represented, only rank 0 has a use for it.
template <class World>
Clustering Online<World>::cluster(World& world,
                                  typename World::template PerRank<SignatureVector> signatures) {
  const std::uint64_t bytes = world.traffic().bytes, begin = elapsed_ns();
  Clustering clusters =
      cluster::cluster(world, std::move(signatures), options_.cluster,
                       lossless() ? cluster::Audience::kRoot : cluster::Audience::kAll);
  work_.clustering_bytes += world.traffic().bytes - bytes;
  work_.clustering_ns += time_between(begin, elapsed_ns());
  return clusters;
}

template <class World>
void Online<World>::note_clusters() {
  facts_.clusters.clear();
  facts_.split_by.clear();
  const Failure failure = attempt([&] {
    facts_.signature_format = signature::format_text(clusters_.current->format);
    RankList all;
    for (const MainCluster& main : clusters_.current->main)
      for (const SubCluster& one : main.clusters) {
        facts_.clusters.push_back({one.signature.call_path, one.lead, one.ranks});
        all.merge(one.ranks);
      }
    if (all != keeper_.everyone()) facts_.clusters.clear();  // without some ranks they are others
    if (facts_.clusters.size() <= kMostSplits) facts_.split_by = split_text(*clusters_.current);
  });
  if (failure != Failure::kNone) facts_.clusters.clear();
  if (facts_.clusters.empty()) facts_.split_by.clear();
  note_failure(failure);
}

}  // namespace chameleon::online
