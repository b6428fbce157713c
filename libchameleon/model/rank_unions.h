// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Unions of the same sets are made once. When two traces are merged, hundreds of nodes are of few
/// different sets, which are each one in memory (rank_runs.h): so are their unions, and to make one
/// again costs nothing.

#include <cstddef>
#include <vector>

#include "model/rank_runs.h"

namespace chameleon::inline model {

/// While one of these lives, RankList::merge in its thread remembers unions of large sets. One at a
/// time does, in whichever thread.
class RankUnions {
 public:
  static constexpr std::size_t kFewestRuns = 16;  ///< of a set whose unions are remembered

  RankUnions();
  ~RankUnions();
  RankUnions(const RankUnions&) = delete;
  RankUnions& operator=(const RankUnions&) = delete;

  /// That of this thread, if it has one.
  static RankUnions* present();

  /// The union of the two, or null.
  const RankRuns* find(const RankRuns& mine, const RankRuns& other) const;
  /// Without memory for it, it is not remembered.
  void add(const RankRuns& mine, const RankRuns& other, const RankRuns& both) noexcept;

 private:
  static constexpr std::size_t kMost = 128;  ///< unions
  static constexpr std::size_t kMostRuns = std::size_t{1}
                                           << 17;  ///< of all of them, unless there is only one

  void clear();

  struct Union {
    RankRuns mine, other, both;
    std::size_t runs() const { return mine.all().size() + other.all().size() + both.all().size(); }
  };

  bool present_;
  std::vector<Union> unions_;
  std::size_t oldest_ = 0, runs_ = 0;
};

}  // namespace chameleon::inline model
