// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The online trace in the making: what happens at acted-on markers and in
/// MPI_Finalize. One vote of 16 bytes at each; then, as the state graph says,
/// clustering, election of leads, joining or dropping the interval, and flushes
/// that rank 0 appends to the file (dissertation section 5.1, Algorithms 6 to 8;
/// docs/design/marker.md). A rank that does not hear from the others in time
/// gives markers up: the application goes on and the trace stays complete.

#include <mpi.h>

#include <cstdint>
#include <string>

#include "cluster/double_step.h"
#include "flush/flush.h"
#include "format/file.h"
#include "markers/marker.h"
#include "online/governor.h"
#include "process/fault.h"
#include "process/settings.h"
#include "statemachine/state_machine.h"
#include "world/mpi_world.h"

namespace chameleon::process {
class Tracer;
}

namespace chameleon::online {

class Online {
 public:
  /// `votes` and `last` are communicators of the tool's own, the latter for finalize.
  Online(Tracer& tracer, MPI_Comm votes, MPI_Comm last);

  /// A marker was seen on this rank.
  void mark();
  /// In MPI_Finalize, on every rank, before `finish`: waits until all are there.
  void meet();
  /// Merges what is left and completes the trace.
  void finish();

  /// The first comparison of the ranks' clocks, after which they go on together, as they left
  /// MPI_Init. Collective.
  void compare_clocks();

  OnlineFacts facts() const;
  /// Where the run is, for people: the marker.
  std::string place() const;

 private:
  /// Questions a rank asks in a comparison of clocks. At a flush the first answer may have
  /// waited for another rank's.
  static constexpr unsigned kManyRounds = 10, kFewRounds = 2;
  static constexpr double kForever = 1e12;  ///< seconds

  void act();
  void govern(const Vote& vote, const Governor::Spent& spent);
  void perform(Action action, const SignatureVector& interval);
  void elect(const SignatureVector& interval);
  void flush(const Clustering& clustering, bool keeps);
  void flush_history();
  void commit(std::optional<Trace> merged);
  void note_arrived(const Trace& merged);
  RankList everyone() const;
  void compare_clocks(MpiWorld& world, unsigned rounds);
  void give_up(std::uint32_t missing);
  void say_uneven(std::uint32_t finalizing, std::uint64_t marker) const;
  void note(const Decision& decision, const Vote& vote);
  void merge_everything();
  void collect_facts();
  void accept_facts(Trace all);
  void write_last();
  Vote own_vote(Vote vote) const;
  /// Takes what failed on this rank in a collective operation as this rank's fault.
  void heed(const MpiWorld& world) const { note_fault(world.failure()); }
  void say_fault(std::uint64_t ranks);
  /// Adds up a small value over all ranks, on all ranks. Collective, no allocation.
  template <class T, class C>
  void add_up(T& value, C add) {
    std::uint32_t missing = 0;
    last_.small_all_reduce(value, add, sums_++, kForever, missing);
  }
  bool keeps_in_lead() const;
  bool lossless() const { return settings_.fidelity == Fidelity::kExact; }

  Tracer& tracer_;
  const Settings& settings_;
  MPI_Comm comm_;  ///< as `last`
  MarkerFrequency frequency_;
  StateMachine machine_;
  MpiWorld world_;  ///< of votes and flushes
  MpiWorld last_;   ///< of finalize: waits as long as MPI_Finalize would
  MpiWorld* present_ = &world_;
  Clustering clusters_;
  std::uint64_t previous_ = 0;
  std::uint32_t votes_ = 0, sums_ = 0;
  std::uint64_t since_flush_ = 0;
  std::uint64_t intervals_ = 0;   ///< since not all are recorded
  std::uint64_t most_acted_ = 0;  ///< markers, of any rank, at the end
  std::uint64_t end_begun_ = 0;   ///< in ticks
  bool regained_ = false;         ///< the frequency has just changed: intervals cannot be compared
  bool gave_up_ = false;
  bool lost_ = false;  ///< a flush failed
  long marker_thread_ = 0;
  bool second_thread_ = false;  ///< called a marker
  std::size_t threads_ = 1;     ///< with streams, at the last marker
  bool creates_ = false;  ///< the elected interval creates communicators, or has several threads
  OnlineFacts facts_;
  // Of rank 0:
  Trace online_;
  bool online_whole_ = true;      ///< nothing failed in the middle of a change to it
  RankList missing_;              ///< ranks whose events did not arrive in some flush
  bool missing_unknown_ = false;  ///< it may be more than those
  bool said_fault_ = false;
};

}  // namespace chameleon::online
