// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The online trace in the making: what happens at acted-on markers and in MPI_Finalize. One vote
/// of 152 bytes at each, or of twice as many at every second; then, as the state graph says,
/// clustering, election of leads, joining or dropping the interval, and flushes that rank 0 appends
/// to the file (dissertation section 5.1, Algorithms 6 to 8; docs/design/marker.md). A rank that
/// does not hear from the others in time gives markers up: the application goes on and the trace
/// stays complete.
///
/// Nobody has to wait for a vote (`Voting::kDeferred`): its result is collected at the next marker
/// and acted on there, for the interval that the vote was about. The states are those of waiting
/// votes, a marker later. Where the interval may have to be dropped, the rank holds it until then.
/// Where it never is, and ranks come to markers before votes are over, each vote is about two
/// intervals, and its result has two to arrive in.
///
/// Clusters are kept by phase: one that returns has its leads without a clustering. Few ranks that
/// stray from it stand alone, and leads go on tracing for the others.
///
/// Written for a world: in a job each process has its own rank, in a test one process has all.
/// Every public method is collective, but for `progress`.

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "markers/pace.h"
#include "online/ballot.h"
#include "online/cluster_room.h"
#include "online/effort_keeper.h"
#include "online/series_keeper.h"
#include "online/step_keeper.h"
#include "online/trace_keeper.h"
#include "statemachine/state_machine.h"

namespace chameleon::online {

/// A flush that all have agreed on, and the last merge, wait this much longer than a vote: a rank
/// may have much to merge before it takes what comes next.
inline constexpr double kFlushPatience = 10;
/// Where the user does not say how often flushes come, a rank asks for one only after so many times
/// what the last one took: they take it at most 0.1 % of the time, but for those that are due by
/// the clock.
inline constexpr double kFlushesApart = 1000;
/// Seconds. Only for ranks that are not in MPI_Finalize yet: the program may compute for as long as
/// it likes, and MPI_Finalize waits for it without the tool too.
inline constexpr double kForever = 1e12;

template <class World>
class Online {
 public:
  using Ranks = typename World::template PerRank<Rank*>;

  /// Votes and flushes are in the world `votes`, the merge in MPI_Finalize in `last`. `output` is
  /// rank 0's, and null elsewhere.
  Online(const OnlineOptions& options, World votes, World last, Ranks ranks, Output* output);

  /// A marker. Tells whether it was acted on.
  bool mark();
  /// Passes on, without waiting, what has come of a vote that was cast. Whether there is more to
  /// come. Not collective.
  bool progress() { return progress_.cast > 0 && votes_.progress(); }
  /// Whether a vote was cast of which the rank has not heard the result.
  bool vote_open() const { return progress_.cast > 0; }
  /// In MPI_Finalize, before `finish`: waits until all are there. A rank whose last marker was not
  /// that of the others answers them meanwhile.
  void meet();
  /// Merges what is left and completes the trace; false if a process is about to end before all is
  /// merged: the rest is in `aside` and on the ranks.
  bool finish();

  /// The first comparison of the ranks' clocks.
  void compare_clocks() { compare_clocks(votes_, kManyRounds); }

  /// What a rank held for others when markers stopped, or what is left of a flush that ended early.
  Share* aside(std::uint32_t rank) { return aside_ ? &flush::share_of(*aside_, rank) : nullptr; }

  /// What markers are from now on, in a word; and, if so, as often as is best.
  void marked_by(const std::string& source, bool paces);

  /// From now on; null: nobody sees them.
  void observe(IntervalObserver* observer) { intervals_.observer = observer; }

  /// On rank 0, before the process is ended: a fault there that no vote has told yet.
  void say_last_fault() { say_fault(root_ != nullptr && root_->failed() ? 1 : 0); }
  OnlineFacts facts() const;
  State state() const { return machine_.state(); }

 private:
  /// Questions a rank asks in a comparison of clocks. At a flush the first answer may have
  /// waited for another rank's.
  static constexpr unsigned kManyRounds = 10, kFewRounds = 2;
  /// Bytes that a rank may hold in any case.
  static constexpr std::uint64_t kLeastHeld = std::uint64_t{1} << 20;
  /// Flushes for ranks that stray, before one that is due.
  static constexpr unsigned kMostEarly = 8;
  /// Clusters of which the trace says what tells them apart.
  static constexpr std::size_t kMostSplits = 1024;
  /// Numbers of the votes at the end, in their world.
  static constexpr std::uint32_t kEnds = 0, kSums = 1;
  using Clusters = ClusterRoom::Clusters;
  using Phases = ClusterRoom::Phases;

  /// An interval about which nothing is decided yet.
  struct ClosedAt {
    std::uint64_t ns = 0;       ///< when it ended
    std::uint64_t markers = 1;  ///< that it had
    std::uint64_t last = 1;     ///< of them
  };

  /// What a vote has said of the one or two intervals after which markers go on.
  struct Heard {
    struct Interval {
      Ballot all;
      std::uint64_t markers = 1;

      std::uint64_t marker_ns() const { return all.tally.busy.most_ns / std::max(markers, 1UL); }
    };
    std::array<Interval, 2> intervals;
    std::size_t count = 0;

    /// That with the longest time between markers.
    const Interval& longest() const {
      const bool second = count == 2 && intervals[1].marker_ns() > intervals[0].marker_ns();
      return intervals[second ? 1 : 0];
    }
  };

  /// Where ranks are when all are in MPI_Finalize.
  struct Ends {
    std::uint64_t most_acted = 0;   ///< markers, of any rank
    std::uint32_t carried_out = 0;  ///< see `Progress`
    bool aside = false;             ///< some rank holds what others dropped
    bool apart = false;             ///< ranks differ in how many decisions they carried out
    bool failed = false;            ///< some rank, in what it did with others
  };
  static_assert(sizeof(Ends) == 16);

  /// What ranks that are here spent together with others.
  struct Work {
    std::uint64_t vote_bytes = 0, clustering_bytes = 0, clustering_ns = 0, merging_ns = 0;
  };

  // A marker, in this order; if votes are deferred, one is settled before the next is cast.
  bool vote(double patience, bool last = false);
  void cast(bool two);
  Heard settle(double patience);
  bool all_are_here(double patience, std::uint32_t& missing);
  bool conclude(const std::optional<Ballot>& all, double patience, std::uint32_t missing);
  void close_intervals();
  Decision decide(const Ballot& all);
  Astray astray(const Ballot& all) const;
  void perform(Action action, const Ballot& all = Ballot());
  std::uint64_t govern(const Vote& vote);
  void set_pace(const Heard& heard);

  void note_strays(std::uint32_t rank, Member& member, unsigned back);
  Ballot own_ballot(std::uint32_t rank, Member& member) const;
  Vote own_vote(std::uint32_t rank, Member& member) const;
  bool holds_much(Member& member) const;
  /// Since the last flush.
  bool many_markers() const { return progress_.since_flush + 1 >= options_.flush_every; }
  bool notes_steps() const;
  /// Whether the budget says how often markers are acted on. A number is a number, unless the user
  /// gave a budget too.
  bool governed() const {
    return options_.budget > 0 &&
           (options_.leaves_out || options_.call_frequency == kAutoFrequency);
  }
  void note_step();
  void collect_steps(World& world, bool last);
  void learn_waiting(const Ballot& all);
  void note_interval(const Ballot& all, const Decision& decision);
  void set_aside(bool represented);
  void join();
  void drop();
  void elect(std::uint64_t phase);
  void take(Action action, std::uint64_t phase);
  void take_clusters(Clusters clusters);
  Clusters joint_with(const Clusters& clusters);
  void settle_at(std::uint32_t rank, Member& member);
  void settled();
  void stand_alone(const StrayRanks& strays);
  void flush_due();
  void flush_represented();
  Clustering cluster(World& world, typename World::template PerRank<SignatureVector> signatures);
  Clustering cluster_histories(bool elects);
  void flush_history();
  void merge_histories(const Clustering& clusters);
  void merge_runs();
  void flush();
  void flush_aside();
  template <class Keeps>
  void merge(const Clustering& clustering, Keeps keeps);
  void after_flush();
  void give_up(std::uint32_t missing);
  void say_given_up(std::uint32_t missing);
  void compare_clocks(World& world, unsigned rounds);
  void note(const Decision& decision, const Vote& vote);
  void note_clusters();
  void collect_sums();

  /// What failed on a rank in a collective operation is the rank's failure.
  void heed(World& world) { note_failure(world.failure()); }
  void note_failure(Failure failure);
  void reached(Stage stage);
  void forget_messages();
  std::uint64_t elapsed_ns();
  void say_fault(std::uint64_t ranks);
  void say_uneven(std::uint32_t finalizing);

  /// For a keeper: puts into a part of the trace what it says of markers.
  auto said() {
    return [this](Trace& part, bool last) {
      part.online = facts();
      part.series.append(intervals_.series.take(last));
      part.efforts.append(intervals_.effort.take());
    };
  }
  bool lossless() const { return options_.fidelity == Fidelity::kExact; }
  /// Whether votes may be about two intervals: nobody has to hold one, and no decision about the
  /// former has to be known where the latter is closed.
  bool may_double() const {
    return deferred() && lossless() && !governed() && !options_.effort.on() &&
           intervals_.observer == nullptr;
  }
  bool deferred() const { return options_.voting == Voting::kDeferred; }
  /// What leads hold stands for what others dropped.
  bool represents() const {
    return machine_.state() == State::kLead && !lossless() && !progress_.all_keep;
  }
  bool keeps_in_lead(std::uint32_t rank, const Member& member) const;
  /// What leads hold for others is to be flushed before other clusters hold.
  bool holds_for_others() const {
    return !lossless() && !progress_.all_keep && progress_.since_flush > 1;  // else C left nothing
  }
  bool waits_for_all(Action action, const Ballot& all);
  /// What these ranks dropped so far is to be flushed before they keep what they do.
  bool flushes_for(const StrayRanks& strays) const { return holds_for_others() && strays.begins(); }
  /// The interval about which something is being decided.
  const ClosedAt& closed_at() const {
    return progress_.undecided[progress_.decided % kMostUndecided];
  }
  /// The same on a rank.
  Undecided& undecided(Member& member) const {
    return member.undecided[progress_.decided % kMostUndecided];
  }
  World& present() { return progress_.finalizing ? last_ : votes_; }
  /// What a rank may hold before all flush: rank 0 takes in what all of them hold.
  std::uint64_t most_held() const {
    return std::max(kLeastHeld, options_.trace_limit / (4 * std::uint64_t{votes_.size()}));
  }
  /// A flush that is not due by the clock or by markers comes early in the run, or soon after
  /// another one: then all ranks share their times.
  std::uint32_t time_classes() const {
    return progress_.finalizing || progress_.due ? options_.time_classes : 1;
  }
  /// Seconds after which what all ranks do together is given up.
  double patience() const { return kFlushPatience * options_.marker_timeout; }

  const OnlineOptions& options_;
  World votes_, last_;
  Rank* root_ = nullptr;  ///< rank 0, where it is
  Members<World> members_;
  TraceKeeper<World> keeper_;
  Pace pace_;
  static_assert(Pace::kAuto == kAutoFrequency);
  StateMachine machine_;
  /// Those that hold now, and those of phases seen before.
  struct {
    ClusterRoom room;
    Clusters current = room.hold({});
    Phases phases;
  } clusters_;
  /// What leads held for others in L when markers stopped: what comes behind it is every rank's
  /// own. Or what is left of a flush that ended early; no other one follows then, but in
  /// MPI_Finalize.
  std::optional<typename World::template PerRank<Share>> aside_;
  OnlineFacts facts_;
  /// Where an interval that a marker has closed goes: rank 0's series, effort windows, and whoever
  /// looks on.
  struct Intervals {
    explicit Intervals(const EffortOptions& options) : effort(options) {}
    SeriesKeeper series;
    EffortKeeper<World> effort;
    IntervalObserver* observer = nullptr;
  } intervals_;
  struct Progress {
    std::uint32_t votes = 0;
    unsigned cast = 0;        ///< intervals of a vote whose result was not collected yet
    std::uint64_t bytes = 0;  ///< sent before it
    bool two = false;         ///< votes are about two intervals from now on
    bool first = false;       ///< and the former has been closed
    std::uint64_t closed = 0, decided = 0;  ///< intervals
    std::uint64_t flushed = 0;              ///< that were closed before the last flush
    /// Decisions after which markers went on. A rank that hears a vote others have given up does
    /// nothing about it if what it asks for needs them.
    std::uint32_t carried_out = 0;
    std::array<ClosedAt, kMostUndecided> undecided;
    std::uint64_t since_flush = 0;     ///< markers
    std::uint64_t flushed_ns = 0;      ///< when the last flush began
    std::uint64_t flush_ns = 0;        ///< that it took
    unsigned early = 0;                ///< flushes for ranks that stray, since one that was due
    std::size_t phases = 0;            ///< seen for the first time, up to what the dictionary has
    std::size_t phases_unflushed = 0;  ///< of these: each is worth a flush that is not due
    bool all_keep = false;             ///< every rank keeps its intervals until a flush is due
    std::uint64_t intervals = 0;       ///< since not all are recorded
    bool due = false;                  ///< a flush, at the last marker, whatever had changed
    bool settled = false;   ///< the current clusters are newer than the ballots of the last vote
    bool regained = false;  ///< the frequency has just changed: intervals cannot be compared
    bool gave_up = false;
    bool finalizing = false;  ///< in `finish`
    bool said_fault = false;
  } progress_;
  Ends ends_;
  Work work_;
};

}  // namespace chameleon::online

#include "online/online_clusters.h"
#include "online/online_end.h"
#include "online/online_marker.h"
#include "online/online_vote.h"
