// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Of Online: intervals that end, and the votes about them.

#include <utility>

#include "base/hash.h"
#include "online/online.h"

namespace chameleon::online {

/// Whether the interval that ends was closed: not where the vote before it stops markers. `last`:
/// no further marker comes.
template <class World>
bool Online<World>::vote(double patience, bool last) {
  reached(Stage::kMarker);
  const bool two = progress_.two;
  if (two && !progress_.first && !last) {
    close_intervals();
    progress_.first = true;
    return true;
  }
  Heard heard;
  if (deferred()) heard = settle(patience);
  if (machine_.stopped()) return false;
  if (deferred()) reached(Stage::kDone);
  if (two && !last && facts_.doubled == 0) facts_.doubled = machine_.acted() + 1;
  cast(two);
  if (!deferred()) heard = settle(patience);
  set_pace(heard);
  return true;
}

/// Every rank's ballot about the interval that ends, or about two. Of these one may be missing in
/// MPI_Finalize: there a rank says once more that it is there.
template <class World>
void Online<World>::cast(bool two) {
  if (two && !std::exchange(progress_.first, false)) close_intervals();
  close_intervals();
  if (!deferred()) reached(Stage::kVote);
  votes_.map(members_, [&](std::uint32_t rank, Member& member) {
    for (unsigned back = two ? 2 : 1; back > 0; --back) note_strays(rank, member, back);
  });
  progress_.settled = false;
  progress_.bytes = votes_.traffic().bytes;
  const auto add = [](auto& mine, auto&& theirs) { combine(mine, theirs); };
  if (two)
    votes_.cast(votes_.map(members_,
                           [](std::uint32_t, Member& member) {
                             return TwoBallots{member.former, member.latter};
                           }),
                add, progress_.votes++);
  else
    votes_.cast(votes_.map(members_, [](std::uint32_t, Member& member) { return member.latter; }),
                add, progress_.votes++);
  progress_.cast = two ? 2 : 1;
}

/// Whether a rank strays in an interval that is the last or the last but one. Of two, clusters may
/// be made anew by the former: see `astray`.
template <class World>
void Online<World>::note_strays(std::uint32_t rank, Member& member, unsigned back) {
  Undecided& one = member.undecided[(progress_.closed - back) % kMostUndecided];
  StrayRanks& strays = (back == 2 ? member.former : member.latter).strays;
  const std::uint64_t phase = phase_hash(rank, one.interval);
  if (one.regained && !one.interval.left_out) member.settled = phase;
  one.astray =
      one.at_marker && !one.interval.left_out && !machine_.recluster() && phase != member.settled;
  if (!one.astray) return;
  strays = StrayRanks::one();
  const SubCluster* mine = lossless() ? nullptr : clusters_.current->find(rank);
  const bool leads = mine != nullptr && mine->lead == rank && mine->ranks.size() > 1;
  if (leads) strays.lead(rank);
  if (leads ? !member.keeps_own : !keeps_in_lead(rank, member)) strays.begin();
}

/// What all ranks said in the vote that was cast last, and what follows from it, one interval after
/// the other.
template <class World>
typename Online<World>::Heard Online<World>::settle(double patience) {
  if (deferred()) reached(Stage::kVote);
  const unsigned cast = std::exchange(progress_.cast, 0);
  std::optional<TwoBallots> all;
  std::uint32_t missing = 0;
  if (cast == 2) all = votes_.template collect<TwoBallots>(patience, missing);
  if (cast == 1)
    if (const auto one = votes_.template collect<Ballot>(patience, missing)) all = {*one, Ballot()};
  if (cast > 0) work_.vote_bytes += votes_.traffic().bytes - progress_.bytes;
  reached(Stage::kDecided);
  Heard heard;
  for (unsigned i = 0; i < cast; ++i) {
    std::optional<Ballot> each;
    if (all) each = i == 0 ? all->first : all->second;
    if (!conclude(each, patience, missing)) break;
    heard.intervals[heard.count++] = {*each, closed_at().markers};
    ++progress_.decided;
    if (i + 1 == cast) continue;
    votes_.map(members_, [&](std::uint32_t, Member& member) {
      if (!member.rank->ends()) member.rank->marker_log().led_to(machine_.state());
    });
  }
  return heard;
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

/// Every rank's interval ends, and has a ballot. Who never drops one keeps it now.
template <class World>
void Online<World>::close_intervals() {
  const std::size_t interval = progress_.closed % kMostUndecided;
  progress_.undecided[interval] = {elapsed_ns(), pace_.every(), pace_.seen()};
  votes_.map(members_, [&](std::uint32_t rank, Member& member) {
    member.former = std::exchange(member.latter, own_ballot(rank, member));
    // With a fault a rank says nothing of its behaviour but that.
    if (member.rank->failed()) member.latter.vote = Vote(0, member.rank->ends() ? 1 : 0, 1);
  });
  ++progress_.closed;
  progress_.regained = false;
  if (deferred() && lossless()) join();
}

template <class World>
Ballot Online<World>::own_ballot(std::uint32_t rank, Member& member) const {
  member.times = member.rank->marker_log().interval_times();
  const IntervalTimes& times = member.times;
  const IntervalTally tally{RankExtent::of(rank, times.compute),
                            RankExtent::of(rank, times.communication),
                            RankExtent::of(rank, times.compute + times.communication),
                            RankExtent::of(rank, times.voting)};
  return {own_vote(rank, member), tally};
}

template <class World>
Vote Online<World>::own_vote(std::uint32_t rank, Member& member) const {
  const bool ends = member.rank->ends();
  Vote vote(0, ends ? 1 : 0, 0);
  if (std::exchange(member.over, ends)) return vote;
  Undecided& last = member.undecided[progress_.closed % kMostUndecided];
  last.at_marker = !ends;
  last.regained = false;
  guarded(*member.rank, [&] {
    // Leads are elected by it only where a phase has none, which may not be known yet; at the end
    // histories are compared.
    last.interval = member.rank->close_interval(ends || progress_.two || machine_.recluster() ||
                                                clusters_.phases.awaits());
    if (ends) return;
    const ClosedInterval& interval = last.interval;
    // What was left out, or of another length, says nothing of a change; nor are leads elected
    // by what was left out.
    bool changed = machine_.acted() != 0 && !progress_.regained &&
                   interval.signature.call_path != member.previous;
    if (interval.left_out) changed = machine_.recluster();
    // Leads were elected when the rank had no such thread.
    const bool new_threads = std::exchange(member.threads, interval.threads) != interval.threads;
    changed = changed || (new_threads && machine_.acted() != 0);
    last.regained = progress_.regained && !new_threads;
    if (changed) member.rank->marker_log().note_change();
    if (governed()) member.spent = member.rank->budget().spent();
    // By the rank's own clock and memory. That one rank finds so is enough: all flush at the same
    // marker.
    const auto passed = [&, now = member.rank->elapsed_ns()](double ns) {
      return now >= progress_.flushed_ns + static_cast<std::uint64_t>(ns);
    };
    const double soonest = std::max(1e9 * options_.least_flush_seconds,
                                    kFlushesApart * static_cast<double>(progress_.flush_ns));
    // By the clock, they take half of the budget at most.
    const double rare = options_.flush_seconds_given || options_.budget <= 0
                            ? 0
                            : 2 * static_cast<double>(progress_.flush_ns) / options_.budget;
    const bool due = passed(std::max(1e9 * options_.flush_seconds, rare)) || holds_much(member) ||
                     (many_markers() && passed(soonest));
    const Governor::Cause cause = member.rank->budget().governor().over(member.spent);
    if (intervals_.observer != nullptr)
      intervals_.observer->interval(
          {rank, machine_.acted() + 1, machine_.state(), interval, member.times});
    if (!interval.left_out) intervals_.effort.note(member, interval, machine_.acted() + 1);
    vote =
        Vote(changed ? 1 : 0, 0, 0, phase_hash(rank, interval),
             cause == Governor::Cause::kEvents ? 1 : 0, cause == Governor::Cause::kMarkers ? 0 : 1,
             due ? 1 : 0, may_double() && member.rank->marker_log().waits_often() ? 1 : 0);
  });
  if (!last.interval.left_out) member.previous = last.interval.signature.call_path;
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

}  // namespace chameleon::online
