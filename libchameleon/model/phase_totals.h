// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The time of every rank in each phase of the run: computing, in point-to-point and in
/// collective calls, waiting at markers, in the tool. Phases are numbered as in the
/// series; time before the first marker belongs to the first phase, time after the last
/// one to none, and the first phases have entries of their own. In jobs of more than
/// `kMostByRank` ranks those with like times share one entry. Memory: 40 bytes for each
/// entry and phase.

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "base/bytes.h"
#include "model/rank_list.h"
#include "model/time_table.h"

namespace chameleon::inline model {

/// In ns.
struct SpentTimes {
  std::uint64_t compute = 0;
  std::uint64_t point_to_point = 0;  ///< in all calls that are not collective
  std::uint64_t collective = 0;
  std::uint64_t waiting = 0;  ///< at markers, for slower ranks
  std::uint64_t tool = 0;

  void add(const SpentTimes& more);
  std::uint64_t sum() const;
  /// The rest without `part`, at least 0 each.
  SpentTimes without(const SpentTimes& part) const;
  bool operator==(const SpentTimes&) const = default;
};
using SpentTime = std::uint64_t SpentTimes::*;
inline constexpr std::array<SpentTime, 5> kSpentTimes = {
    &SpentTimes::compute, &SpentTimes::point_to_point, &SpentTimes::collective,
    &SpentTimes::waiting, &SpentTimes::tool};
inline constexpr std::array<const char*, 5> kSpentTimeNames = {"compute", "point_to_point",
                                                               "collective", "waiting", "tool"};

class PhaseTotals {
 public:
  static constexpr std::uint32_t kOtherPhase = 14;  ///< stands for all from it on
  static constexpr std::uint32_t kNoPhase = 15;     ///< after the last marker
  static constexpr std::size_t kMostByRank = 16'384;
  using ByPhase = std::map<std::uint32_t, SpentTimes>;
  struct Entry {
    RankList ranks;
    ByPhase phases;  ///< of each of them, the mean

    bool operator==(const Entry&) const = default;
  };

  bool empty() const { return entries_.empty(); }
  const std::vector<Entry>& entries() const { return entries_; }
  RankList ranks() const;
  void add(RankList ranks, ByPhase phases);
  /// For ranks in both, the values of `other` replace those of this.
  void supersede(PhaseTotals other);
  /// With more than `kMostByRank` entries, those of a class of times become one.
  void limit(const TimeTable& times);

  bool operator==(const PhaseTotals&) const = default;

 private:
  std::vector<Entry> entries_;
};

/// Totals added up by classes of times. Memory and bytes: those of a class's rank list, and 40 for
/// each of its phases. A sum of more ns than 2^53 is as exact as a double is.
class TotalsByClass {
 public:
  bool empty() const { return sums_.empty(); }
  void add(std::uint32_t time_class, const PhaseTotals::Entry& entry);
  void join(const TotalsByClass& other);
  /// An entry for each class.
  PhaseTotals means() const;

  void encode(ByteWriter& writer) const;
  static bool decode(ByteReader& reader, TotalsByClass& value);

 private:
  using Sums = std::array<double, kSpentTimes.size()>;  ///< of all ranks together
  struct OfClass {
    RankList ranks;
    std::map<std::uint32_t, Sums> phases;
  };
  std::map<std::uint32_t, OfClass> sums_;
};

}  // namespace chameleon::inline model
