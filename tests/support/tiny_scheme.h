// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The example of docs/design/clustering.md: a clustering scheme in as few lines as there can
/// be. Ranks of one kind are a cluster. The rank with the most work leads it, the lowest of
/// equals. What the scheme needs of a rank are not signatures.

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "cluster/scheme.h"

namespace example {

using namespace chameleon;
using namespace chameleon::cluster;

struct Work {
  std::uint64_t kind = 0;
  std::uint64_t amount = 0;
};

class MostWork {
 public:
  struct Group {
    Work most;
    std::uint32_t lead = 0;
    RankList ranks;

    void encode(ByteWriter& writer) const {
      writer.varint(most.kind);
      writer.varint(most.amount);
      writer.varint(lead);
      ranks.encode(writer);
    }
    static bool decode(ByteReader& reader, Group& group) {
      group.most = {reader.varint(), reader.varint()};
      group.lead = static_cast<std::uint32_t>(reader.varint());
      return RankList::decode(reader, group.ranks);
    }
  };
  using Input = Work;
  using Summary = std::vector<Group>;

  Summary summarize(std::uint32_t rank, const Work& work) const {
    return {{work, rank, RankList::single(rank)}};
  }

  void join(Summary& mine, Summary&& theirs) const {
    for (Group& other : theirs) {
      const auto same = [&](const Group& group) { return group.most.kind == other.most.kind; };
      const auto found = std::find_if(mine.begin(), mine.end(), same);
      if (found == mine.end()) {
        mine.push_back(std::move(other));
        continue;
      }
      if (other.most.amount > found->most.amount) {
        found->most = other.most;
        found->lead = other.lead;
      }
      found->ranks.merge(other.ranks);
    }
  }

  Clustering elect(Summary&& all) const {
    Clustering clustering;
    for (Group& group : all)
      clustering.main.push_back({group.most.kind, {{group.lead, {}, std::move(group.ranks)}}});
    return clustering;
  }
};
static_assert(ClusteringScheme<MostWork>);

/// What rank `rank` of the tests does: one of `kinds`.
inline Work work_of(std::uint32_t rank, std::uint64_t seed, std::uint64_t kinds) {
  const std::uint64_t random = combine(seed, rank);
  return {random % kinds, mix(random) % 8};
}

}  // namespace example
