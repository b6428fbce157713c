// SPDX-License-Identifier: BSD-3-Clause
// A second clustering scheme beside the default one, on virtual ranks and on subsets of them.
// That a real job gives the same is tests/mpi/world_program.cpp.
#include <map>
#include <set>

#include "cluster/by_signatures.h"
#include "support/tiny_scheme.h"
#include "unit/catch.h"
#include "world/virtual_subset.h"
#include "world/virtual_world.h"

using namespace chameleon;
using namespace chameleon::cluster;
using namespace chameleon::signature;
using namespace chameleon::world;
using example::MostWork;
using example::Work;
using example::work_of;

namespace {

// What is no scheme: nothing to send, nothing to elect.
struct NotSendable : MostWork {
  struct Summary {
    std::vector<int*> pointers;
  };
};
struct ElectsNothing : MostWork {
  void elect(Summary&&) const {}
};
static_assert(!ClusteringScheme<NotSendable> && !ClusteringScheme<ElectsNothing>);
static_assert(!ClusteringScheme<ClusterOptions>);

/// Kind by kind in order of the lowest rank, without any tree.
Clustering expected(const std::vector<std::uint32_t>& ranks, std::uint64_t seed,
                    std::uint64_t kinds) {
  Clustering result;
  std::map<std::uint64_t, std::size_t> place;
  std::map<std::uint64_t, std::uint64_t> most;
  for (const std::uint32_t rank : ranks) {
    const Work input = work_of(rank, seed, kinds);
    const auto [at, fresh] = place.try_emplace(input.kind, result.main.size());
    if (fresh) {
      result.main.push_back({input.kind, {{rank, {}, RankList::single(rank)}}});
      most[input.kind] = input.amount;
      continue;
    }
    SubCluster& cluster = result.main[at->second].clusters.front();
    cluster.ranks.merge(RankList::single(rank));
    if (input.amount > most[input.kind]) {
      most[input.kind] = input.amount;
      cluster.lead = rank;
    }
  }
  return result;
}

}  // namespace

TEST_CASE("a scheme of a few lines runs on a world and on subsets of it") {
  const std::uint32_t size = GENERATE(1U, 2U, 3U, 4U, 7U, 8U, 16U, 100U);
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const std::uint64_t kinds = 1 + seed % 6;
    VirtualWorld world(size, true);
    const auto work =
        world.generate([&](std::uint32_t rank) { return work_of(rank, seed, kinds); });
    std::vector<std::uint32_t> everyone, some;
    for (std::uint32_t rank = 0; rank < size; ++rank) {
      everyone.push_back(rank);
      if (mix(rank + seed) % 3 == 0) some.push_back(rank);
    }
    const Clustering all = cluster::cluster(world, work, MostWork());
    CHECK(all == expected(everyone, seed, kinds));
    CHECK(world.traffic().messages == 2 * (size - 1));
    CHECK(world.traffic().depth == 2 * tree_depth(size));

    VirtualSubset subset(world, some);
    CHECK(cluster::cluster(subset, subset.of(work), MostWork()) == expected(some, seed, kinds));
  }
}

TEST_CASE("a scheme's options and the scheme that they name are the same") {
  VirtualWorld world(30);
  const auto signatures = world.generate([](std::uint32_t rank) {
    SignatureVector signature;
    signature.call_path = rank % 4;
    signature.parameters[0] = {static_cast<double>(mix(rank) % 9), mix(rank) % 9};
    signature.mixed[0] = mix(rank) % 9;
    return signature;
  });
  const ClusterOptions options{Selection::kMedoid, 7};
  CHECK(cluster::cluster(world, signatures, options) ==
        cluster::cluster(world, signatures, BySignatures(options)));
  CHECK(cluster::cluster(world, signatures, options) !=
        cluster::cluster(world, signatures, ClusterOptions()));
}
