// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// What this rank's tracing may cost: time (CHAMELEON_BUDGET, with the steps that all ranks take)
/// and memory: its share of CHAMELEON_TRACE_LIMIT, beyond which values of an interval that no flush
/// ends become distributions, and CHAMELEON_MEMORY, beyond which it records nothing more.

#include <atomic>
#include <optional>
#include <string>

#include "online/rank.h"
#include "process/rank_report.h"

namespace chameleon::process {

class RankBudget final : public Budget {
 public:
  RankBudget(Recorder& recorder, RankReport& report, const Settings& settings, int rank, int size);

  const Governor& governor() const override { return governor_; }
  Governor::Spent spent() override;
  void govern(Governor::Cause cause, const Governor::Spent& now) override;
  void leave_out(bool interval) override;

  /// A full log was folded; `limited`: and values became distributions. How many bytes values may
  /// take when one is folded next, before more of them do; 0: any.
  std::size_t spilled(bool limited);
  /// Bytes that values of parameters may take of what no flush has taken yet.
  std::uint64_t most_values() const { return most_values_; }
  /// Values became distributions; said once.
  void say_values();
  /// Nothing more can be stored elsewhere, for this reason; empty: it was said.
  void note_unstored(const std::string& reason) { unstored_ = reason; }
  /// Stops recording when the tool has more memory than it may: said once, declared.
  void watch_memory();
  /// Whether a thread of this rank merges traces now, which may take more than what is recorded.
  void set_merging(bool merges) { merges_.store(merges, std::memory_order_relaxed); }
  /// A marker is acted on: where the run is, for people.
  void set_marker(std::uint64_t marker) { marker_.store(marker, std::memory_order_relaxed); }

 private:
  std::string place() const;
  void heed(const std::string& changed);
  std::size_t watch_values(bool limited);
  void watch_time();

  Recorder& recorder_;
  RankReport& report_;
  const Settings& settings_;
  int rank_;
  Governor governor_;
  std::uint64_t most_values_;         ///< bytes, of what no flush has taken yet
  std::uint64_t without_values_ = 0;  ///< bytes of memory, of something else
  std::optional<std::string> unstored_;
  bool bounding_ = false, said_values_ = false;
  std::atomic<bool> merges_{false};
  std::atomic<std::uint64_t> marker_{0};  ///< the last that was acted on
};

}  // namespace chameleon::process
