// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Who has come to a collective in which each rank waits for those before it (MPI_Scan). O(log n)
/// for each rank that comes, O(1) to ask.

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

namespace chameleon::analysis {

class LowerRanks {
 public:
  /// `rank` of the communicator comes, at `ns`. `absent(r)`: r is not in the trace, and never
  /// comes.
  template <class Absent>
  void come(std::int32_t rank, std::uint64_t ns, Absent absent) {
    came_.emplace(rank, ns);
    for (;;) {
      const auto next = static_cast<std::int32_t>(last_.size());
      const auto found = came_.find(next);
      if (found == came_.end() && !absent(next)) return;
      const std::uint64_t own = found == came_.end() ? 0 : found->second;
      last_.push_back(std::max(own, last_.empty() ? 0 : last_.back()));
      if (found != came_.end()) came_.erase(found);
    }
  }

  /// Whether all before `rank` have come.
  bool all_before(std::int32_t rank) const {
    return rank <= static_cast<std::int32_t>(last_.size());
  }
  /// When the last of them did.
  std::uint64_t last_before(std::int32_t rank) const {
    return rank <= 0 || !all_before(rank) ? 0 : last_[static_cast<std::size_t>(rank - 1)];
  }

 private:
  std::map<std::int32_t, std::uint64_t> came_;  ///< beyond those of `last_`
  std::vector<std::uint64_t> last_;  ///< by rank, when the last of it and those before it came
};

}  // namespace chameleon::analysis
