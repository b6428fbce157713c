// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The rank of this process, as the online trace sees it: its recorder under the recorder's lock,
/// and its clock. Here is the fault boundary of markers: what fails becomes the process's fault
/// (fault.h).

#include "base/memory.h"
#include "online/rank.h"
#include "process/rank_budget.h"
#include "process/rank_report.h"

namespace chameleon::process {

class TracedRank final : public Rank {
 public:
  TracedRank(Recorder& recorder, RankReport& report, RankBudget& budget)
      : recorder_(recorder), report_(report), budget_(budget) {}

  bool ends() const override { return recorder_.times().ended() != 0; }
  ClosedInterval close_interval(bool elects) override;
  void join() override;
  void drop() override;
  History history() override;
  IntervalTimes interval_times() override;
  void waited_beyond(std::uint64_t least) override;
  void note_change() override { report_.count_change(); }
  void note_election(const ClusterOptions& how, const SignatureVector& signature) override;
  Share take_share(bool keeps) override;
  void complete_share(Share& share) override { record::complete_share(share); }
  Trace own_facts(bool lost_flush) override;
  std::uint64_t elapsed_ns() override { return recorder_.times().elapsed_ns(); }
  std::int64_t clock_ns() override;
  void compared(const ClockSample& sample) override;
  Budget& budget() override { return budget_; }
  std::uint64_t memory_bytes() const override { return memory_use().now; }
  void merged() override;
  bool failed() const override;
  void note_failure(Failure failure) override;
  void reached(Stage stage, std::uint64_t marker) override;
  bool marks_from_second_thread() const override { return second_thread_; }

  /// Whether this is the thread whose markers are acted on: the first that has one.
  bool takes_markers();
  /// The time since `begin` was the tool's, neither computation nor communication, at a marker
  /// that led to `state`.
  void spent_at_marker(std::uint64_t begin, State state);
  /// MPI_Finalize begins.
  void end() { recorder_.times().end(); }

 private:
  void say_line(const char* line) override;

  Recorder& recorder_;
  RankReport& report_;
  RankBudget& budget_;
  ClockFit clock_fit_;
  double scale_ = 0;  ///< ns a tick, in the present comparison of clocks
  struct Voting {
    std::uint64_t begun = 0;           ///< tick
    std::uint64_t ticks = 0;           ///< that the last one took
    std::uint64_t before = 0;          ///< and the one before, of which the ballots tell
    State state = State::kAllTracing;  ///< that its marker led to
  } voting_;
  std::uint64_t computed_ = 0, called_ = 0;  ///< ticks, up to the last marker
  long marker_thread_ = 0;
  bool second_thread_ = false;  ///< had a marker
};

}  // namespace chameleon::process
