// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The ranks that have reached a collective in which each rank waits for those before it
/// (MPI_Scan). O(log n) to add a rank, O(1) to ask.

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

namespace chameleon::analysis {

inline std::uint64_t later(std::uint64_t a, std::uint64_t b) { return std::max(a, b); }

/// `Time`: of a coming; `later` gives the later of two.
template <class Time = std::uint64_t>
class LowerRanks {
 public:
  /// `rank` of the communicator comes, at `time`. `absent(r)`: r is not in the trace, and never
  /// comes.
  template <class Absent>
  void come(std::int32_t rank, const Time& time, Absent absent) {
    came_.emplace(rank, time);
    for (;;) {
      const auto next = static_cast<std::int32_t>(last_.size());
      const auto found = came_.find(next);
      if (found == came_.end() && !absent(next)) return;
      const Time own = found == came_.end() ? Time() : found->second;
      last_.push_back(last_.empty() ? own : later(own, last_.back()));
      if (found != came_.end()) came_.erase(found);
    }
  }

  /// Whether all before `rank` have come.
  bool all_before(std::int32_t rank) const {
    return rank <= static_cast<std::int32_t>(last_.size());
  }
  /// When the last of them did.
  Time last_before(std::int32_t rank) const {
    return rank <= 0 || !all_before(rank) ? Time() : last_[static_cast<std::size_t>(rank - 1)];
  }

 private:
  std::map<std::int32_t, Time> came_;  ///< beyond those of `last_`
  std::vector<Time> last_;             ///< by rank, when the last of it and those before it came
};

}  // namespace chameleon::analysis
