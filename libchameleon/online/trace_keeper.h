// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The online trace on its way to rank 0: flushes while the job runs, and the end. What does not
/// arrive, because a rank has no memory for it, is declared for exactly the ranks concerned.

#include <algorithm>
#include <optional>
#include <utility>

#include "cluster/by_signatures.h"
#include "compress/append.h"
#include "compress/distribution.h"
#include "compress/merge.h"
#include "flush/time_classes.h"
#include "model/online_facts.h"
#include "online/ranks.h"

namespace chameleon::online {

template <class World>
class TraceKeeper {
 public:
  /// `output` and `root` are rank 0's, and null elsewhere.
  TraceKeeper(Members<World>& members, const OnlineOptions& options, std::uint32_t size,
              Output* output, Rank* root)
      : members_(members), options_(options), size_(size), output_(output), root_(root) {
    if (output_ == nullptr) return;
    online_ = output_->empty_trace();
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
  /// classes. `say(part, false)` adds what the file says of markers. Collective.
  template <class Say>
  void flush(World& world, const Clustering& clustering, Shares shares, std::uint32_t classes,
             Say say) {
    auto merged = merged_shares(world, clustering, shares);
    auto times = gathered_times(world, shares, classes);
    lost_ = lost_ || world.failed();
    if (output_ == nullptr) return;
    const bool done = guarded(*root_, [&] {
      if (!arrived(merged)) return;
      say(*merged, false);
      merged->complete = false;
      if (times) merged->times = std::move(*times);
      if (!missing_.empty()) merged->declarations.push_back({kLostFlushDeclaration, missing_});
      const Trace partial = *merged;
      append_whole(std::move(*merged));
      output_->write(partial, online_);
    });
    missing_unknown_ = missing_unknown_ || !done;
  }

  /// The one merge of a job without markers. Collective.
  void merge_everything(World& world) {
    auto shares = world.map(
        members_, [](std::uint32_t, Member& member) { return member.rank->take_share(true); });
    auto times = gathered_times(world, shares, options_.time_classes);
    auto shipments = world.map(shares, [&](std::uint32_t rank, Share& share) {
      this->rank(rank).complete_share(share);
      Shipment mine;
      mine.trace = std::move(share.trace);
      return mine;
    });
    auto merged = world.reduce(std::move(shipments), [&](Shipment& mine, Shipment&& theirs) {
      join_shipments(mine, std::move(theirs));
      limit_values(mine.trace, options_.trace_limit);
    });
    if (output_ == nullptr) return;
    const bool done = guarded(*root_, [&] {
      std::optional<Trace> trace;
      if (merged) trace = std::move(merged->trace);
      if (!arrived(trace)) return;
      drop_ranks(*trace);
      if (times) trace->times = std::move(*times);
      append_whole(std::move(*trace));
    });
    missing_unknown_ = missing_unknown_ || !done;
  }

  /// What every rank says of itself, and what it declares. Collective.
  void collect_facts(World& world) {
    auto shipments = world.map(members_, [&](std::uint32_t, Member& member) {
      Shipment mine;
      mine.trace = member.rank->own_facts(lost_);
      return mine;
    });
    auto all = world.reduce(std::move(shipments), join_shipments);
    if (output_ == nullptr) return;
    if (!guarded(*root_, [&] { accept_facts(all ? std::move(all->trace) : Trace()); }))
      whole_ = false;
  }

  /// Completes the trace at rank 0; false if the file only says what is missing.
  template <class Say>
  bool write_last(Say say) {
    if (output_ == nullptr) return true;
    const bool written = whole_ && guarded(*root_, [&] {
                           say(online_, true);
                           online_.complete = true;
                           canonicalize(online_);
                           output_->write_last(online_);
                         });
    if (!written) output_->write_last_words();
    return written;
  }

  /// Tells whether ranks differed from their leads in the last flush that did not in those before
  /// of which this was asked. The same on all ranks.
  bool found_differing() {
    const bool found = !differing_.minus(differed_).empty();
    differed_.merge(differing_);
    return found;
  }

  /// Kinds of values stayed at home in some flush.
  bool filtered() const { return filtered_; }

  /// Events of any rank may be missing.
  void lose() { missing_unknown_ = true; }
  /// Ranks of which something did not arrive, as far as rank 0 knows.
  std::uint64_t missing() const { return missing_.size() + silent_.minus(missing_).size(); }

  /// A rank that is here.
  Rank& rank(std::uint32_t rank) {
    if constexpr (requires { members_.size(); })
      return *members_[rank].rank;
    else
      return *members_.value.rank;
  }

 private:
  std::optional<Trace> merged_shares(World& world, const Clustering& clustering, Shares& shares) {
    return flush::flush(
        world, shares, clustering,
        FlushOptions(options_.fidelity, options_.filter, options_.follows_rules),
        [&](std::uint32_t rank, Share& sent) { this->rank(rank).complete_share(sent); },
        [&](const FlushPlan& plan) {
          filtered_ = filtered_ || plan.filtered;
          note_differing(world, plan, shares);
        });
  }

  /// Ranks that were found to differ from their leads are told apart at the next election.
  void note_differing(World& world, const FlushPlan& plan, Shares& shares) {
    if (options_.fidelity != Fidelity::kChecked || options_.cluster.further == 0) return;
    differing_ = plan.differing();
    if (differing_.empty()) return;
    world.map(members_, [&](std::uint32_t rank, Member& member) {
      if (!differing_.contains(rank)) return;
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
    return gather_times(world, std::move(accounts), classes, ready);
  }

  /// Whose events are in a merged trace, in which all ranks should be. Whether there is one that
  /// can be joined to the trace.
  bool arrived(const std::optional<Trace>& merged) {
    if (!merged) {
      missing_.merge(everyone());
      return false;
    }
    missing_.merge(everyone().minus(merged->whole_ranks()));
    return whole_;
  }

  void append_whole(Trace merged) {
    whole_ = false;
    append(online_, std::move(merged));
    if (limit_values(online_, options_.trace_limit) > 0 && !std::exchange(said_limit_, true))
      root_->say(
          "values differ at each step and take more than CHAMELEON_TRACE_LIMIT=%lluM: those that "
          "take most become distributions, which the trace declares",
          static_cast<unsigned long long>(options_.trace_limit >> 20));
    whole_ = true;
  }

  void accept_facts(Trace all) {
    silent_ = everyone().minus(all.whole_ranks());
    online_.facts = std::move(all.facts);
    online_.totals = std::move(all.totals);
    online_.totals.limit(online_.times);
    online_.outliers = std::move(all.outliers);
    online_.pair_accounts = std::move(all.pair_accounts);
    online_.threads = std::max(online_.threads, all.threads);
    online_.declarations = std::move(all.declarations);
    const auto declare = [&](const char* what, const RankList& ranks) {
      for (Declaration& one : online_.declarations)
        if (one.what == what) return one.ranks.merge(ranks);
      if (!ranks.empty()) online_.declarations.push_back({what, ranks});
    };
    declare(kLostFlushDeclaration, missing_unknown_ ? everyone() : missing_);
    declare(kLostWordsDeclaration, silent_);
  }

  Members<World>& members_;
  const OnlineOptions& options_;
  std::uint32_t size_;
  Output* output_;
  Rank* root_;
  RankList differing_, differed_;  ///< see `found_differing`
  bool lost_ = false;              ///< a flush was given up
  bool filtered_ = false;          ///< see `filtered`
  // Of rank 0:
  Trace online_;
  bool whole_ = true;             ///< nothing failed in the middle of a change to it
  RankList missing_;              ///< ranks whose events did not arrive in some flush
  bool missing_unknown_ = false;  ///< it may be more than those
  RankList silent_;               ///< ranks of which no facts arrived
  bool said_limit_ = false;
};

}  // namespace chameleon::online
