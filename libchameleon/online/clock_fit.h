// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// How a rank's clock relates to rank 0's, from comparisons of the two (`MpiWorld::sample_clocks`)
/// at init, flushes and finalize: a line by least squares, each comparison with the weight its
/// error allows. Of more than `kMost` comparisons every other one is kept, the first and the last
/// always: what matters for the drift is how far apart they are. O(1) memory.

#include <cstddef>
#include <vector>

#include "model/trace.h"
#include "world/clock_sample.h"

namespace chameleon::online {

class ClockFit {
 public:
  static constexpr std::size_t kMost = 64;

  void add(const ClockSample& sample);
  /// The error is the largest distance of a comparison from the line, with its own error.
  RankClock clock() const;

 private:
  std::vector<ClockSample> samples_;
  std::uint64_t count_ = 0;
  std::uint64_t every_ = 1;  ///< comparisons of which one is kept
};

}  // namespace chameleon::online
