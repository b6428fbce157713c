// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The job's trace at rank 0, part after part. It is in memory, and at flushes also in the file.
/// Beyond `OnlineOptions::online_limit` it lets go of what the file has: from there on, the file
/// alone has the whole, and memory what came since. The file is then a list of parts that readers
/// join, and no canonical whole at the end.

#include <cstddef>

#include "flush/rank_reports.h"
#include "flush/series_limit.h"
#include "online/options.h"
#include "online/rank.h"

namespace chameleon::online {

class RootTrace {
 public:
  RootTrace(const OnlineOptions& options, Output& output, Rank& root)
      : options_(options), output_(output), root_(root), online_(output.empty_trace()) {}

  /// Nothing failed in the middle of a change to it.
  bool whole() const { return whole_; }
  /// Joins what came next; `writes`: the file gets it, too.
  void take_in(Trace part, bool writes);

  /// What ranks say of their whole run.
  void accept(RankReports reports);
  void declare(const char* what, const RankList& ranks);
  /// Completes the file. `say(part, true)` adds to a part what the file says of markers.
  template <class Say>
  void write_last(Say say) {
    say(last(), true);
    flush::limit_series(last().series, options_.series_limit);
    last().complete = true;
    write_completed();
  }

 private:
  /// Gets what is known at the end: the trace, or a part of its own.
  Trace& last() { return let_go_ ? last_ : online_; }
  std::size_t most_values() const;
  void limit(Trace& trace);
  bool is_large();
  void let_go();
  void write_completed();

  const OnlineOptions& options_;
  Output& output_;
  Rank& root_;
  Trace online_;  ///< since `let_go`
  bool whole_ = true;
  bool said_limit_ = false;
  std::size_t held_ = 0;    ///< bytes of its nodes, at most
  bool let_go_ = false;     ///< at least once
  std::size_t values_ = 0;  ///< bytes of values that differ at each step, of what was let go
  FactsOfRanks former_;     ///< facts of what was let go
  PackedFacts facts_;       ///< of all ranks, at the end
  Trace last_;              ///< the last part, where `let_go_`
};

}  // namespace chameleon::online
