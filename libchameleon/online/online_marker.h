// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Of Online: the way of a marker.

#include <new>
#include <utility>

#include "base/hash.h"
#include "online/online.h"

namespace chameleon::online {

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

/// Whether the interval that ends was closed: not where the vote before it stops markers.
template <class World>
bool Online<World>::vote(double patience) {
  reached(Stage::kMarker);
  std::optional<Ballot> heard;
  if (deferred()) heard = settle(patience);
  if (machine_.stopped()) return false;
  if (deferred()) reached(Stage::kDone);
  cast();
  if (!deferred()) heard = settle(patience);
  if (heard) set_pace(*heard);
  return true;
}

/// Every rank's ballot about the interval that ends. Who never drops one keeps it now.
template <class World>
void Online<World>::cast() {
  const auto add = [](Ballot& mine, Ballot&& theirs) { combine(mine, theirs); };
  progress_.bytes = votes_.traffic().bytes;
  progress_.closed_ns = elapsed_ns();
  const Ballots ballots = close_intervals();
  progress_.regained = false;
  if (!deferred())
    reached(Stage::kVote);
  else if (lossless())
    join();
  votes_.cast(ballots, add, progress_.votes++);
  progress_.cast = true;
}

/// What all ranks said of the interval of the vote that was cast last, and what follows from it;
/// nothing if nothing does, or no vote is open.
template <class World>
std::optional<Ballot> Online<World>::settle(double patience) {
  if (deferred()) reached(Stage::kVote);
  std::optional<Ballot> all;
  std::uint32_t missing = 0;
  if (progress_.cast) {
    all = votes_.template collect<Ballot>(patience, missing);
    work_.vote_bytes += votes_.traffic().bytes - progress_.bytes;
  }
  const bool open = std::exchange(progress_.cast, false);
  reached(Stage::kDecided);
  if (!open || !conclude(all, patience, missing)) return std::nullopt;
  return all;
}

/// Waits until all ranks are at this marker: a flush that a rank does not join in time is lost.
template <class World>
bool Online<World>::all_are_here(double patience, std::uint32_t& missing) {
  reached(Stage::kVote);
  const auto add = [](Ballot& mine, Ballot&& theirs) { combine(mine, theirs); };
  const std::uint64_t bytes = votes_.traffic().bytes;
  votes_.cast(votes_.map(members_, [](std::uint32_t, Member&) { return Ballot(); }), add,
              progress_.votes++);
  const bool here = votes_.template collect<Ballot>(patience, missing).has_value();
  work_.vote_bytes += votes_.traffic().bytes - bytes;
  reached(Stage::kDecided);
  return here;
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
  const Decision decision = decide(all->vote);
  const bool measures =
      decision.action != Action::kStop && intervals_.effort.closes(machine_.acted());
  if (deferred() && (measures || is_collective(decision.action)) &&
      !all_are_here(patience, missing)) {
    set_aside(represented);
    give_up(missing);
    return false;
  }
  note_interval(*all, decision);
  if (measures) {  // before a flush, which has the window
    note_failure(intervals_.effort.close(votes_, members_, machine_.acted()));
    heed(votes_);
  }
  perform(decision.action, all->vote.phase());
  return decision.action != Action::kStop;
}

/// Before markers stop, if leads represent others: what they hold for others must not mix with what
/// every rank does from here on. It is merged in MPI_Finalize, where all ranks know that it is to
/// be.
template <class World>
void Online<World>::set_aside(bool represented) {
  if (!represented) return;
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

/// Every rank's ballot about the interval that ends.
template <class World>
typename Online<World>::Ballots Online<World>::close_intervals() {
  return votes_.map(members_, [&](std::uint32_t rank, Member& member) {
    Ballot ballot = own_ballot(rank, member);
    // With a fault a rank says nothing of its behaviour but that.
    if (member.rank->failed()) ballot.vote = Vote(0, member.rank->ends() ? 1 : 0, 1);
    return ballot;
  });
}

template <class World>
Ballot Online<World>::own_ballot(std::uint32_t rank, Member& member) const {
  member.times = member.rank->marker_log().interval_times();
  member.at_marker = !member.rank->ends();
  const IntervalTimes& times = member.times;
  const IntervalTally tally{RankExtent::of(rank, times.compute),
                            RankExtent::of(rank, times.communication),
                            RankExtent::of(rank, times.compute + times.communication),
                            RankExtent::of(rank, times.voting)};
  return {own_vote(rank, member), tally};
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
    if (member.at_marker) member.rank->marker_log().belongs_to(phase);
  });
  if (root_ == nullptr) return;
  SeriesSpan span;
  span.first = machine_.acted();
  span.end_ns = progress_.closed_ns;
  span.state = static_cast<std::uint8_t>(decision.state);
  span.all = all.tally;
  span.phase = phase;
  note_failure(attempt([&] { intervals_.series.begin(span); }));
}

/// A rank's part of the phase: the ranks of a phase may not change places, since its clusters are
/// of ranks, and one with further threads stands alone. What was left out is no phase.
inline std::uint64_t phase_hash(std::uint32_t rank, const ClosedInterval& interval) {
  if (interval.left_out) return 0;
  return combine(combine(interval.signature.call_path, rank), interval.threads);
}

template <class World>
Vote Online<World>::own_vote(std::uint32_t rank, Member& member) const {
  const bool ends = member.rank->ends();
  Vote vote(0, ends ? 1 : 0, 0);
  guarded(*member.rank, [&] {
    // Leads are elected by it only where a phase has none; at the end histories are compared.
    member.interval =
        member.rank->close_interval(ends || machine_.recluster() || clusters_.phases.awaits());
    if (ends) return;
    const ClosedInterval& interval = member.interval;
    // What was left out, or of another length, says nothing of a change; nor are leads elected
    // by what was left out.
    bool changed = machine_.acted() != 0 && !progress_.regained &&
                   interval.signature.call_path != member.previous;
    if (interval.left_out) changed = machine_.recluster();
    // Leads were elected when the rank had no such thread.
    if (std::exchange(member.threads, interval.threads) != interval.threads)
      changed = changed || machine_.acted() != 0;
    if (changed) member.rank->marker_log().note_change();
    if (options_.budget > 0) member.spent = member.rank->budget().spent();
    // By the rank's own clock and memory. That one rank finds so is enough: all flush at the same
    // marker.
    const auto passed = [&, now = member.rank->elapsed_ns()](double seconds) {
      return now >= progress_.flushed_ns + static_cast<std::uint64_t>(1e9 * seconds);
    };
    const bool due = passed(options_.flush_seconds) || holds_much(member) ||
                     (many_markers() && passed(options_.least_flush_seconds));
    const Governor::Cause cause = member.rank->budget().governor().over(member.spent);
    if (intervals_.observer != nullptr)
      intervals_.observer->interval(
          {rank, machine_.acted() + 1, machine_.state(), interval, member.times});
    if (!interval.left_out) intervals_.effort.note(member, machine_.acted() + 1);
    vote = Vote(changed ? 1 : 0, 0, 0, phase_hash(rank, interval),
                cause == Governor::Cause::kEvents ? 1 : 0,
                cause == Governor::Cause::kMarkers ? 0 : 1, due ? 1 : 0);
  });
  if (!member.interval.left_out) member.previous = member.interval.signature.call_path;
  return vote;
}

/// Whether a rank has come to hold much since the last flush. What it had before its first marker
/// does not count: that is the tool itself.
template <class World>
bool Online<World>::holds_much(Member& member) const {
  const std::uint64_t bytes = member.rank->memory_bytes();
  if (member.emptied_bytes == 0) member.emptied_bytes = bytes;
  return bytes > member.emptied_bytes + most_held();
}

template <class World>
Decision Online<World>::decide(const Vote& vote) {
  const bool at_once = options_.least_flush_seconds <= 0;
  progress_.due = (at_once && many_markers()) || vote.due() > 0;
  const Decision decision =
      machine_.step(vote, progress_.due, clusters_.phases.recall(vote.phase()));
  ++progress_.since_flush;
  note(decision, vote);
  say_fault(vote.faults());
  if (vote.faults() > 0) forget_messages();
  if (decision.action == Action::kStop && vote.finalizing() > 0) say_uneven(vote.finalizing());
  return decision;
}

template <class World>
void Online<World>::perform(Action action, std::uint64_t phase) {
  switch (action) {
    case Action::kRemember:
    case Action::kKeep:
    case Action::kStop:
    case Action::kFinish: return join();
    case Action::kFlushHistory: join(); return flush_history();
    case Action::kFlushAndElect: flush_represented(); [[fallthrough]];
    case Action::kClusterAndElect:
      join();
      flush_history();
      elect();
      return clusters_.phases.keep(phase, clusters_.current);
    case Action::kFlushAndKeep:
      if (progress_.since_flush > 1) flush();  // else C left nothing
      return join();
    case Action::kJoin: return drop();
    case Action::kJoinAndFlush: drop(); return flush();
    case Action::kTake:
    case Action::kSwitch: return take(action, phase);
    case Action::kTakeAndFlush:
    case Action::kSwitchAndFlush: take(action, phase); return flush();
  }
}

/// What leads hold for others, before other clusters hold.
template <class World>
void Online<World>::flush_represented() {
  if (!lossless() && progress_.since_flush > 1) flush();  // else C left nothing
}

/// The phase's clusters hold again, also for the interval that ended; what was kept before does not
/// belong to them.
template <class World>
void Online<World>::take(Action action, std::uint64_t phase) {
  Clusters taken = clusters_.phases.clusters(phase);  // before a flush that may forget them
  if (action == Action::kSwitch || action == Action::kSwitchAndFlush)
    flush_represented();
  else if (!lossless())
    flush_history();
  clusters_.current = std::move(taken);
  votes_.map(members_, [](std::uint32_t, Member& member) {
    member.stands_alone = stands_alone(member.interval);
  });
  drop();
  progress_.since_flush = std::max<std::uint64_t>(progress_.since_flush, 1);  // leads hold it
}

/// How many markers the next interval has. All ranks have heard the same of the last one.
template <class World>
void Online<World>::set_pace(const Ballot& all) {
  const std::uint64_t factor = options_.budget > 0 ? govern(all.vote) : 1;
  progress_.regained = pace_.adjust(all.tally.busy.most_ns, factor);
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
  if (lossless() || member.stands_alone) return true;
  const SubCluster* mine = clusters_.current->find(rank);
  return mine == nullptr || mine->lead == rank;
}

template <class World>
void Online<World>::elect() {
  auto signatures = votes_.map(members_, [&](std::uint32_t, Member& member) {
    SignatureVector signature = member.interval.signature;
    if (member.differs != 0) signature.tell_apart(member.differs);
    member.rank->marker_log().note_election(options_.cluster, signature);
    member.stands_alone = stands_alone(member.interval);
    if (member.rank->failed()) throw std::bad_alloc();  // it has no signature
    return signature;
  });
  clusters_.current = clusters_.room.hold(cluster(votes_, std::move(signatures)));
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
  work_.clustering_ns += elapsed_ns() - begin;
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
    if (keeper_.found_differing()) clusters_.phases.forget(clusters_.current);
  }));
}

template <class World>
template <class Keeps>
void Online<World>::merge(const Clustering& clustering, Keeps keeps) {
  progress_.since_flush = 0;
  progress_.flushed_ns = elapsed_ns();
  ++facts_.flushes;  // what is left on SIGTERM from here on comes after this one
  keeper_.flush(present(), clustering, keeper_.take_shares(present(), keeps), time_classes(),
                said());
  work_.merging_ns += elapsed_ns() - progress_.flushed_ns;
  present().map(members_, [](std::uint32_t, Member& member) {
    member.emptied_bytes = member.rank->memory_bytes();
  });
  after_flush();
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
