// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The longest single events of a stream, as candidates for outliers: those that take more than
/// `kLeastShare` of what the stream has spent so far. There are at most some ten thousand of these
/// in a run of any length, since each of them makes the run so much longer. Which of them are
/// outliers is seen at the end, when it is known what is usual at their places.
///
/// Cost: a comparison and an addition an event; 48 bytes for each of at most `kMost` candidates.

#include <algorithm>
#include <cstdint>
#include <vector>

#include "model/account_book.h"
#include "model/outliers.h"

namespace chameleon::record {

class OutlierLog {
 public:
  static constexpr std::size_t kMost = Outliers::kMost;
  static constexpr double kLeastShare = 1.0 / 1024;

  /// The stream's next event, which `book` has; in ticks.
  [[gnu::always_inline]] void add(const AccountBook& book, std::uint64_t compute,
                                  std::uint64_t communication, double ns_per_tick) {
    ++events_;
    if (std::max(compute, communication) > long_) [[unlikely]]
      note(book, compute, communication, ns_per_tick);
    spent_ += compute + communication;
  }
  /// The stream waited at a marker.
  void waited(std::uint64_t ns) { waited_ns_ += ns; }

  /// Those of the candidates that took `kLeastShare` of the run longer than the median at their
  /// place, and far longer than the spread there (`kSpreads` times half of the interquartile
  /// range). Places with fewer than four events have none.
  std::vector<Outlier> outliers(const AccountBook& book, std::uint32_t stream,
                                double ns_per_tick) const;

 private:
  static constexpr double kSpreads = 5.2;  ///< 3.5 / 0.6745: of modified z-scores

  struct Candidate {
    std::uint64_t event = 0, ns = 0, begin_ns = 0;
    std::uint32_t account = 0;
    bool in_call = false;
  };

  void note(const AccountBook& book, std::uint64_t compute, std::uint64_t communication,
            double ns_per_tick);
  void keep(const Candidate& candidate);

  std::uint64_t events_ = 0, spent_ = 0;  ///< so far; the latter in ticks
  std::uint64_t long_ = 0;                ///< ticks beyond which an event is noted
  std::uint64_t waited_ns_ = 0;
  std::vector<Candidate> candidates_;  ///< a heap, the shortest first
};

}  // namespace chameleon::record
