// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Fidelity `checked`: how what ranks did compares with what their leads did, by hashes that are
/// kept also where events are dropped. A list of comparisons goes up the tree, an entry for ranks
/// with equal hashes. Where it gets long, the smallest entries of a lead whose events are the same,
/// or if that is not enough, all of the smallest, become one of which is known only in which kinds
/// its ranks differ among themselves: each of them counts as differing from the lead in these, too.
///
/// Cost: 73 bytes an entry and tree edge and the lists of ranks; at most `kMostComparisons` entries
/// and two for each lead, however many ranks differ.

#include <cstdint>
#include <vector>

#include "base/bytes.h"
#include "cluster/clustering.h"
#include "flush/share_classes.h"

namespace chameleon::flush {

/// Ranks of one lead with equal hashes of their streams, except for those that are `mixed`.
struct Comparison {
  std::uint32_t lead = 0;
  StreamHashes hashes{};
  RankList ranks;
  std::uint8_t mixed = 0;  ///< bits of the hashes in which these ranks may differ

  bool is_leads() const { return ranks.contains(lead); }
  void encode(ByteWriter& writer) const;
  static bool decode(ByteReader& reader, Comparison& value);
};

/// The entry of a rank, or none if no rank stands for another there. `keeps`: the rank brings its
/// own events.
std::vector<Comparison> comparison_of(std::uint32_t rank, const StreamHashes& hashes, bool keeps,
                                      const Clustering& clustering);

inline constexpr std::size_t kMostComparisons = 256;

void join_comparisons(std::vector<Comparison>& mine, std::vector<Comparison>&& theirs);

/// The kinds in which each rank that `lead` represents is inexact; all kinds if its hashes did not
/// arrive. `otherwise`: end-points are read as no rank compared them.
std::vector<Inexact> judge(std::uint32_t lead, const RankList& represented,
                           const std::vector<Comparison>& comparisons, bool otherwise);

}  // namespace chameleon::flush
