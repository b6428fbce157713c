// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Of Online: the way of a marker.

#include <new>
#include <utility>

#include "base/hash.h"
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
  const bool acts = pace_.act();
  if (!options_.clustering || machine_.stopped()) return false;
  if (notes_steps()) note_step();
  if (!acts) return false;
  vote(options_.marker_timeout);
  return true;
}

/// Whether markers are or may become more than those that are acted on. The same on all ranks.
template <class World>
bool Online<World>::notes_steps() const {
  return options_.clustering &&
         (options_.call_frequency != 1 || governed() || pace_.finds_itself());
}

template <class World>
void Online<World>::note_step() {
  const std::uint64_t now = root_ != nullptr ? root_->elapsed_ns() : 0;
  votes_.map(members_, [&](std::uint32_t rank, Member& member) {
    guarded(*member.rank, [&] { StepKeeper<World>::note(rank, member, pace_.seen(), now); });
  });
  if (root_ != nullptr) intervals_.series.have_steps();
}

/// `last`: the run is over.
template <class World>
void Online<World>::collect_steps(World& world, bool last) {
  if (!notes_steps()) return;
  const std::vector<SeriesSpan> steps = StepKeeper<World>::collect(world, members_);
  heed(world);
  if (root_ == nullptr) return;
  note_failure(attempt([&] { intervals_.series.add_steps(steps, last); }));
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
  span.first = closed_at().last + 1 - closed_at().markers;
  span.intervals = closed_at().markers;
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

/// How many markers the next interval has. All ranks have heard the same of the last one.
template <class World>
void Online<World>::set_pace(const Heard& heard) {
  if (heard.count > 0) {
    const typename Heard::Interval& one = heard.longest();
    const std::uint64_t factor = governed() ? govern(one.all.vote) : 1;
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
  if (!progress_.finalizing) collect_steps(present(), false);
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
