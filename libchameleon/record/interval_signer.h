// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Signs the intervals of a log: what the events of one come to, whether they are kept or not.
/// Cost: a few nanoseconds an event. An interval whose events are those of the one before is
/// compared with it and not signed again; only its times are added up.

#include <cstdint>
#include <vector>

#include "flush/flush.h"
#include "record/event_uses.h"
#include "record/interval_log.h"
#include "record/options.h"
#include "record/site_effort.h"
#include "signature/signature.h"

namespace chameleon::record {

/// What an interval's events come to.
struct SignedInterval {
  IntervalTotals totals;
  StreamHashes hashes{};
  std::uint64_t events = 0;
  std::uint64_t last_symbol = 0;
  bool creates = false;          ///< a communicator, group or topology
  std::uint64_t site_ticks = 0;  ///< of the call sites that effort windows are of
};

class IntervalSigner {
 public:
  explicit IntervalSigner(const RecordOptions& options);

  /// Partners are also read by XOR with this rank of the world.
  void read_by_xor(std::uint32_t rank) { signature_.read_by_xor(rank); }
  void follow(const RankRules& rules) { uses_.follow(rules); }
  void read(EventUses::Arrays arrays) { uses_.read(std::move(arrays)); }
  const EventUses::RuleCounts& rule_counts() const { return uses_.rule_counts(); }
  const signature::CallSites& sites() const { return uses_.sites(); }
  bool signs(Parameter parameter) const { return (options_.format & format_bit(parameter)) != 0; }
  /// Takes unsuccessful polls out of the log, unless all events are recorded.
  void leave_out_polls(IntervalLog& log, IntervalLog::TakenOut& polls);
  /// Signs what is in a log that is cleared before the interval ends.
  void sign(const IntervalLog& log);
  /// Ends the interval with what is in the log: all of it if `whole`. LOOP is in it only if it
  /// repeats one whose loops are known.
  SignedInterval close(const IntervalLog& log, bool whole, double ns_per_tick);
  /// The loops of the interval closed last, and so of those that repeat it.
  void know_loops(const ParameterTotal& loops) { before_.totals[Parameter::kLoop] = loops; }

 private:
  void add_hashes(std::uint32_t number);
  void add_times(const IntervalLog& log);
  void take_times(double ns_per_tick);
  bool repeats(const IntervalLog& log) const;
  void remember(const IntervalLog& log);

  const RecordOptions& options_;
  EventUses uses_;
  IntervalSignature signature_;
  SiteEffort sites_;
  SignedInterval present_;
  std::vector<std::uint64_t> polls_;  ///< distinct calls of the interval that may be unsuccessful
  std::uint64_t compute_ticks_ = 0, communication_ticks_ = 0, timed_ = 0;
  SignedInterval before_;                ///< the interval signed last as a whole
  std::vector<std::uint32_t> sequence_;  ///< its events
  std::uint32_t generation_ = 0;         ///< of the log's table that they are of
};

}  // namespace chameleon::record
