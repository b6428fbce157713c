// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The online trace in the making: what happens at acted-on markers and in MPI_Finalize. One vote
/// of 16 bytes at each; then, as the state graph says, clustering, election of leads, joining or
/// dropping the interval, and flushes that rank 0 appends to the file (dissertation section 5.1,
/// Algorithms 6 to 8; docs/design/marker.md). A rank that does not hear from the others in time
/// gives markers up: the application goes on and the trace stays complete.
///
/// Written for a world: in a job each process has its own rank, in a test one process has all.
/// Every public method is collective.

#include <cstdint>
#include <optional>
#include <string>

#include "markers/marker.h"
#include "online/trace_keeper.h"
#include "statemachine/state_machine.h"

namespace chameleon::online {

/// A flush that all have agreed on waits this much longer than a vote: a rank may have
/// much to merge before it takes what comes next.
inline constexpr double kFlushPatience = 10;
inline constexpr double kForever = 1e12;  ///< seconds

template <class World>
class Online {
 public:
  using Ranks = typename World::template PerRank<Rank*>;

  /// Votes and flushes are in the world `votes`, what happens in MPI_Finalize in `last`, which
  /// waits as long as MPI_Finalize would. `output` is rank 0's, and null elsewhere.
  Online(const OnlineOptions& options, World votes, World last, Ranks ranks, Output* output);

  /// A marker. Tells whether it was acted on.
  bool mark();
  /// In MPI_Finalize, before `finish`: waits until all are there.
  void meet();
  /// Merges what is left and completes the trace.
  void finish();

  /// The first comparison of the ranks' clocks.
  void compare_clocks() { compare_clocks(votes_, kManyRounds); }

  OnlineFacts facts() const;
  State state() const { return machine_.state(); }

 private:
  /// Questions a rank asks in a comparison of clocks. At a flush the first answer may have
  /// waited for another rank's.
  static constexpr unsigned kManyRounds = 10, kFewRounds = 2;
  /// Numbers of the votes at the end, in their world.
  static constexpr std::uint32_t kMostActed = 0, kSums = 1;
  using Votes = typename World::template PerRank<Vote>;

  // A marker, in this order.
  Votes close_intervals();
  Decision decide(const Vote& vote);
  void perform(Action action);
  void govern(const Vote& vote);

  Vote own_vote(Member& member) const;
  void join();
  void drop();
  void elect();
  void flush_history();
  void flush(const Clustering& clustering);
  void after_flush();
  void give_up(std::uint32_t missing);
  void compare_clocks(World& world, unsigned rounds);
  void note(const Decision& decision, const Vote& vote);
  void note_clusters();
  void collect_sums();

  /// What failed on a rank in a collective operation is the rank's failure.
  void heed(World& world) { note_failure(world.failure()); }
  void note_failure(Failure failure);
  std::uint64_t elapsed_ns();
  void say_fault(std::uint64_t ranks);
  void say_uneven(std::uint32_t finalizing, std::uint64_t marker);

  bool lossless() const { return options_.fidelity == Fidelity::kExact; }
  bool keeps_in_lead(std::uint32_t rank, const Member& member) const;
  World& present() { return finalizing_ ? last_ : votes_; }

  const OnlineOptions& options_;
  World votes_, last_;
  Rank* root_ = nullptr;  ///< rank 0, where it is
  Members<World> members_;
  TraceKeeper<World> keeper_;
  MarkerFrequency frequency_;
  StateMachine machine_;
  Clustering clusters_;
  OnlineFacts facts_;
  struct Counts {
    std::uint32_t votes = 0;
    std::uint64_t since_flush = 0;  ///< markers
    std::uint64_t intervals = 0;    ///< since not all are recorded
    std::uint64_t most_acted = 0;   ///< markers, of any rank, at the end
  } counts_;
  bool regained_ = false;  ///< the frequency has just changed: intervals cannot be compared
  bool gave_up_ = false;
  bool finalizing_ = false;  ///< in `finish`
  bool said_fault_ = false;
};

}  // namespace chameleon::online

#include "online/online_end.h"
#include "online/online_marker.h"
