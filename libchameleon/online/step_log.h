// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// What a rank took from one marker to the next, since the last flush: at most `kMost` spans of the
/// series, of this rank alone. When they are full neighbours join, on all ranks alike: they count
/// the same markers. Adding a step is O(1), amortised.

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "model/series.h"
#include "online/marker_log.h"

namespace chameleon::online {

class StepLog {
 public:
  static constexpr std::size_t kMost = 512;

  void add(std::uint32_t rank, std::uint64_t marker, std::uint64_t now_ns, const StepTimes& times) {
    SeriesSpan step;
    step.first = step.slowest = marker;
    step.end_ns = now_ns;
    step.all.compute = RankExtent::of(rank, times.compute);
    step.all.communication = RankExtent::of(rank, times.communication);
    step.all.busy = RankExtent::of(rank, times.compute + times.communication);
    step.worst = step.all;
    if (!spans_.empty() && spans_.back().intervals < width_) return join(spans_.back(), step);
    if (spans_.size() == kMost) halve();
    spans_.push_back(step);
  }

  std::vector<SeriesSpan> take() {
    width_ = 1;
    return std::exchange(spans_, {});
  }

 private:
  void halve() {
    for (std::size_t i = 0; i < kMost / 2; ++i) {
      SeriesSpan both = spans_[2 * i];
      join(both, spans_[2 * i + 1]);
      spans_[i] = both;
    }
    spans_.resize(kMost / 2);
    width_ *= 2;
  }

  std::vector<SeriesSpan> spans_;
  std::uint64_t width_ = 1;  ///< steps of a span
};

}  // namespace chameleon::online
