// SPDX-License-Identifier: BSD-3-Clause
#include "online/online.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <limits>
#include <utility>

#include "compress/append.h"
#include "compress/merge.h"
#include "process/say.h"
#include "process/tracer.h"

namespace chameleon::online {
namespace {

/// A flush that all have agreed on waits this much longer than a vote: a rank may have
/// much to merge before it takes what comes next.
constexpr double kFlushPatience = 10;

/// A line of raw records for an election of leads: how, and this rank's signature.
void raw_election(std::FILE* file, const ClusterOptions& how, const SignatureVector& signature) {
  std::fprintf(file, "# elected %s %u %llu %u %u %llu", algorithm_name(how.algorithm), how.k,
               static_cast<unsigned long long>(how.seed), static_cast<unsigned>(how.distance),
               static_cast<unsigned>(how.format),
               static_cast<unsigned long long>(signature.call_path));
  for (const SignatureVector::Summary& one : signature.parameters)
    std::fprintf(file, " %a %llu", one.mean, static_cast<unsigned long long>(one.exact));
  std::fputc('\n', file);
}

/// Nobody is represented by anybody.
const Clustering kNoClusters;

}  // namespace

Online::Online(Tracer& tracer, MPI_Comm votes, MPI_Comm last)
    : tracer_(tracer),
      settings_(tracer.settings()),
      comm_(last),
      frequency_(settings_.call_frequency),
      world_(votes, kFlushPatience * settings_.marker_timeout),
      last_(last, kForever) {
  online_ = tracer.empty_trace();
  facts_.clustering = settings_.clustering ? algorithm_name(settings_.cluster.algorithm) : "off";
  facts_.fidelity = fidelity_name(settings_.fidelity);
  facts_.call_frequency = settings_.call_frequency;
  facts_.k = settings_.cluster.k;
  if (tracer.rank() == 0) tracer.keep_last_words(everyone());
}

RankList Online::everyone() const {
  return RankList::range(0, static_cast<std::uint32_t>(tracer_.size()) - 1);
}

void Online::mark() {
  {
    const auto held = tracer_.lock();
    const long thread = ::syscall(SYS_gettid);
    if (marker_thread_ == 0) marker_thread_ = thread;
    if (thread != marker_thread_) {
      second_thread_ = true;
      return;
    }
    if (!frequency_.act() || !settings_.clustering || machine_.stopped()) return;
  }
  const std::uint64_t begin = tracer_.clock().now();
  act();
  g_door.set(Together::kNothing);
  guarded([&] { tracer_.spent_at_marker(begin, machine_.state()); });
}

/// With a fault a rank says nothing but that.
Vote Online::own_vote(Vote vote) const {
  return has_fault() ? Vote(0, vote.finalizing(), 1) : vote;
}

void Online::say_fault(std::uint64_t ranks) {
  if (ranks == 0 || tracer_.rank() != 0 || std::exchange(said_fault_, true)) return;
  say_plain(
      "the tracer failed on %llu of %d ranks, most likely for lack of memory: recording stops "
      "there, the trace declares what is missing",
      static_cast<unsigned long long>(ranks), tracer_.size());
}

void Online::act() {
  SignatureVector interval;
  Governor::Spent spent;
  Vote vote;
  guarded([&] {
    const auto held = tracer_.lock();
    // Leads are elected by it only where there are none.
    interval = tracer_.streams().close_interval(tracer_.ns_per_tick(), machine_.recluster());
    // What was left out, or of another length, says nothing of a change; nor are leads elected
    // by what was left out.
    bool changed = machine_.acted() != 0 && !regained_ && interval.call_path != previous_;
    if (tracer_.leaves_out()) changed = machine_.recluster();
    // Leads were elected when the rank had no such thread.
    if (threads_ != tracer_.streams().count()) {
      changed = changed || machine_.acted() != 0;
      threads_ = tracer_.streams().count();
    }
    if (settings_.budget > 0) spent = tracer_.spent();
    const Governor::Cause cause = tracer_.governor().over(spent);
    vote =
        Vote(changed ? 1 : 0, 0, 0, mix(interval.call_path),
             cause == Governor::Cause::kEvents ? 1 : 0, cause == Governor::Cause::kMarkers ? 0 : 1);
  });
  vote = own_vote(vote);
  g_door.set(Together::kVote);
  if (!tracer_.leaves_out()) previous_ = interval.call_path;
  regained_ = false;
  // Rank 0 gives up first and says so; the others then need not.
  const double patience = settings_.marker_timeout + (tracer_.rank() == 0 ? 0.0 : 1.0);
  std::uint32_t missing = 0;
  const auto add = [](Vote& mine, Vote&& theirs) { combine(mine, theirs); };
  if (!world_.small_all_reduce(vote, add, votes_++, patience, missing)) return give_up(missing);
  const bool leading = machine_.state() == State::kLead;
  Decision decision;
  {
    const auto held = tracer_.lock();  // `place` is asked by any thread
    decision = machine_.step(vote, since_flush_ + 1 >= settings_.flush_every);
    g_door.set(Together::kDecided);
  }
  ++since_flush_;
  note(decision, vote);
  say_fault(vote.faults());
  if (decision.action == Action::kStop && vote.finalizing() > 0)
    say_uneven(vote.finalizing(), frequency_.seen());
  // Leads hold what the others dropped; at finalize every rank has to have its own.
  if (vote.faults() > 0 && leading && !lossless()) flush(clusters_, keeps_in_lead());
  perform(decision.action, interval);
  if (settings_.budget > 0 && decision.action != Action::kStop) govern(vote, spent);
}

// All ranks have the same vote and take the same step.
void Online::govern(const Vote& vote, const Governor::Spent& spent) {
  const auto held = tracer_.lock();
  Governor& governor = tracer_.governor();
  const Governor::Cause cause = vote.dear_events() > 0      ? Governor::Cause::kEvents
                                : vote.cheap_markers() == 0 ? Governor::Cause::kMarkers
                                                            : Governor::Cause::kNone;
  const std::uint64_t every = governor.every();
  guarded([&] { tracer_.govern(cause, spent); });
  regained_ = governor.every() != every;
  facts_.call_frequency = settings_.call_frequency * governor.every();
  frequency_.act_on_every(facts_.call_frequency);
  tracer_.leave_out(governor.one_of() > 1 && ++intervals_ % governor.one_of() != 0);
}

std::string Online::place() const {
  return machine_.acted() == 0 ? "before any marker"
                               : "from marker " + std::to_string(frequency_.seen()) + " on";
}

void Online::perform(Action action, const SignatureVector& interval) {
  const auto join = [&] {
    guarded([&] {
      const auto held = tracer_.lock();
      tracer_.streams().join(tracer_.ns_per_tick());
    });
  };
  switch (action) {
    case Action::kRemember:
    case Action::kKeep:
    case Action::kStop:
    case Action::kFinish: return join();
    case Action::kFlushHistory: join(); return flush_history();
    case Action::kClusterAndElect:
      join();
      flush_history();
      return elect(interval);
    case Action::kFlushAndKeep:
      if (since_flush_ > 1) flush(clusters_, keeps_in_lead());  // else C left nothing
      return join();
    case Action::kJoin:
    case Action::kJoinAndFlush:
      if (keeps_in_lead())
        join();
      else
        guarded([&] {
          const auto held = tracer_.lock();
          tracer_.streams().drop();
        });
      break;
  }
  if (action == Action::kJoinAndFlush) flush(clusters_, keeps_in_lead());
}

bool Online::keeps_in_lead() const {
  if (lossless() || creates_) return true;
  const SubCluster* mine = clusters_.find(static_cast<std::uint32_t>(tracer_.rank()));
  return mine == nullptr || mine->lead == static_cast<std::uint32_t>(tracer_.rank());
}

void Online::elect(const SignatureVector& interval) {
  MpiWorld::PerRank<SignatureVector> signature{interval, has_fault()};
  {
    const auto held = tracer_.lock();
    if (std::FILE* const raw = tracer_.streams().first().raw)
      raw_election(raw, settings_.cluster, interval);
    creates_ = tracer_.streams().interval_creates() || tracer_.streams().count() > 1;
  }
  clusters_ = cluster::cluster(*present_, std::move(signature), settings_.cluster);
  heed(*present_);
  ++facts_.clusterings;
  facts_.clusters.clear();
  const bool told = guarded([&] {
    RankList all;
    for (const MainCluster& main : clusters_.main)
      for (const SubCluster& one : main.clusters) {
        facts_.clusters.push_back({main.call_path, one.lead, one.ranks});
        all.merge(one.ranks);
      }
    if (all != everyone()) facts_.clusters.clear();  // without some ranks they are others
  });
  if (!told) facts_.clusters.clear();
}

void Online::flush_history() {
  if (lossless()) return flush(kNoClusters, true);
  MpiWorld::PerRank<SignatureVector> signature;
  bool alone = true;
  {
    const auto held = tracer_.lock();
    signature.value = tracer_.streams().history();
    signature.lost = has_fault();
    alone = !tracer_.streams().history_creates() && tracer_.streams().count() == 1;
  }
  const Clustering history = cluster::cluster(*present_, std::move(signature), settings_.cluster);
  heed(*present_);
  const auto rank = static_cast<std::uint32_t>(tracer_.rank());
  const SubCluster* mine = history.find(rank);
  const bool keeps = mine == nullptr || mine->lead == rank || !alone;
  flush(history, keeps);
}

void Online::flush(const Clustering& clustering, bool keeps) {
  give_back_space();
  MpiWorld::PerRank<Share> share;
  const bool taken = guarded([&] {
    const auto held = tracer_.lock();
    ++facts_.flushes;  // what is left on SIGTERM from here on comes after this one
    share.value = tracer_.take_share(keeps);
  });
  share.lost = !taken || tracer_.streams().broken();
  since_flush_ = 0;
  auto merged = flush::flush(*present_, share, clustering, settings_.fidelity,
                             [&](Share& sent) { tracer_.complete_share(sent); });
  heed(*present_);
  lost_ = lost_ || present_->failed();
  if (present_ == &world_) compare_clocks(*present_, kFewRounds);  // at finalize that is done
  if (tracer_.rank() == 0) commit(std::move(merged));
  if (present_ == &world_) reserve_space();
}

void Online::compare_clocks() {
  compare_clocks(world_, kManyRounds);
  PMPI_Barrier(comm_);
}

void Online::compare_clocks(MpiWorld& world, unsigned rounds) {
  const double scale = tracer_.ns_per_tick();
  const ClockSample sample = world.sample_clock([&] { return tracer_.local_ns(scale); }, rounds);
  if (!world.failed()) guarded([&] { tracer_.clock_fit().add(sample); });
}

/// Whose events are in the merged trace of a flush, in which all ranks should be.
void Online::note_arrived(const Trace& merged) {
  missing_.merge(everyone().minus(merged.whole_ranks()));
}

void Online::commit(std::optional<Trace> merged) {
  const bool done = guarded([&] {
    if (!merged) return missing_.merge(everyone());
    note_arrived(*merged);
    if (!online_whole_) return;
    merged->online = facts();
    merged->complete = false;
    if (!missing_.empty()) merged->declarations.push_back({kLostFlushDeclaration, missing_});
    const Trace partial = *merged;
    online_whole_ = false;
    append(online_, std::move(*merged));
    online_whole_ = true;
    tracer_.write(partial, online_);
  });
  missing_unknown_ = missing_unknown_ || !done;
}

void Online::note(const Decision& decision, const Vote& vote) {
  const std::uint64_t now = tracer_.elapsed_ns();
  const auto state = static_cast<std::uint8_t>(decision.state);
  auto& phases = facts_.phases;
  if (phases.empty() || (phases.back().state != state && phases.size() < OnlineFacts::kMostPhases))
    guarded([&] { phases.push_back({state, machine_.acted(), 0, vote.changed(), 0}); });
  if (phases.empty()) return;
  ++phases.back().markers;
  phases.back().end_ns = now;
}

OnlineFacts Online::facts() const {
  OnlineFacts facts = facts_;
  facts.markers = frequency_.seen();
  facts.acted = machine_.acted();
  for (std::size_t state = 0; state < 4; ++state)
    facts.count(state) = machine_.count(static_cast<State>(state));
  return facts;
}

void Online::give_up(std::uint32_t missing) {
  gave_up_ = true;
  machine_.stop();
  const auto rank = static_cast<std::uint32_t>(tracer_.rank());
  if (world_.failed()) {
    if (missing == rank)
      say("rank " + std::to_string(rank) + " gave up a flush after " +
          std::to_string(static_cast<long>(kFlushPatience * settings_.marker_timeout)) +
          " s (ten times CHAMELEON_MARKER_TIMEOUT): markers stop, what it had to send is missing");
  } else if (rank == 0 || (missing == 0 && rank == 1)) {
    say("rank " + std::to_string(missing) + " did not answer at marker " +
        std::to_string(frequency_.seen()) + " within " +
        std::to_string(static_cast<long>(settings_.marker_timeout)) +
        " s (CHAMELEON_MARKER_TIMEOUT): markers stop, the trace stays complete");
  }
  perform(Action::kStop, {});
}

void Online::say_uneven(std::uint32_t finalizing, std::uint64_t marker) const {
  if (tracer_.rank() == 0)
    say("markers are not called equally often: " + std::to_string(finalizing) + " of " +
        std::to_string(tracer_.size()) + " ranks are in MPI_Finalize at marker " +
        std::to_string(marker) + " of the others; markers stop, the trace stays complete");
}

void Online::meet() {
  end_begun_ = tracer_.clock().now();
  guarded([&] {
    const auto held = tracer_.lock();
    tracer_.streams().close_interval(tracer_.ns_per_tick());
  });
  if (settings_.clustering && !machine_.stopped()) {
    Vote vote = own_vote(Vote(0, 1, 0));
    std::uint32_t missing = 0;
    const auto add = [](Vote& mine, Vote&& theirs) { combine(mine, theirs); };
    if (!world_.small_all_reduce(vote, add, votes_++, kForever, missing))
      gave_up_ = true;
    else if (vote.finalizing() < static_cast<std::uint32_t>(tracer_.size()))
      say_uneven(vote.finalizing(), frequency_.next());
  }
  most_acted_ = machine_.acted();
  add_up(most_acted_,
         [](std::uint64_t& mine, std::uint64_t&& theirs) { mine = std::max(mine, theirs); });
}

void Online::finish() {
  compare_clocks(last_, kManyRounds);
  const bool leading = machine_.state() == State::kLead;
  const Decision decision = machine_.finalize();
  if (decision.state == State::kFinalize && most_acted_ != 0) note(decision, Vote());
  const auto join = [&] { guarded([&] { tracer_.streams().join(tracer_.ns_per_tick()); }); };
  if (most_acted_ == 0) {
    join();
    merge_everything();
  } else {
    present_ = &last_;
    if (leading && !lossless()) flush(clusters_, keeps_in_lead());
    join();
    flush_history();
  }
  guarded([&] { tracer_.spent_at_marker(end_begun_, State::kFinalize); });
  collect_facts();
  if (gave_up_) world_.drain();  // everyone has come by: what is left of lost votes is here
  if (tracer_.rank() == 0) write_last();
}

void Online::merge_everything() {
  MpiWorld::PerRank<Shipment> mine;
  const bool taken = guarded([&] {
    Share share = tracer_.take_share(true);
    tracer_.complete_share(share);
    mine.value.trace = std::move(share.trace);
  });
  mine.lost = !taken || tracer_.streams().broken();
  auto merged = last_.reduce(std::move(mine), join_shipments);
  heed(last_);
  if (tracer_.rank() != 0) return;
  const bool done = guarded([&] {
    if (!merged) return missing_.merge(everyone());
    note_arrived(merged->trace);
    canonicalize(merged->trace);
    online_whole_ = false;
    append(online_, std::move(merged->trace));
    online_whole_ = true;
  });
  missing_unknown_ = missing_unknown_ || !done;
}

namespace {

/// What all ranks add up at the end.
struct Sums {
  std::uint64_t bytes = 0;
  std::uint32_t second_threads = 0, faults = 0;
};

}  // namespace

// What every rank says of itself, and what it declares.
void Online::collect_facts() {
  MpiWorld::PerRank<Shipment> mine;
  mine.lost = !guarded([&] { mine.value.trace = tracer_.own_facts(lost_); });
  const std::uint64_t bytes = world_.traffic().bytes + last_.traffic().bytes;
  auto all = last_.reduce(std::move(mine), join_shipments);
  heed(last_);
  Sums sums{bytes, second_thread_ ? 1U : 0U, has_fault() ? 1U : 0U};
  add_up(sums, [](Sums& a, Sums&& b) {
    a.bytes += b.bytes;
    a.second_threads += b.second_threads;
    a.faults += b.faults;
  });
  if (tracer_.rank() != 0) return;
  facts_.merge_bytes = sums.bytes;
  say_fault(sums.faults);
  if (sums.second_threads > 0)
    say_plain(
        "markers from a second thread (%u rank%s) are not acted on; call chameleon_marker "
        "from one",
        sums.second_threads, sums.second_threads == 1 ? "" : "s");
  if (!guarded([&] { accept_facts(all ? std::move(all->trace) : Trace()); })) online_whole_ = false;
}

void Online::accept_facts(Trace all) {
  const RankList silent = everyone().minus(all.whole_ranks());
  online_.facts = std::move(all.facts);
  online_.threads = std::max(online_.threads, all.threads);
  online_.declarations = std::move(all.declarations);
  const auto declare = [&](const char* what, const RankList& ranks) {
    for (Declaration& one : online_.declarations)
      if (one.what == what) return one.ranks.merge(ranks);
    if (!ranks.empty()) online_.declarations.push_back({what, ranks});
  };
  declare(kLostFlushDeclaration, missing_unknown_ ? everyone() : missing_);
  declare("what these ranks say of themselves was lost: calls may be missing", silent);
}

void Online::write_last() {
  const bool written = online_whole_ && guarded([&] {
                         online_.online = facts();
                         online_.complete = true;
                         canonicalize(online_);
                         tracer_.write_last(online_);
                       });
  if (written) return;
  tracer_.write_last_words();
  say_fault(1);
}

}  // namespace chameleon::online
