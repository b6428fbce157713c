// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Of Online: the way of a marker.

#include <new>
#include <utility>

#include "base/hash.h"
#include "cluster/joint.h"
#include "online/online.h"

namespace chameleon::online {

/// A rank's part of the phase: the ranks of a phase may not change places, since its clusters are
/// of ranks, and one with further threads stands alone. What was left out is no phase.
inline std::uint64_t phase_hash(std::uint32_t rank, const ClosedInterval& interval) {
  if (interval.left_out) return 0;
  return combine(combine(interval.signature.call_path, rank), interval.threads);
}

/// A rank that nobody can represent in intervals like this one.
inline bool stands_alone(const ClosedInterval& interval) {
  return interval.creates || interval.threads > 1;
}

template <class World>
Online<World>::Online(const OnlineOptions& options, World votes, World last, Ranks ranks,
                      Output* output)
    : options_(options),
      votes_(std::move(votes)),
      last_(std::move(last)),
      members_(votes_.map(ranks,
                          [&](std::uint32_t rank, Rank* one) {
                            if (rank == 0) root_ = one;
                            Member member;
                            member.rank = one;
                            return member;
                          })),
      keeper_(members_, options, votes_.size(), output, root_),
      pace_(options.call_frequency),
      intervals_(options.effort) {
  facts_.clustering = options.clustering ? selection_name(options.cluster.selection) : "off";
  facts_.fidelity = fidelity_name(options.fidelity);
  facts_.call_frequency = pace_.every();
  facts_.k = options.cluster.k;
  if (!options.clustering) return;
  facts_.algorithm = cluster::algorithm_name(options.cluster);
  facts_.steps = cluster::steps_name(options.cluster.steps);
}

template <class World>
void Online<World>::marked_by(const std::string& source, bool paces) {
  facts_.marker_source = source;
  if (paces) pace_.find();
}

template <class World>
bool Online<World>::mark() {
  if (!pace_.act() || !options_.clustering || machine_.stopped()) return false;
  vote(options_.marker_timeout);
  return true;
}

/// Whether markers go on. With all ranks in MPI_Finalize nothing follows: that is for `finish`.
template <class World>
bool Online<World>::conclude(const std::optional<Ballot>& all, double patience,
                             std::uint32_t missing) {
  if (all) learn_waiting(*all);
  if (all && all->vote.finalizing() == votes_.size()) return false;
  const bool represented = represents();
  if (!all || all->vote.halts()) set_aside(represented);
  if (!all) {
    give_up(missing);
    return false;
  }
  const Decision decision = decide(*all);
  const bool measures =
      decision.action != Action::kStop && intervals_.effort.closes(machine_.acted());
  if (deferred() && (measures || waits_for_all(decision.action, *all)) &&
      !all_are_here(patience, missing)) {
    set_aside(represented);
    give_up(missing);
    return false;
  }
  note_interval(*all, decision);
  if (all->vote.late() > 0) progress_.two = true;
  if (measures) {  // before a flush, which has the window
    note_failure(intervals_.effort.close(votes_, members_, machine_.acted()));
    heed(votes_);
  }
  perform(decision.action, *all);
  if (decision.action == Action::kStop) return false;
  ++progress_.carried_out;
  return true;
}

/// Whether ranks meet in what is to be done.
template <class World>
bool Online<World>::waits_for_all(Action action, const Ballot& all) {
  if (action == Action::kStandAlone) return flushes_for(all.strays);
  if (action == Action::kSwitch)
    return holds_for_others() && clusters_.phases.clusters(all.vote.phase()) != clusters_.current;
  return is_collective(action);
}

/// Before markers stop, if leads represent others: what they hold for others must not mix with what
/// every rank does from here on. It is merged in MPI_Finalize, where all ranks know that it is to
/// be.
template <class World>
void Online<World>::set_aside(bool represented) {
  if (!represented) return;
  if (aside_) return keeper_.lose();  // of a flush that ended early, though no process did
  aside_ = keeper_.take_shares(present(), [&](std::uint32_t rank, const Member& member) {
    return keeps_in_lead(rank, member);
  });
  heed(present());
}

template <class World>
void Online<World>::reached(Stage stage) {
  votes_.map(members_, [&](std::uint32_t, Member& member) {
    if (!member.rank->ends()) member.rank->marker_log().reached(stage, pace_.seen());
  });
}

/// The ballots tell what ranks spent in the vote before.
template <class World>
void Online<World>::learn_waiting(const Ballot& all) {
  votes_.map(members_, [&](std::uint32_t, Member& member) {
    member.rank->marker_log().waited_beyond(all.tally.waiting.least_ns);
  });
  if (root_ == nullptr) return;
  note_failure(attempt([&] { intervals_.series.complete(all.tally.waiting, votes_.size()); }));
}

template <class World>
void Online<World>::note_interval(const Ballot& all, const Decision& decision) {
  std::uint32_t phase = Series::kOtherPhase;
  note_failure(attempt([&] { phase = intervals_.series.phase_of(all.vote.phase()); }));
  votes_.map(members_, [&](std::uint32_t, Member& member) {
    if (undecided(member).at_marker) member.rank->marker_log().belongs_to(phase);
  });
  if (root_ == nullptr) return;
  SeriesSpan span;
  span.first = machine_.acted();
  span.end_ns = closed_at().ns;
  span.state = static_cast<std::uint8_t>(decision.state);
  span.all = all.tally;
  span.phase = phase;
  note_failure(attempt([&] { intervals_.series.begin(span); }));
}

template <class World>
Decision Online<World>::decide(const Ballot& all) {
  const Vote& vote = all.vote;
  const bool at_once = options_.least_flush_seconds <= 0;
  // An interval that had been closed before the last flush was in it.
  const bool flushed = progress_.decided < progress_.flushed;
  progress_.due = (at_once && many_markers()) || (vote.due() > 0 && !flushed);
  const statemachine::Recall recall = clusters_.phases.recall(vote.phase());
  if (recall == statemachine::Recall::kNew && progress_.phases < Phases::kMost) {
    ++progress_.phases;
    ++progress_.phases_unflushed;
  }
  const Decision decision = machine_.step(vote, progress_.due, recall, astray(all));
  ++progress_.since_flush;
  note(decision, vote);
  say_fault(vote.faults());
  if (vote.faults() > 0) forget_messages();
  if (decision.action == Action::kStop && vote.finalizing() > 0) say_uneven(vote.finalizing());
  return decision;
}

/// Without clusters, or where they are so new that the ballots do not know of them, who strays is
/// who has changed.
template <class World>
Astray Online<World>::astray(const Ballot& all) const {
  const auto few = static_cast<std::uint32_t>(options_.few * votes_.size());
  const std::uint32_t changed = all.vote.changed();
  if (few == 0) return changed > 0 ? Astray::kMany : Astray::kNone;  // as published
  const bool since_marker = machine_.recluster() || progress_.settled;
  const std::uint32_t strays = since_marker ? changed : all.strays.count();
  // Who has changed may change back, and strays then from clusters made now, beside as many others.
  const std::uint32_t most = machine_.recluster() ? few / 2 : few;
  return strays == 0 ? Astray::kNone : strays <= most ? Astray::kFew : Astray::kMany;
}

template <class World>
void Online<World>::perform(Action action, const Ballot& all) {
  const std::uint64_t phase = all.vote.phase();
  switch (action) {
    case Action::kRemember:
    case Action::kKeep:
    case Action::kStop:
    case Action::kFinish: return join();
    case Action::kFlushHistory: join(); return flush_history();
    case Action::kFlushAndElect: flush_represented(); [[fallthrough]];
    case Action::kClusterAndElect:
      join();
      if (progress_.due || (!lossless() && progress_.phases_unflushed > 0))
        flush_history();
      else
        progress_.all_keep = true;
      return elect(phase);
    case Action::kFlushAndKeep:
      flush_represented();
      join();
      if (progress_.due && progress_.since_flush > 0) flush_history();  // nothing was flushed
      return;
    case Action::kJoin: return drop();
    case Action::kJoinAndFlush: drop(); return flush_due();
    case Action::kStandAlone: return stand_alone(all.strays);
    case Action::kStandAloneAndFlush: stand_alone(all.strays); return flush_due();
    case Action::kTake:
    case Action::kSwitch: return take(action, phase);
    case Action::kTakeAndFlush:
    case Action::kSwitchAndFlush: take(action, phase); return flush_due();
  }
}

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

/// How many markers the next interval has. All ranks have heard the same of the last one.
template <class World>
void Online<World>::set_pace(const Heard& heard) {
  if (heard.count > 0) {
    const typename Heard::Interval& one = heard.longest();
    const std::uint64_t factor = options_.budget > 0 ? govern(one.all.vote) : 1;
    if (pace_.adjust(one.all.tally.busy.most_ns, one.markers, factor)) progress_.regained = true;
  }
  facts_.call_frequency = pace_.every();
}

/// All ranks have the same vote and take the same step; gives how much less often markers are to be
/// acted on.
template <class World>
std::uint64_t Online<World>::govern(const Vote& vote) {
  const Governor::Cause cause = vote.events_over_budget() > 0       ? Governor::Cause::kEvents
                                : vote.markers_within_budget() == 0 ? Governor::Cause::kMarkers
                                                                    : Governor::Cause::kNone;
  std::uint64_t every = 1;
  const std::uint64_t interval = progress_.intervals + 1;
  votes_.map(members_, [&](std::uint32_t, Member& member) {
    Budget& budget = member.rank->budget();
    const Governor& governor = budget.governor();
    budget.govern(cause, member.spent);
    every = governor.every();
    if (governor.one_of() > 1) progress_.intervals = interval;
    budget.leave_out(governor.one_of() > 1 && interval % governor.one_of() != 0);
  });
  return every;
}

template <class World>
void Online<World>::join() {
  present().map(members_, [](std::uint32_t, Member& member) { member.rank->join(); });
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

/// Under the current clusters. Where ranks were found to differ from their leads, phases with these
/// clusters have none any more.
template <class World>
void Online<World>::flush() {
  merge(*clusters_.current,
        [&](std::uint32_t rank, const Member& member) { return keeps_in_lead(rank, member); });
  note_failure(attempt([&] {
    if (keeper_.found_differing()) clusters_.phases.replace(clusters_.current, nullptr);
  }));
}

template <class World>
template <class Keeps>
void Online<World>::merge(const Clustering& clustering, Keeps keeps) {
  if (aside_) return;  // what a flush left comes first, in MPI_Finalize
  progress_.since_flush = 0;
  if (progress_.phases_unflushed > 0) --progress_.phases_unflushed;
  progress_.flushed_ns = elapsed_ns();
  progress_.flushed = progress_.closed;
  ++facts_.flushes;  // what is left on SIGTERM from here on comes after this one
  aside_ = keeper_.flush(present(), clustering, keeper_.take_shares(present(), keeps),
                         time_classes(), said());
  work_.merging_ns += time_between(progress_.flushed_ns, elapsed_ns());
  present().map(members_, [](std::uint32_t, Member& member) {
    member.emptied_bytes = member.rank->memory_bytes();
  });
  after_flush();
  progress_.flush_ns = time_between(progress_.flushed_ns, elapsed_ns());
}

/// Clusters by all that ranks did since their last share. `elects`: and leads for what follows.
template <class World>
Clustering Online<World>::cluster_histories(bool elects) {
  auto signatures = present().map(members_, [&](std::uint32_t, Member& member) {
    const History mine = member.rank->history();
    member.keeps_history = !mine.alone;
    if (elects) member.rank->marker_log().note_election(options_.cluster, mine.signature);
    if (member.rank->failed()) throw std::bad_alloc();  // it has no signature
    return mine.signature;
  });
  Clustering clusters = cluster(present(), std::move(signatures));
  heed(present());
  return clusters;
}

/// Start-up and intervals of all tracing may differ between ranks that behave alike now: they are
/// merged under clusters of their own.
template <class World>
void Online<World>::flush_history() {
  progress_.all_keep = false;
  if (aside_) return;
  // If nothing may be lost, nobody is represented by anybody.
  merge_histories(lossless() ? Clustering() : cluster_histories(false));
}

template <class World>
void Online<World>::merge_histories(const Clustering& clusters) {
  merge(clusters, [&](std::uint32_t rank, const Member& member) {
    const SubCluster* mine = clusters.find(rank);
    return mine == nullptr || mine->lead == rank || member.keeps_history;
  });
}

template <class World>
void Online<World>::after_flush() {
  heed(present());
  if (!progress_.finalizing) compare_clocks(votes_, kFewRounds);  // at finalize that is done
}

}  // namespace chameleon::online
