// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Of Online: MPI_Finalize, markers that stop, and what is said of them.

#include <algorithm>
#include <utility>

#include "online/online.h"

namespace chameleon::online {

template <class World>
void Online<World>::meet() {
  if (!options_.clustering || machine_.stopped() || !vote(kForever, true)) close_intervals();
  if (deferred()) settle(kForever);
  const auto add = [](Ends& mine, Ends&& theirs) {
    mine.apart = mine.apart || theirs.apart || mine.carried_out != theirs.carried_out;
    mine.aside = mine.aside || theirs.aside;
    mine.failed = mine.failed || theirs.failed;
    mine.most_acted = std::max(mine.most_acted, theirs.most_acted);
  };
  const bool failed = votes_.failed() || votes_.failure() != Failure::kNone || progress_.gave_up;
  const Ends own{machine_.acted(), progress_.carried_out, aside_ || represents(), false, failed};
  const auto ends = last_.generate([&](std::uint32_t) { return own; });
  std::uint32_t missing = 0;
  ends_ = world::vote<Ends>(last_, ends, add, kEnds, kForever, missing).value_or(own);
  if (ends_.failed) forget_messages();
}

template <class World>
void Online<World>::forget_messages() {
  last_.map(members_, [](std::uint32_t, Member& member) { member.rank->forget_messages(); });
}

template <class World>
bool Online<World>::finish() {
  progress_.finalizing = true;
  compare_clocks(last_, kManyRounds);
  note_failure(intervals_.effort.end(last_, members_, machine_.acted(),
                                     !machine_.stopped() && !ends_.apart));
  if (!machine_.stopped()) set_aside(represents());
  const Decision decision = machine_.finalize();
  if (decision.state == State::kFinalize && ends_.most_acted != 0) note(decision, Vote());
  if (ends_.aside) flush_aside();
  join();
  if (!aside_ && ends_.most_acted == 0)
    merge_runs();
  else if (!aside_)
    flush_history();
  if (aside_) return false;
  last_.map(members_, [](std::uint32_t, Member& member) { member.rank->merged(); });
  keeper_.collect_facts(last_);
  heed(last_);
  collect_steps(last_, true);
  collect_sums();
  if (progress_.gave_up)
    votes_.drain();  // everyone has come by: what is left of lost votes is here
  if (last_.failed()) {
    last_.drain();
    if (root_ != nullptr)
      root_->say(
          "the last merge was given up after %ld s (ten times CHAMELEON_MARKER_TIMEOUT): the trace "
          "declares what did not arrive",
          static_cast<long>(patience()));
  }
  if (!keeper_.write_last(said())) say_fault(1);
  if (root_ != nullptr && keeper_.missing() > 0 && !progress_.said_fault && !progress_.gave_up &&
      !last_.failed())
    root_->say(
        "what %llu of %u ranks did could not be merged for lack of memory (see CHAMELEON_MEMORY): "
        "the trace declares that their events are missing",
        static_cast<unsigned long long>(keeper_.missing()), votes_.size());
  return true;
}

/// Without markers the whole run is the one interval: chapters 3 and 4 cluster it here. Chameleon's
/// own clustering is of what markers part.
template <class World>
void Online<World>::merge_runs() {
  const bool elects = options_.clustering && facts_.algorithm != cluster::presets().front().name;
  if (elects) {
    clusters_.current = clusters_.room.hold(cluster_histories(true));
    ++facts_.clusterings;
    note_clusters();
  }
  if (elects && !lossless()) return merge_histories(*clusters_.current);
  const std::uint64_t begin = elapsed_ns();
  aside_ = keeper_.merge_everything(last_);
  work_.merging_ns += time_between(begin, elapsed_ns());
  heed(last_);
}

/// What leads held for others is merged under the clusters in which they held it. If some rank
/// acted on a vote that others gave up, nobody can say who stands for whom in the interval before
/// it: then what ranks have is their own, and what others dropped is declared.
template <class World>
void Online<World>::flush_aside() {
  ++facts_.flushes;
  if (!aside_)  // of a world where some rank has one
    aside_ = last_.map(members_, [](std::uint32_t, Member&) {
      Share none;
      none.keeps = false;
      return none;
    });
  const Clustering nobody;
  const std::uint64_t begin = elapsed_ns();
  aside_ = keeper_.flush(last_, ends_.apart ? nobody : *clusters_.current, std::move(*aside_), 1,
                         said());
  work_.merging_ns += time_between(begin, elapsed_ns());
  heed(last_);
  if (!ends_.apart) return;
  keeper_.lose();
  if (root_ != nullptr)
    root_->say(
        "some ranks heard a vote that others gave up: what leads held for others since the flush "
        "before it is missing, which the trace declares");
}

/// What all ranks say at the end, bytes added up.
struct Sums {
  std::uint64_t bytes = 0, vote_bytes = 0, clustering_bytes = 0, clustering_ns = 0, merging_ns = 0;
  std::uint32_t second_threads = 0, faults = 0;
};

template <class World>
void Online<World>::collect_sums() {
  std::uint64_t bytes = votes_.traffic().bytes + last_.traffic().bytes;
  Work work = work_;
  const auto mine = last_.map(members_, [&](std::uint32_t, Member& member) {
    const Work own = std::exchange(work, Work());
    return Sums{std::exchange(bytes, 0),
                own.vote_bytes,
                own.clustering_bytes,
                own.clustering_ns,
                own.merging_ns,
                member.rank->marker_log().marks_from_second_thread() ? 1U : 0U,
                member.rank->failed() ? 1U : 0U};
  });
  const auto add = [](Sums& a, Sums&& b) {
    a.bytes += b.bytes;
    a.vote_bytes += b.vote_bytes;
    a.clustering_bytes += b.clustering_bytes;
    // Ranks do it together, and who is done waits: it takes the run as long as the slowest.
    a.clustering_ns = std::max(a.clustering_ns, b.clustering_ns);
    a.merging_ns = std::max(a.merging_ns, b.merging_ns);
    a.second_threads += b.second_threads;
    a.faults += b.faults;
  };
  std::uint32_t missing = 0;
  const Sums sums =
      world::vote<Sums>(last_, mine, add, kSums, patience(), missing).value_or(Sums());
  facts_.merge_bytes = sums.bytes - sums.vote_bytes - sums.clustering_bytes;
  facts_.vote_bytes = sums.vote_bytes;
  facts_.clustering_bytes = sums.clustering_bytes;
  facts_.clustering_ns = sums.clustering_ns;
  facts_.merging_ns = sums.merging_ns;
  say_fault(sums.faults);
  if (sums.second_threads == 0 || root_ == nullptr) return;
  root_->say(
      "markers from a second thread (%u rank%s) are not acted on; call chameleon_marker "
      "from one",
      sums.second_threads, sums.second_threads == 1 ? "" : "s");
}

template <class World>
void Online<World>::give_up(std::uint32_t missing) {
  progress_.gave_up = true;
  machine_.stop();
  votes_.leave_votes(progress_.votes);
  say_given_up(missing);
  perform(Action::kStop);
}

template <class World>
void Online<World>::say_given_up(std::uint32_t missing) {
  const bool failed = votes_.failed();
  votes_.map(members_, [&](std::uint32_t rank, Member& member) {
    if (failed && missing == rank)
      member.rank->say(
          "rank %u gave up a flush after %ld s (ten times CHAMELEON_MARKER_TIMEOUT): markers stop, "
          "what it had to send is missing",
          rank, static_cast<long>(patience()));
    if (!failed && !member.rank->ends() && (rank == 0 || (missing == 0 && rank == 1)))
      member.rank->say(
          "rank %u did not answer at marker %llu within %ld s (CHAMELEON_MARKER_TIMEOUT): markers "
          "stop, recording goes on",
          missing, static_cast<unsigned long long>(pace_.seen()),
          static_cast<long>(options_.marker_timeout));
  });
}

template <class World>
void Online<World>::compare_clocks(World& world, unsigned rounds) {
  // What the first reading has to find out belongs to no comparison.
  world.map(members_,
            [](std::uint32_t, Member& member) { static_cast<void>(member.rank->clock_ns()); });
  auto samples = world.sample_clocks(
      members_, [](std::uint32_t, Member& member) { return member.rank->clock_ns(); }, rounds);
  if (world.failed()) return;
  world.map(samples, [&](std::uint32_t rank, const ClockSample& sample) {
    keeper_.rank(rank).compared(sample);
  });
}

template <class World>
void Online<World>::note(const Decision& decision, const Vote& vote) {
  const std::uint64_t now = elapsed_ns();
  const auto state = static_cast<std::uint8_t>(decision.state);
  auto& phases = facts_.phases;
  if (phases.empty() || (phases.back().state != state && phases.size() < OnlineFacts::kMostPhases))
    note_failure(attempt([&] {
      phases.push_back({state, machine_.acted(), 0, vote.changed(), 0});
    }));
  if (phases.empty()) return;
  ++phases.back().markers;
  phases.back().end_ns = now;
}

template <class World>
OnlineFacts Online<World>::facts() const {
  OnlineFacts facts = facts_;
  facts.markers = pace_.seen();
  facts.acted = machine_.acted();
  for (std::size_t state = 0; state < 4; ++state)
    facts.count(state) = machine_.count(static_cast<State>(state));
  if (facts.flushes != 0) facts.filter = keeper_.filtered() ? "on" : "off";
  return facts;
}

template <class World>
std::uint64_t Online<World>::elapsed_ns() {
  std::uint64_t most = 0;
  votes_.map(members_, [&](std::uint32_t, Member& member) {
    most = std::max(most, member.rank->elapsed_ns());
  });
  return most;
}

template <class World>
void Online<World>::note_failure(Failure failure) {
  if (failure == Failure::kNone) return;
  votes_.map(members_, [&](std::uint32_t, Member& member) { member.rank->note_failure(failure); });
}

template <class World>
void Online<World>::say_fault(std::uint64_t ranks) {
  if (ranks == 0 || root_ == nullptr || std::exchange(progress_.said_fault, true)) return;
  root_->say(
      "the tracer failed on %llu of %u ranks, most likely for lack of memory: recording stops "
      "there, the trace declares what is missing",
      static_cast<unsigned long long>(ranks), votes_.size());
}

template <class World>
void Online<World>::say_uneven(std::uint32_t finalizing) {
  if (root_ == nullptr) return;
  const std::uint64_t marker = root_->ends() ? pace_.next() : pace_.seen();
  root_->say(
      "markers are not called equally often: %u of %u ranks are in MPI_Finalize at marker %llu of "
      "the others; markers stop, recording goes on",
      finalizing, votes_.size(), static_cast<unsigned long long>(marker));
}

}  // namespace chameleon::online
