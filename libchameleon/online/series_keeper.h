// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The series on its way into the file. An interval is complete when the ballots of the next marker
/// have told how long ranks waited at its own. Of what ranks spent in a vote, the least is what
/// voting takes by itself: the last to come waits for nobody. The rest is waiting.
///
/// Where ranks note single steps (step_keeper.h), the series has these, and an interval says of its
/// steps only what its vote knows: the state, the phase, and the waiting at its last one.

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

  /// From here on ranks note steps.
  void have_steps() { stepwise_ = true; }

  /// The interval before has become complete: all `ranks` said what they spent in its vote.
  void complete(RankExtent voting, std::uint32_t ranks) {
    if (!pending_) return;
    const std::uint64_t least = voting.least_ns;
    voting.sum_ns = time_between(least * ranks, voting.sum_ns);
    voting.most_ns = time_between(least, voting.most_ns);
    voting.least_ns = 0;
    pending_->all.waiting = pending_->worst.waiting = voting;
    end_pending();
  }

  /// An interval that has just ended.
  void begin(SeriesSpan span) {
    span.all.waiting = {};
    span.worst = span.all;
    span.slowest = span.first + span.intervals - 1;
    pending_ = span;
  }

  /// What all ranks noted since the last of these. `last`: of the whole rest of the run.
  void add_steps(const std::vector<SeriesSpan>& steps, bool last) {
    steps_.insert(steps_.end(), steps.begin(), steps.end());
    if (last && pending_) end_pending();
    auto interval = intervals_.begin();
    std::size_t taken = 0;
    for (; taken < steps_.size(); ++taken) {
      SeriesSpan& step = steps_[taken];
      const std::uint64_t end = last_of(step);
      for (; interval != intervals_.end() && last_of(*interval) <= end; ++interval) {
        ended_ = *interval;
        step.all.waiting.add(interval->all.waiting);
        if (last_of(*interval) == step.slowest) step.worst.waiting = interval->all.waiting;
      }
      if (interval == intervals_.end() && last_of(ended_) < end && !last) break;
      const SeriesSpan& in =
          interval == intervals_.end() || last_of(ended_) == end ? ended_ : *interval;
      step.state = in.state;
      step.phase = in.phase;
      if (step.intervals == 1) step.worst.waiting = step.all.waiting;
      series_.add(step);
    }
    intervals_.erase(intervals_.begin(), interval);
    steps_.erase(steps_.begin(), steps_.begin() + static_cast<std::ptrdiff_t>(taken));
    if (!last) return;
    // Of which no steps came: their votes say what they took.
    for (SeriesSpan& one : std::exchange(intervals_, {})) series_.add(as_steps(one));
  }

  /// What the file does not have yet; at the end also the interval whose waiting is not known.
  Series take(bool last) {
    if (last && pending_) end_pending();
    return std::exchange(series_, Series());
  }

 private:
  static constexpr std::size_t kMostIntervals = 4096;

  static SeriesSpan nothing() {
    SeriesSpan none;
    none.intervals = 0;
    return none;
  }

  static std::uint64_t last_of(const SeriesSpan& span) { return span.first + span.intervals - 1; }

  /// Extremes are of single steps, which are not known: they are taken to be alike.
  static SeriesSpan as_steps(SeriesSpan one) {
    for (RankExtent IntervalTally::*const part :
         {&IntervalTally::compute, &IntervalTally::communication, &IntervalTally::busy}) {
      (one.all.*part).least_ns /= one.intervals;
      (one.all.*part).most_ns /= one.intervals;
      one.worst.*part = one.all.*part;
      (one.worst.*part).sum_ns /= one.intervals;
    }
    return one;
  }

  void end_pending() {
    const SeriesSpan span = *std::exchange(pending_, std::nullopt);
    if (!stepwise_) return series_.add(span);
    if (intervals_.size() == kMostIntervals) {  // no flush for long: neighbours become one
      for (std::size_t i = 0; i < kMostIntervals / 2; ++i) {
        join(intervals_[2 * i], intervals_[2 * i + 1]);
        intervals_[i] = intervals_[2 * i];
      }
      intervals_.resize(kMostIntervals / 2);
    }
    intervals_.push_back(span);
  }

  Series series_;
  std::optional<SeriesSpan> pending_;
  std::vector<SeriesSpan> intervals_;  ///< complete, whose steps have not come
  std::vector<SeriesSpan> steps_;      ///< whose intervals are not complete
  SeriesSpan ended_ = nothing();       ///< the last interval taken
  bool stepwise_ = false;
  std::vector<std::uint64_t> phases_;  ///< by number
};

}  // namespace chameleon::online
