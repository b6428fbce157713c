// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The process's record of its markers: its votes on the tracer's clock, its intervals' times, and,
/// in raw records, its elections and effort windows.

#include <array>
#include <optional>

#include "model/phase_totals.h"
#include "online/marker_log.h"
#include "process/rank_budget.h"
#include "process/rank_report.h"
#include "record/interval_account.h"
#include "world/waiting.h"

namespace chameleon::process {

class RankMarkers final : public MarkerLog {
 public:
  RankMarkers(Recorder& recorder, RankReport& report, RankBudget& budget)
      : recorder_(recorder), report_(report), budget_(budget) {}

  void reached(Stage stage, std::uint64_t marker) override;
  bool begin_round() override;
  void end_rounds() override;
  IntervalTimes interval_times() override;
  StepTimes step_times() override;
  void waited_beyond(std::uint64_t least) override;
  void led_to(State state) override;
  void belongs_to(std::uint32_t phase) override;
  bool waits_often() const override;
  void note_change() override { report_.count_change(); }
  void note_election(const ClusterOptions& how, const SignatureVector& signature) override;
  void note_efforts(const cluster::EffortOptions& how, std::uint64_t first,
                    const cluster::RankEfforts& efforts) override;
  bool marks_from_second_thread() const override { return second_thread_; }

  /// Whether this is the thread whose markers are acted on: the first that has one.
  bool takes_markers();
  /// The time since `begin` was the tool's, neither computation nor communication, at a marker
  /// that led to `state`, but for what led to others before.
  void spent(std::uint64_t begin, State state);
  /// The same in MPI_Finalize, which took the tool this many ticks.
  void spent_at_end(std::uint64_t ticks);
  /// The rank's waiting in the tool since the last of these.
  world::WaitAccount& waits() { return waits_; }
  RankEnergy& energy() { return energy_; }

 private:
  void note_in_raw(std::uint64_t marker);
  void end_interval();
  /// The stream of the thread that has markers.
  Stream& marking();

  Recorder& recorder_;
  RankReport& report_;
  RankBudget& budget_;
  /// The steps of a rank's votes at a marker.
  struct Voting {
    std::uint64_t ticks = 0;           ///< that it took
    State state = State::kAllTracing;  ///< that the marker led to
    std::uint64_t ahead = 0;           ///< computed up to there, since the event before
    double idle = 0;                   ///< s, of waiting for other ranks
  };
  struct {
    Voting present, before;   ///< the last marker, and the one before
    std::uint64_t begun = 0;  ///< tick
    double waited = 0;        ///< before
    bool decided = false;     ///< the present marker's first vote is over
    std::uint64_t votes = 0;  ///< each marker's first
    std::uint64_t late = 0;   ///< of these, waited for
  } voting_;
  /// An interval of which the vote is not over.
  struct Told {
    Voting voting;     ///< that began it
    SpentTimes spent;  ///< in it, ticks
  };
  std::array<Told, kMostUndecided> told_;
  std::size_t told_count_ = 0;  ///< the first of them are waiting
  /// Time at a marker up to the first of its two decisions.
  struct {
    std::uint64_t ns = 0, idle_ns = 0;
    std::optional<State> state;  ///< to which that led
  } before_;
  std::uint64_t marker_begun_ = 0;  ///< tick
  SpentTimes spent_;                ///< ticks, in the interval that is being decided about
  world::WaitAccount waits_;
  RankEnergy energy_;
  std::uint64_t interval_end_ = 0;  ///< tick; 0: it is over when someone asks
  struct {
    record::IntervalAccount intervals, steps;
  } accounts_;
  const void* marker_thread_ = nullptr;  ///< an address of its own
  bool second_thread_ = false;           ///< had a marker
};

}  // namespace chameleon::process
