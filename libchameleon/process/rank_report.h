// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The report of this rank at the end: its facts, and what its part of the trace lacks.

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "process/rank_energy.h"
#include "process/settings.h"
#include "record/recorder.h"
#include "statemachine/table.h"

namespace chameleon::process {

class RankReport {
 public:
  RankReport(Recorder& recorder, const Settings& settings, int rank, int size);

  /// The trace is to declare this of the rank.
  void declare(std::string what) { declared_.push_back(std::move(what)); }
  /// A call had too little stack for being recorded. Any thread.
  void count_squeezed() { squeezed_.fetch_add(1, std::memory_order_relaxed); }
  /// The rank's Call-Path changed, at an acted-on marker.
  void count_change() { ++facts_.changed; }
  /// In the tool, of which `idle_ns` waiting for other ranks.
  void add_state_time(State state, std::uint64_t ns, std::uint64_t idle_ns) {
    facts_.tool_ns_in(static_cast<std::size_t>(state)) += ns;
    facts_.idle_ns_in(static_cast<std::size_t>(state)) += std::min(idle_ns, ns);
  }
  /// The rank's times in an interval of a phase, in ticks.
  void add_phase_time(std::uint32_t phase, const SpentTimes& spent) {
    phases_[std::min(phase, PhaseTotals::kOtherPhase)].add(spent);
  }
  /// The part of that which was not the tool's.
  void take_state_time(State state, std::uint64_t ns, std::uint64_t idle_ns) {
    std::uint64_t& sum = facts_.tool_ns_in(static_cast<std::size_t>(state));
    std::uint64_t& idle = facts_.idle_ns_in(static_cast<std::size_t>(state));
    sum = time_between(ns, sum);
    idle = std::min(time_between(std::min(ns, idle_ns), idle), sum);
  }

  void count_late_vote() { ++facts_.late_votes; }
  /// The cost of the run so far.
  void set_energy(const RankEnergy& energy) { energy.report(facts_); }

  /// A trace without events. Closes raw records.
  Trace trace(bool lost_flush, const RankClock& clock);

 private:
  SpentTimes spent(const Stream& stream, std::uint64_t run) const;
  PhaseTotals::ByPhase phases(SpentTimes all, std::uint64_t run) const;

  Recorder& recorder_;
  const Settings& settings_;
  std::uint32_t rank_, size_;
  RankFacts facts_;
  PhaseTotals::ByPhase phases_;  ///< ticks
  std::vector<std::string> declared_;
  std::atomic<std::uint64_t> squeezed_{0};
};

}  // namespace chameleon::process
