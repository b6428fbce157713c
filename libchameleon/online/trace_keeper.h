// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The online trace on its way to rank 0: flushes while the job runs, and the end. What does not
/// arrive, because a rank has no memory for it, is declared for exactly the ranks concerned.

#include <algorithm>
#include <optional>
#include <utility>

#include "cluster/by_signatures.h"
#include "compress/distribution.h"
#include "compress/merge.h"
#include "flush/rank_reports.h"
#include "flush/share_pieces.h"
#include "flush/time_classes.h"
#include "online/ranks.h"
#include "online/root_trace.h"

namespace chameleon::online {

template <class World>
class TraceKeeper {
 public:
  /// `output` and `root` are rank 0's, and null elsewhere.
  TraceKeeper(Members<World>& members, const OnlineOptions& options, std::uint32_t size,
              Output* output, Rank* root)
      : members_(members), options_(options), size_(size), output_(output), root_(root) {
    if (output_ == nullptr) return;
    trace_.emplace(options, *output, *root);
    output_->keep_last_words(everyone());
  }

  RankList everyone() const { return RankList::range(0, size_ - 1); }

  using Shares = typename World::template PerRank<Share>;

  /// What the members hold. `keeps(rank, member)` says who brings its own to a flush, where others
  /// are represented by a lead.
  template <class Keeps>
  Shares take_shares(World& world, Keeps keeps) {
    return world.map(members_, [&](std::uint32_t rank, Member& member) {
      return member.rank->take_share(keeps(rank, member));
    });
  }

  /// Merges shares under these clusters into the online trace, with times of at most so many
  /// classes; large ones in several rounds, a piece of each rank in each. `say(part, false)` adds
  /// what the file says of markers. Where a process is about to end and no rank is represented, the
  /// flush ends with the present round, on all ranks alike: what is left comes back. Collective.
  template <class Say>
  std::optional<Shares> flush(World& world, const Clustering& clustering, Shares shares,
                              std::uint32_t classes, Say say) {
    Rounds rounds;
    do {
      Shares pieces = next_pieces(world, shares, rounds);
      auto merged = merged_shares(world, clustering, pieces, rounds);
      std::optional<TimeTable> times;
      if (!rounds.go_on()) times = gathered_times(world, shares, classes);
      lost_ = lost_ || world.failed();
      take_in(std::move(merged), std::move(times), true, [&](Trace& part) {
        if (!rounds.go_on()) say(part, false);  // before that a flush is not over
        part.complete = false;
        if (!missing_.empty()) part.declarations.push_back({kLostFlushDeclaration, missing_});
      });
    } while (rounds.go_on() && !world.failed());
    return left_of(world, std::move(shares), rounds);
  }

  /// The merge of a job without markers, in one round mostly. It may end early as a flush does.
  /// Collective.
  std::optional<Shares> merge_everything(World& world) {
    auto shares = world.map(
        members_, [](std::uint32_t, Member& member) { return member.rank->take_share(true); });
    Rounds rounds;
    bool several = false;
    do {
      auto pieces = next_pieces(world, shares, rounds);
      rounds = world.absent(true, rounds).rounds;
      several = several || rounds.more;
      std::optional<TimeTable> times;
      if (!rounds.go_on()) times = gathered_times(world, shares, options_.time_classes);
      auto shipments = world.map(pieces, [&](std::uint32_t rank, Share& share) {
        this->rank(rank).complete_share(share);
        Shipment mine;
        mine.trace = std::move(share.trace);
        return mine;
      });
      auto merged = world.reduce(std::move(shipments), [&](Shipment& mine, Shipment&& theirs) {
        join_shipments(mine, std::move(theirs));
        limit_values(mine.trace, options_.trace_limit);
      });
      std::optional<Trace> trace;
      if (merged) trace = std::move(merged->trace);
      take_in(std::move(trace), std::move(times), several, [](Trace& part) { drop_ranks(part); });
    } while (rounds.go_on() && !world.failed());
    return left_of(world, std::move(shares), rounds);
  }

  /// What every rank says of itself, and what it declares. Collective.
  void collect_facts(World& world) {
    auto all = flush::gather_reports(
        world, [&](std::uint32_t rank) { return this->rank(rank).own_facts(lost_); },
        [&](std::uint32_t rank) { return member(rank).time_class; });
    if (output_ == nullptr) return;
    silenced_ = !guarded(*root_, [&] { accept(all ? std::move(*all) : RankReports()); });
  }

  /// Completes the trace at rank 0; false if the file only says what is missing.
  template <class Say>
  bool write_last(Say say) {
    if (output_ == nullptr) return true;
    const bool written =
        trace_->whole() && !silenced_ && guarded(*root_, [&] { trace_->write_last(say); });
    if (!written) output_->write_last_words();
    return written;
  }

  /// Tells whether ranks differed from their leads in the last flush that did not in those before
  /// of which this was asked. The same on all ranks.
  bool found_differing() {
    const bool found = !differing_.now.minus(differing_.before).empty();
    differing_.before.merge(differing_.now);
    return found;
  }

  /// Kinds of values stayed at home in some flush.
  bool filtered() const { return filtered_; }

  /// Events of any rank may be missing.
  void lose() { missing_unknown_ = true; }
  /// Ranks of which something did not arrive, as far as rank 0 knows.
  std::uint64_t missing() const { return missing_.size() + silent_.minus(missing_).size(); }

  /// A rank that is here.
  Rank& rank(std::uint32_t rank) { return *member(rank).rank; }

 private:
  Member& member(std::uint32_t rank) {
    if constexpr (requires { members_.size(); })
      return members_[rank];
    else
      return members_.value;
  }

  /// The next piece of each share; `rounds`: of ranks that are here, about the next round.
  Shares next_pieces(World& world, Shares& shares, Rounds& rounds) {
    auto pieces = world.map(shares, [](std::uint32_t, Share& share) { return take_piece(share); });
    rounds = Rounds();
    world.map(shares, [&](std::uint32_t, Share& share) {
      rounds.add({has_more(share), false, !share.keeps});
    });
    world.map(members_, [&](std::uint32_t, Member& member) {
      rounds.add({false, member.rank->marker_log().begin_round(), false});
    });
    return pieces;
  }

  /// What a flush did not bring that ended early; nothing if it came to its end, or failed.
  std::optional<Shares> left_of(World& world, Shares shares, const Rounds& rounds) {
    world.map(members_,
              [](std::uint32_t, Member& member) { member.rank->marker_log().end_rounds(); });
    if (!rounds.more || rounds.go_on() || world.failed()) return std::nullopt;
    return shares;
  }

  /// At rank 0.
  template <class Finish>
  void take_in(std::optional<Trace> merged, std::optional<TimeTable> times, bool writes,
               Finish finish) {
    if (output_ == nullptr) return;
    const bool done = guarded(*root_, [&] {
      if (!arrived(merged)) return;
      finish(*merged);
      if (times) merged->times = std::move(*times);
      trace_->take_in(std::move(*merged), writes);
    });
    missing_unknown_ = missing_unknown_ || !done;
  }

  std::optional<Trace> merged_shares(World& world, const Clustering& clustering, Shares& shares,
                                     Rounds& rounds) {
    return flush::flush(
        world, shares, clustering,
        FlushOptions(options_.fidelity, options_.filter, options_.follows_rules),
        [&](std::uint32_t rank, Share& sent) { this->rank(rank).complete_share(sent); },
        [&](const FlushPlan& plan) {
          filtered_ = filtered_ || plan.filtered;
          note_differing(world, plan, shares);
        },
        &rounds);
  }

  /// Ranks that were found to differ from their leads are told apart at the next election.
  void note_differing(World& world, const FlushPlan& plan, Shares& shares) {
    if (options_.fidelity != Fidelity::kChecked || options_.cluster.further == 0) return;
    differing_.now = plan.differing();
    if (differing_.now.empty()) return;
    world.map(members_, [&](std::uint32_t rank, Member& member) {
      if (!differing_.now.contains(rank)) return;
      member.differs = 1;
      for (const std::uint64_t hash : share_of(shares, rank).hashes)
        member.differs = combine(member.differs, hash);
    });
  }

  /// Of the run so far. Nothing but at rank 0, and if no rank keeps times.
  std::optional<TimeTable> gathered_times(World& world, Shares& shares, std::uint32_t classes) {
    if (!options_.keeps_times) return std::nullopt;
    bool ready = false;
    world.map(shares,
              [&](std::uint32_t rank, Share&) { ready = ready || !this->rank(rank).failed(); });
    auto accounts =
        world.map(shares, [](std::uint32_t, Share& share) { return std::move(share.accounts); });
    return gather_times(
        world, std::move(accounts), classes, ready,
        [&](std::uint32_t rank, std::uint32_t of) { member(rank).time_class = of; });
  }

  /// Whose events are in a merged trace, in which all ranks should be. Whether there is one that
  /// can be joined to the trace.
  bool arrived(const std::optional<Trace>& merged) {
    if (!merged) {
      missing_.merge(everyone());
      return false;
    }
    missing_.merge(everyone().minus(merged->whole_ranks()));
    return trace_->whole();
  }

  void accept(RankReports reports) {
    silent_ = everyone().minus(reports.rest.whole_ranks());
    trace_->accept(std::move(reports));
    trace_->declare(kLostFlushDeclaration, missing_unknown_ ? everyone() : missing_);
    trace_->declare(kLostWordsDeclaration, silent_);
  }

  Members<World>& members_;
  const OnlineOptions& options_;
  std::uint32_t size_;
  Output* output_;
  Rank* root_;
  struct Differing {
    RankList now, before;
  } differing_;            ///< see `found_differing`
  bool lost_ = false;      ///< a flush was given up
  bool filtered_ = false;  ///< see `filtered`
  // Of rank 0:
  std::optional<RootTrace> trace_;
  bool silenced_ = false;         ///< it lacks what ranks say of themselves
  RankList missing_;              ///< ranks whose events did not arrive in some flush
  bool missing_unknown_ = false;  ///< it may be more than those
  RankList silent_;               ///< ranks of which no facts arrived
};

}  // namespace chameleon::online
