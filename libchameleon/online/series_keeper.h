// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The series on its way into the file. An interval is complete when the ballots of the next marker
/// have told how long ranks waited at its own. Of what ranks spent in a vote, the least is what
/// voting takes by itself: the last to come waits for nobody. The rest is waiting.

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "base/time_between.h"
#include "model/series.h"

namespace chameleon::online {

class SeriesKeeper {
 public:
  /// The number of a phase, in the order in which they came, by the votes' sum of hashes. All ranks
  /// ask, and number them alike; the rest is used on rank 0.
  std::uint32_t phase_of(std::uint64_t hash) {
    const auto found = std::find(phases_.begin(), phases_.end(), hash);
    if (found != phases_.end()) return static_cast<std::uint32_t>(found - phases_.begin());
    if (phases_.size() == Series::kOtherPhase) return Series::kOtherPhase;
    phases_.push_back(hash);
    return static_cast<std::uint32_t>(phases_.size() - 1);
  }

  /// The interval before has become complete: all `ranks` said what they spent in its vote.
  void complete(RankExtent voting, std::uint32_t ranks) {
    if (!pending_) return;
    const std::uint64_t least = voting.least_ns;
    voting.sum_ns = time_between(least * ranks, voting.sum_ns);
    voting.most_ns = time_between(least, voting.most_ns);
    voting.least_ns = 0;
    pending_->all.waiting = pending_->worst.waiting = voting;
    series_.add(*std::exchange(pending_, std::nullopt));
  }

  /// An interval that has just ended.
  void begin(SeriesSpan span) {
    span.all.waiting = {};
    span.worst = span.all;
    span.slowest = span.first;
    pending_ = span;
  }

  /// What the file does not have yet; at the end also the interval whose waiting is not known.
  Series take(bool last) {
    if (last && pending_) series_.add(*std::exchange(pending_, std::nullopt));
    return std::exchange(series_, Series());
  }

 private:
  Series series_;
  std::optional<SeriesSpan> pending_;
  std::vector<std::uint64_t> phases_;  ///< by number
};

}  // namespace chameleon::online
