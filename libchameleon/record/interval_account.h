// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// What a rank's time between two markers was: what its account grew by. Pure, in ticks. Whatever
/// the readings, the parts add up to the interval, and intervals to no more than the run.

#include <algorithm>
#include <cstdint>

#include "base/rooms.h"
#include "base/time_between.h"

namespace chameleon::record {

/// From the start of the run to the end of an interval.
struct RunTicks {
  std::uint64_t all = 0;
  std::uint64_t computed = 0;
  std::uint64_t called = 0;      ///< in MPI
  std::uint64_t collective = 0;  ///< of these, in collective calls
  std::uint64_t effort = 0;      ///< of these, in the calls that effort windows are of
};

/// Of an interval. Computed, called and the tool's are all of it.
struct IntervalTicks {
  std::uint64_t computed = 0, called = 0, tool = 0;
  std::uint64_t collective = 0, effort = 0;  ///< of those called

  std::uint64_t all() const { return computed + called + tool; }
};

class IntervalAccount {
 public:
  IntervalTicks close(const RunTicks& run) {
    const std::uint64_t passed = all_.take(run.all);
    IntervalTicks interval;
    interval.called = std::min(called_.take(run.called), passed);
    interval.computed = std::min(computed_.take(run.computed), passed - interval.called);
    interval.tool = passed - interval.called - interval.computed;
    interval.collective = std::min(collective_.take(run.collective), interval.called);
    interval.effort = std::min(effort_.take(run.effort), interval.called);
    return interval;
  }

 private:
  Growth all_, computed_, called_, collective_, effort_;
};

}  // namespace chameleon::record
