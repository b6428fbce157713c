// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Differences between two runs, by call path: calls added, lost, made more or less often,
/// computing and MPI time slower or faster, and on which ranks. Call paths are compared by name,
/// which the caller gives (functions without lines or offsets), so that different builds of a
/// program compare. Times are those of place_times.h. O(nodes x ranks); with full timing
/// O(events).

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/trace.h"

namespace chameleon::analysis {

/// One rank at one place.
struct SiteTimes {
  double count = 0, compute_ns = 0, call_ns = 0;
};

/// Computation is reported at the call that follows it.
struct SiteKey {
  std::string call, path;  ///< path: names outermost first, joined by ';'
  auto operator<=>(const SiteKey&) const = default;
};

using Profile = std::map<SiteKey, std::map<std::uint32_t, SiteTimes>>;

/// `name(path id)`: the path's functions.
Result<Profile> profile_of(const Trace& trace,
                           const std::function<std::string(std::uint64_t)>& name);

struct Change {
  enum class Kind : std::uint8_t { kAdded, kLost, kCount, kCompute, kCall };
  Kind kind = Kind::kCompute;
  SiteKey site;
  RankList ranks;                ///< changed at least half as much as the one that did most
  double before = 0, after = 0;  ///< calls, or ns, summed over these ranks
  double most = 0;               ///< largest change of one rank, calls or ns
};

/// Changes above `threshold`, a share of the longer run's time a rank: first calls added and
/// lost, then computing, then MPI time (which often only waits for the former); in each the
/// largest change of a rank first.
std::vector<Change> compare(const Profile& before, const Profile& after, double threshold);

}  // namespace chameleon::analysis
