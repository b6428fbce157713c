// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The example of docs/design/clustering.md: a clustering scheme in as few lines as there can
/// be. Ranks of one kind are a cluster, and the one with the most work leads it, the lowest of
/// equals. What it needs of a rank are not signatures.

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include "cluster/scheme.h"

namespace world_test {

class MostWork {
 public:
  struct Input {
    std::uint64_t kind = 0;
    std::uint64_t work = 0;
  };
  struct Group {
    std::uint64_t kind = 0, work = 0;
    std::uint32_t lead = 0;
    chameleon::RankList ranks;

    void encode(chameleon::ByteWriter& writer) const {
      for (const std::uint64_t number : {kind, work, std::uint64_t{lead}}) writer.varint(number);
      ranks.encode(writer);
    }
    static bool decode(chameleon::ByteReader& reader, Group& group) {
      group.kind = reader.varint();
      group.work = reader.varint();
      group.lead = static_cast<std::uint32_t>(reader.varint());
      return chameleon::RankList::decode(reader, group.ranks);
    }
  };
  using Summary = std::vector<Group>;

  Summary summarize(std::uint32_t rank, const Input& input) const {
    return {{input.kind, input.work, rank, chameleon::RankList::single(rank)}};
  }

  void join(Summary& mine, Summary&& theirs) const {
    for (Group& other : theirs) {
      const auto same = [&](const Group& group) { return group.kind == other.kind; };
      const auto found = std::find_if(mine.begin(), mine.end(), same);
      if (found == mine.end()) {
        mine.push_back(std::move(other));
        continue;
      }
      if (other.work > found->work) std::tie(found->work, found->lead) = {other.work, other.lead};
      found->ranks.merge(other.ranks);
    }
  }

  chameleon::cluster::Clustering elect(Summary&& all) const {
    chameleon::cluster::Clustering clustering;
    for (Group& group : all)
      clustering.main.push_back({group.kind, {{group.lead, {}, std::move(group.ranks)}}});
    return clustering;
  }
};
static_assert(chameleon::cluster::ClusteringScheme<MostWork>);

/// What rank `rank` of the tests does: one of `kinds`.
inline MostWork::Input work_of(std::uint32_t rank, std::uint64_t seed, std::uint64_t kinds) {
  const std::uint64_t random = chameleon::combine(seed, rank);
  return {random % kinds, chameleon::mix(random) % 8};
}

}  // namespace world_test
