// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The part of a rank's values that its lead's trace keeps (dissertation section 4.4, Table 4.2):
/// the share of its parameters that are equal in the lead's events. The text has no formula. Here
/// events of one call path correspond in their order, and an event that the lead lacks counts
/// against all of its parameters. Partners are those that the lead's give when they are read as its
/// cluster reads them: if distances differ, a partner that is always rank 0 is treated as a root.
/// LOOP compares the iterations of each visit of a loop, by the calls that it holds.
///
/// O(events) of the ranks that are not like their leads, and memory of the events of two of them.

#include <array>
#include <cstdint>

#include "analysis/follow.h"
#include "cluster/clustering.h"
#include "signature/call_rules.h"

namespace chameleon::analysis {

enum class KeptColumn : std::uint8_t { kCount, kLoop, kEvents, kSource, kDest, kTag };
inline constexpr std::size_t kKeptColumns = 6;
const char* kept_name(KeptColumn column);

struct KeptShare {
  std::uint64_t kept = 0, all = 0;
  /// Without values, everything is kept.
  double share() const {
    return all == 0 ? 1 : static_cast<double>(kept) / static_cast<double>(all);
  }
};
using KeptShares = std::array<KeptShare, kKeptColumns>;

/// Over all ranks, whose values follow from their leads' by these rules. `whole` has the hashes of
/// all that each rank did: equal ranks are not compared. Error: the trace is damaged.
Result<KeptShares> kept_values(const FollowPlan& plan, const signature::CallRules& rules,
                               const Clustering& clustering,
                               const std::vector<std::uint64_t>& whole);

}  // namespace chameleon::analysis
