// SPDX-License-Identifier: BSD-3-Clause
// CAPEK as a selection of leads, against CLARA on the ranks of each Call-Path. That a real job
// gives the same is tests/mpi/world_program.cpp.
#include <cstdlib>
#include <map>
#include <set>

#include "base/hash.h"
#include "cluster/by_signatures.h"
#include "unit/catch.h"
#include "world/virtual_subset.h"
#include "world/virtual_world.h"

using namespace chameleon;
using namespace chameleon::cluster;
using namespace chameleon::world;

namespace {

SignatureVector signature_of(std::uint64_t call_path, std::uint64_t source, std::uint64_t dest) {
  SignatureVector result;
  result.call_path = call_path;
  result.parameters[static_cast<std::size_t>(Parameter::kSource)] = {static_cast<double>(source),
                                                                     source};
  result.parameters[static_cast<std::size_t>(Parameter::kDestination)] = {static_cast<double>(dest),
                                                                          dest};
  for (std::size_t i = 0; i < 2; ++i) result.mixed[i] = result.parameters[i].exact;
  return result;
}

ClusterOptions by_capek(std::uint32_t k) {
  ClusterOptions options;
  options.selection = Selection::kCapek;
  options.k = k;
  return options;
}

Clustering clusters_of(const std::vector<SignatureVector>& signatures,
                       const ClusterOptions& options) {
  VirtualWorld world(static_cast<std::uint32_t>(signatures.size()));
  return cluster::cluster(world, signatures, options);
}

template <class Of>
std::vector<SignatureVector> all_of(std::uint32_t size, Of of) {
  std::vector<SignatureVector> all;
  for (std::uint32_t rank = 0; rank < size; ++rank) all.push_back(of(rank));
  return all;
}

using Ranks = std::vector<std::uint32_t>;

/// What CLARA makes of the ranks of one Call-Path: a lead for each of them.
std::map<std::uint32_t, std::uint32_t> leads_by_clara(const std::vector<SignatureVector>& all,
                                                      const Ranks& ranks,
                                                      const ClusterOptions& options,
                                                      std::uint32_t k) {
  std::vector<SubCluster> items;
  for (const std::uint32_t rank : ranks) items.push_back(own_cluster(rank, all[rank], options));
  TrialOptions trials;
  trials.first_k = trials.last_k = k;
  trials.seed = options.seed;
  const Unlikeness unlike(options);
  const auto found =
      clara(std::span<const SubCluster>(items), trials, unlike, LeastDissimilarity());
  Medoids<SubCluster> leads;
  for (const auto& medoid : found.medoids) {
    bool known = false;
    for (const auto& one : leads) known = known || unlike(one.second, medoid.second) == 0;
    if (!known) leads.push_back(medoid);
  }
  std::map<std::uint32_t, std::uint32_t> result;
  for (std::uint32_t place = 0; place < ranks.size(); ++place)
    result[ranks[place]] =
        ranks[leads[nearest_medoid(place, items[place], leads, unlike).cluster].first];
  return result;
}

void check_as_clara(const std::vector<SignatureVector>& all, const ClusterOptions& options) {
  std::map<std::uint64_t, Ranks> mains;
  for (std::uint32_t rank = 0; rank < all.size(); ++rank)
    mains[all[rank].call_path].push_back(rank);
  const auto k = static_cast<std::uint32_t>(std::max<std::size_t>(1, options.k / mains.size()));
  const Clustering found = clusters_of(all, options);
  REQUIRE(found.selected);
  REQUIRE(found.main.size() == mains.size());
  std::set<std::uint32_t> leads;
  for (const auto& [path, ranks] : mains)
    for (const auto& [rank, lead] : leads_by_clara(all, ranks, options, k)) {
      REQUIRE(found.find(rank) != nullptr);
      REQUIRE(found.find(rank)->lead == lead);
      leads.insert(lead);
    }
  REQUIRE(found.leads() == Ranks(leads.begin(), leads.end()));
}

}  // namespace

TEST_CASE("leads by CAPEK are the medoids that CLARA finds in each Call-Path") {
  const auto size = GENERATE(2U, 3U, 8U, 16U, 100U, 700U);
  for (const std::uint64_t paths : {1U, 2U, 7U})
    for (const std::uint32_t k : {1U, 3U, 9U})
      for (const Distance metric : {Distance::kManhattan, Distance::kEuclidean}) {
        ClusterOptions options = by_capek(k);
        options.distance = metric;
        options.seed = size + k;
        const auto all = all_of(size, [&](std::uint32_t rank) {
          return signature_of(mix(rank) % paths, mix(rank + 99) % 50, rank);
        });
        if (size > k) check_as_clara(all, options);
      }
}

TEST_CASE("every rank is in one cluster, of its Call-Path, with its lead") {
  const auto size = GENERATE(1U, 5U, 64U, 300U);
  const auto steps = GENERATE(Steps::kDouble, Steps::kSingle);
  const auto equality = GENERATE(Equality::kExact, Equality::kXor, Equality::kPacked);
  ClusterOptions options = by_capek(5);
  options.steps = steps;
  options.equality = equality;
  options.format = kAllSignatures;
  options.count_tolerance = 0.05;
  const auto all = all_of(size, [&](std::uint32_t rank) {
    SignatureVector one = signature_of(mix(rank) % 3, mix(rank + 1) % 7, mix(rank + 2) % 7);
    one.parameters[static_cast<std::size_t>(Parameter::kCount)] = {100.0 + rank % 4, rank % 4};
    one.mixed[0] = rank % 2;
    one.xored[0] = one.xored[1] = 1 + rank % 3;
    return one;
  });
  const Clustering found = clusters_of(all, options);
  RankList members;
  for (const MainCluster& main : found.main)
    for (const SubCluster& one : main.clusters) {
      CHECK_FALSE(members.intersects(one.ranks));
      members.merge(one.ranks);
      CHECK(one.ranks.contains(one.lead));
      SignatureVector own = all[one.lead];
      if (equality != Equality::kXor) own.xored[0] = own.xored[1] = 0;
      CHECK(one.signature == own);
      CHECK((equality == Equality::kXor || !one.xor_holds));
      if (steps == Steps::kDouble) CHECK(one.signature.call_path == main.call_path);
      one.ranks.for_each([&](std::uint32_t rank) {
        if (steps == Steps::kDouble) CHECK(all[rank].call_path == main.call_path);
      });
    }
  CHECK(members == RankList::range(0, size - 1));
  CHECK(found.size() <= 5);
  ByteWriter writer;
  encode(writer, found);
  ByteReader reader(writer.bytes());
  Clustering copy;
  REQUIRE(decode(reader, copy));
  CHECK(copy == found);
}

TEST_CASE("CAPEK selects only where leads are too few") {
  const auto all = all_of(100, [](std::uint32_t rank) { return signature_of(1, rank % 5, 0); });
  ClusterOptions farthest = by_capek(5);
  farthest.selection = Selection::kFarthest;
  CHECK(clusters_of(all, by_capek(5)) == clusters_of(all, farthest));
  farthest.k = kUnbounded;
  CHECK(clusters_of(all, by_capek(kUnbounded)) == clusters_of(all, farthest));
  const Clustering few = clusters_of(all, by_capek(4));
  CHECK(few.selected);
  CHECK(few.size() == 4);
  // Signatures beside the format are taken in as for the others.
  ClusterOptions further = by_capek(5);
  further.format = kCallPathBit;
  further.further = format_bit(Parameter::kSource);
  CHECK(clusters_of(all, further).size() == 5);
  further.k = 4;
  CHECK(clusters_of(all, further).size() == 1);
  CHECK_FALSE(clusters_of(all, further).selected);
}

TEST_CASE("a lead is not wasted on ranks that are like another lead's") {
  // Two behaviours, one of them in one of three Call-Paths: K of 9 has three leads for each.
  const auto all = all_of(300, [](std::uint32_t rank) {
    return signature_of(rank % 3, rank % 3 == 0 ? rank : rank % 2, 0);
  });
  const Clustering found = clusters_of(all, by_capek(9));
  REQUIRE(found.main.size() == 3);
  CHECK(found.main[0].clusters.size() == 3);
  CHECK(found.main[1].clusters.size() == 2);
  CHECK(found.main[2].clusters.size() == 2);
}

TEST_CASE("ranks whose averages agree are told apart by CAPEK") {
  const auto all = all_of(60, [](std::uint32_t rank) {
    SignatureVector one = signature_of(1, 0, 0);
    one.parameters[static_cast<std::size_t>(Parameter::kSource)].exact = rank % 4;
    one.mixed[0] = rank % 4;
    return one;
  });
  const Clustering found = clusters_of(all, by_capek(3));
  REQUIRE(found.size() == 3);
  for (const std::uint32_t lead : found.leads()) CHECK(found.find(lead)->ranks.size() >= 15);
}

TEST_CASE("what the members of a cluster share is said of those who are alike") {
  // Partners of rank 0 by name: the mixed reading holds, the relative one does not.
  const auto all = all_of(40, [](std::uint32_t rank) {
    SignatureVector one = signature_of(1, 1000 + rank, 0);
    one.mixed[0] = rank == 39 ? 5 : 4;
    return one;
  });
  const Clustering found = clusters_of(all, by_capek(1));
  REQUIRE(found.size() == 1);
  const SubCluster& one = found.main[0].clusters[0];
  CHECK(one.lead != 39);
  CHECK(one.mixed_holds);
  CHECK_FALSE(one.relative_holds);
  CHECK_FALSE(one.same_distances);
  // The mean COUNT of those who are alike within the tolerance; others count as the lead, 102.
  ClusterOptions options = by_capek(1);
  options.format = kCallPathBit | format_bit(Parameter::kCount);
  options.count_tolerance = 0.05;
  const auto counts = all_of(4, [](std::uint32_t rank) {
    SignatureVector count = signature_of(1, 0, 0);
    const double mean = rank == 3 ? 1000 : 100.0 + rank;
    count.parameters[static_cast<std::size_t>(Parameter::kCount)] = {mean, rank};
    return count;
  });
  const Clustering near = clusters_of(counts, options);
  REQUIRE(near.size() == 1);
  CHECK(near.main[0].clusters[0].count == 101.25);
}

TEST_CASE("of a subset, which has no samples, leads are the farthest") {
  VirtualWorld world(40);
  const auto all = all_of(40, [](std::uint32_t rank) { return signature_of(1, rank, 0); });
  VirtualSubset subset(world, {3, 5, 8, 13, 21, 34});
  ClusterOptions farthest = by_capek(2);
  farthest.selection = Selection::kFarthest;
  CHECK(cluster::cluster(subset, subset.of(all), by_capek(2)) ==
        cluster::cluster(subset, subset.of(all), farthest));
}

// Work on the critical path and the largest message do not grow with ranks but for log P:
// behaviours that lie side by side keep rank lists short. With all tests to 2^20 ranks.
TEST_CASE("leads of many ranks by CAPEK") {
  const bool all_tests = std::getenv("CHAMELEON_TEST_ALL") != nullptr;
  std::uint64_t largest = 0;
  for (const std::uint32_t size : {1U << 10, all_tests ? 1U << 20 : 1U << 15}) {
    VirtualWorld world(size, true, true);
    const auto signatures = world.generate([&](std::uint32_t rank) {
      const std::uint64_t block = std::uint64_t{rank} * 256 / size;
      return signature_of(block / 64, block % 64, 0);
    });
    const Clustering found = cluster::cluster(world, signatures, by_capek(16));
    CHECK(found.main.size() == 4);
    CHECK(found.size() == 16);
    std::printf("%u ranks, CAPEK: critical path %.2f ms, largest %llu bytes, depth %u\n", size,
                1e3 * world.critical_seconds(),
                static_cast<unsigned long long>(world.traffic().largest), world.traffic().depth);
    CHECK(world.critical_seconds() < 1);
    if (largest != 0) CHECK(world.traffic().largest < 2 * largest);
    largest = world.traffic().largest;
  }
}
