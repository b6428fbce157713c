// SPDX-License-Identifier: BSD-3-Clause
// Distances, selections and the clustering over virtual ranks. That a real job gives the same
// clusters is tests/mpi/world_program.cpp.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <map>
#include <random>
#include <set>

#include "cluster/by_signatures.h"
#include "cluster/joint.h"
#include "unit/catch.h"
#include "world/virtual_world.h"

using namespace chameleon;
using namespace chameleon::cluster;
using namespace chameleon::signature;
using namespace chameleon::world;

namespace {

SignatureVector signature_of(std::uint64_t call_path, double source, double destination = 0) {
  SignatureVector result;
  result.call_path = call_path;
  result.parameters[0] = {source, std::bit_cast<std::uint64_t>(source)};
  result.parameters[1] = {destination, std::bit_cast<std::uint64_t>(destination)};
  for (std::size_t i = 0; i < 2; ++i) result.mixed[i] = result.parameters[i].exact;
  return result;
}

SignatureVector with(Parameter parameter, double mean, std::uint64_t exact = 0) {
  SignatureVector result;
  result.parameters[static_cast<std::size_t>(parameter)] = {mean, exact};
  return result;
}

Dissimilarities line(const std::vector<double>& points) {
  return {points.size(),
          [&](std::size_t i, std::size_t j) { return std::abs(points[i] - points[j]); }};
}

double cost(const Dissimilarities& items, const std::vector<double>& weights,
            const Chosen& chosen) {
  double sum = 0;
  const auto joins = nearest(items, chosen);
  for (std::size_t i = 0; i < items.size(); ++i) sum += weights[i] * items(i, joins[i]);
  return sum;
}

// A halo exchange on a grid without wrap-around: nine Call-Paths, by which neighbours exist.
SignatureVector stencil(std::uint32_t rank, std::uint32_t width, std::uint32_t height) {
  const std::uint32_t x = rank % width, y = rank / width;
  const double w = width;
  const bool west = x > 0, east = x + 1 < width, north = y > 0, south = y + 1 < height;
  const double sum = (west ? -1 : 0) + (east ? 1 : 0) + (north ? -w : 0) + (south ? w : 0);
  return signature_of(mix(1 + west + 2 * east + 4 * north + 8 * south), sum, -sum);
}

void check_partition(const Clustering& clusters, std::uint32_t size) {
  RankList all;
  std::uint64_t members = 0;
  for (const MainCluster& main : clusters.main)
    for (const SubCluster& cluster : main.clusters) {
      CHECK(cluster.ranks.contains(cluster.lead));
      CHECK(clusters.find(cluster.lead) == &cluster);
      members += cluster.ranks.size();
      all.merge(cluster.ranks);
    }
  CHECK(members == size);
  CHECK(all == RankList::range(0, size - 1));
  CHECK(clusters.leads().size() == clusters.size());
}

}  // namespace

TEST_CASE("distances are of the format's parameters, the important ones first") {
  const SignatureVector a = signature_of(1, 3, 4), b = signature_of(1, 0, 0);
  CHECK(distance(a, b, Distance::kManhattan, kDefaultFormat) == 7 * 0x1p35);
  CHECK(distance(a, b, Distance::kEuclidean, kDefaultFormat) == 5 * 0x1p35);
  CHECK(distance(a, b, Distance::kManhattan, kCallPathBit) == 0);
  CHECK(distance(a, b, Distance::kManhattan, format_bit(Parameter::kSource)) == 3 * 0x1p35);
  CHECK(distance(a, a, Distance::kEuclidean, 0xffff) == 0);
  // Call-Paths differ or do not; by how much means nothing.
  for (const std::uint64_t path : {2U, 1000U}) {
    const SignatureVector other = signature_of(path, 3, 4);
    CHECK(distance(a, other, Distance::kManhattan, kDefaultFormat) == 0x1p70);
    CHECK(distance(a, other, Distance::kManhattan, format_bit(Parameter::kSource)) == 0);
  }

  const auto metric = GENERATE(Distance::kManhattan, Distance::kEuclidean);
  const SignatureVector zero;
  const auto from_zero = [&](const SignatureVector& other) {
    return distance(zero, other, metric, 0xffff);
  };
  CHECK(from_zero(with(Parameter::kCount, 1e30)) < from_zero(with(Parameter::kTag, 1)));
  CHECK(from_zero(with(Parameter::kTag, 1e30)) < from_zero(with(Parameter::kDataOperation, 1, 4)));
  CHECK(from_zero(with(Parameter::kCount, 2)) < from_zero(with(Parameter::kCount, 3)));
  CHECK(from_zero(with(Parameter::kLoop, 0x1p48)) > from_zero(with(Parameter::kLoop, 0x1p32)));
  Distance read = Distance::kManhattan;
  CHECK(distance_of("euclidean", read));
  CHECK(read == Distance::kEuclidean);
  CHECK_FALSE(distance_of("chebyshev", read));
}

TEST_CASE("K-Farthest begins with the first and spreads") {
  CHECK(k_farthest(line({0, 1, 2, 10, 11, 20}), 3) == Chosen{0, 3, 5});
  CHECK(k_farthest(line({5, 4, 6}), 2) == Chosen{0, 1});  // a tie: the lower
  CHECK(k_farthest(line({1, 1, 1, 1}), 2) == Chosen{0, 1});
  CHECK(k_farthest(line({1, 2}), 5) == Chosen{0, 1});
  CHECK(k_farthest(line({}), 3).empty());
}

TEST_CASE("K-Medoid finds the centres, weights count, and no swap lowers its cost") {
  const std::vector<double> even(7, 1.0);
  CHECK(k_medoid(line({0, 1, 2, 10, 11, 12, 50}), even, 3) == Chosen{1, 4, 6});
  CHECK(k_medoid(line({0, 1, 2}), std::vector<double>{100, 1, 1}, 1) == Chosen{0});
  std::mt19937 random(3);
  for (int round = 0; round < 50; ++round) {
    std::vector<double> points(2 + random() % 20), weights;
    for (double& point : points) point = static_cast<double>(random() % 100);
    for (std::size_t i = 0; i < points.size(); ++i) weights.push_back(1.0 + random() % 5);
    const auto items = line(points);
    const std::size_t k = 1 + random() % (points.size() - 1);
    const Chosen medoids = k_medoid(items, weights, k);
    REQUIRE(medoids.size() == k);
    const double reached = cost(items, weights, medoids);
    for (std::size_t m = 0; m < k; ++m)
      for (std::size_t i = 0; i < points.size(); ++i) {
        Chosen swapped = medoids;
        swapped[m] = i;
        CHECK(cost(items, weights, swapped) >= reached - 1e-9);
      }
  }
}

TEST_CASE("K-Random depends on seed and ids only") {
  std::vector<std::uint64_t> ids(100);
  for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = 7 * i;
  const Chosen chosen = k_random(ids, 10, 1);
  CHECK(chosen.size() == 10);
  CHECK(std::set<std::size_t>(chosen.begin(), chosen.end()).size() == 10);
  CHECK(chosen == k_random(ids, 10, 1));
  CHECK(chosen != k_random(ids, 10, 2));
  // Choosing among the chosen of two halves chooses among all.
  std::vector<std::uint64_t> halves;
  const std::span<const std::uint64_t> all(ids);
  for (const auto part : {all.first(50), all.subspan(50)})
    for (const std::size_t i : k_random(part, 10, 1)) halves.push_back(part[i]);
  std::vector<std::uint64_t> direct, again;
  for (const std::size_t i : chosen) direct.push_back(ids[i]);
  for (const std::size_t i : k_random(halves, 10, 1)) again.push_back(halves[i]);
  CHECK(direct == again);
}

TEST_CASE("equal signatures join at no loss, and a stencil has nine Call-Paths") {
  VirtualWorld world(30);
  auto signatures = world.generate([](std::uint32_t rank) { return stencil(rank, 6, 5); });
  const Clustering clusters = cluster::cluster(world, signatures, {});
  CHECK(clusters.main.size() == 9);
  CHECK(clusters.size() == 9);
  CHECK(clusters.find(7)->ranks == *RankList::parse("7-10+6*3"));
  CHECK(clusters.find(7)->lead == 7);
  CHECK(clusters.find(30) == nullptr);
  check_partition(clusters, 30);
  std::uint32_t last = 0;
  for (const MainCluster& main : clusters.main) {
    CHECK(main.clusters.front().lead >= last);
    last = main.clusters.front().lead;
  }
}

TEST_CASE("K is kept, grows with Call-Paths, and all algorithms partition the ranks") {
  const auto size = GENERATE(1U, 2U, 3U, 7U, 16U, 100U);
  const auto call_paths = GENERATE(1U, 3U, 20U);
  const auto algorithm = GENERATE(Selection::kFarthest, Selection::kMedoid, Selection::kRandom);
  for (const std::uint32_t k : {1U, 4U, 9U}) {
    VirtualWorld world(size);
    std::mt19937 random(size + 31 * k);
    std::set<std::uint64_t> paths;
    auto signatures = world.generate([&](std::uint32_t) {
      const std::uint64_t path = random() % call_paths;
      paths.insert(path);
      return signature_of(path, static_cast<double>(random() % 50) - 25);
    });
    const Clustering clusters = cluster::cluster(world, signatures, {algorithm, k});
    CHECK(clusters.main.size() == paths.size());
    CHECK(clusters.size() >= paths.size());
    CHECK(clusters.size() <= std::max<std::size_t>(k, paths.size()));
    check_partition(clusters, size);
    for (std::uint32_t rank = 0; rank < size; ++rank)
      CHECK(clusters.find(rank)->signature.call_path == signatures[rank].call_path);
    for (const std::uint32_t lead : clusters.leads())
      CHECK(clusters.find(lead)->signature == signatures[lead]);
    ByteWriter writer;
    encode(writer, clusters);
    ByteReader reader(writer.bytes());
    Clustering copy;
    REQUIRE(decode(reader, copy));
    CHECK(copy == clusters);
  }
}

TEST_CASE("a cluster knows whether its ranks have the lead's distances to their partners") {
  VirtualWorld world(4);
  const std::uint32_t k = GENERATE(1U, 2U);
  for (const bool same : {true, false}) {
    auto signatures = world.generate(
        [&](std::uint32_t rank) { return signature_of(1, same || rank < 2 ? 3.0 : 5.0); });
    const Clustering clusters = cluster::cluster(world, signatures, {Selection::kFarthest, k});
    for (const SubCluster& one : clusters.main.front().clusters)
      CHECK(one.same_distances == (same || k == 2));
    ByteWriter writer;
    encode(writer, clusters);
    ByteReader reader(writer.bytes());
    Clustering copy;
    REQUIRE(decode(reader, copy));
    CHECK(copy == clusters);
  }
}

TEST_CASE("clusters with nothing unusual arrive, in a few bytes each") {
  Clustering clusters;
  clusters.main.resize(1);
  clusters.main.front().call_path = 7;
  for (std::uint32_t rank = 0; rank < 8; ++rank) {
    SubCluster& one = clusters.main.front().clusters.emplace_back();
    one.lead = rank;
    one.ranks = RankList::single(rank);
    one.signature.call_path = 7;
  }
  ByteWriter writer;
  encode(writer, clusters);
  CHECK(writer.bytes().size() <= 11 + 8 * 5);
  ByteReader reader(writer.bytes());
  Clustering copy;
  REQUIRE(decode(reader, copy));
  CHECK(copy == clusters);
}

TEST_CASE("clusters arrive whatever their ranks' partners have in common") {
  const auto from_mean = GENERATE(0.0, 1.5), to_mean = GENERATE(0.0, 1.5, -2.0);
  const std::uint64_t to_exact = GENERATE(0U, 5U, 6U), mixed = GENERATE(5U, 8U, 9U);
  Clustering clusters;
  SubCluster& one = clusters.main.emplace_back().clusters.emplace_back();
  one.ranks = RankList::single(3);
  one.lead = 3;
  const auto summary_of = [&](Parameter parameter) -> SignatureVector::Summary& {
    return one.signature.parameters[static_cast<std::size_t>(parameter)];
  };
  summary_of(Parameter::kSource) = {from_mean, 5};
  summary_of(Parameter::kDestination) = {to_mean, to_exact};
  one.signature.mixed[0] = 8;
  one.signature.mixed[1] = mixed;
  ByteWriter writer;
  encode(writer, clusters);
  ByteReader reader(writer.bytes());
  Clustering copy;
  REQUIRE(decode(reader, copy));
  CHECK(reader.at_end());
  CHECK(copy == clusters);
}

TEST_CASE("what the format leaves out does not divide") {
  VirtualWorld world(12);
  auto signatures =
      world.generate([](std::uint32_t rank) { return signature_of(rank % 2, rank % 3, rank); });
  ClusterOptions options;
  options.format = kCallPathBit | format_bit(Parameter::kSource);
  CHECK(cluster::cluster(world, signatures, options).size() == 6);
  options.format = format_bit(Parameter::kSource);
  CHECK(cluster::cluster(world, signatures, options).size() == 3);
  options.format = kCallPathBit;
  CHECK(cluster::cluster(world, signatures, options).size() == 2);
}

// One hash of the clusterings of 540 random jobs: what users compare with earlier traces.
namespace {

ClusterOptions with_further(std::uint32_t k) {
  ClusterOptions options;
  options.k = k;
  options.further = kFurtherSignatures;
  return options;
}

/// All ranks have one Call-Path and the same partners. By rank: COUNT and TAG.
Clustering clustered(const ClusterOptions& options, std::uint32_t size,
                     std::uint64_t (*count)(std::uint32_t), std::uint64_t (*tag)(std::uint32_t)) {
  VirtualWorld world(size);
  const auto signature = [&](std::uint32_t rank) {
    SignatureVector one = signature_of(1, 3, 4);
    const auto set = [&](Parameter parameter, std::uint64_t value) {
      one.parameters[static_cast<std::size_t>(parameter)] = {static_cast<double>(value), value};
    };
    set(Parameter::kCount, count(rank));
    set(Parameter::kTag, tag(rank));
    set(Parameter::kSequence, combine(count(rank), tag(rank)));
    return one;
  };
  return cluster::cluster(world, world.generate(signature), options);
}

}  // namespace

TEST_CASE("what K allows is used: every behaviour has a lead, in as many signatures as fit") {
  const auto own = [](std::uint32_t rank) { return std::uint64_t{rank}; };
  const auto third = [](std::uint32_t rank) { return std::uint64_t{rank % 3}; };
  const auto same = [](std::uint32_t) { return std::uint64_t{7}; };
  const SignatureFormat count = format_bit(Parameter::kCount), tag = format_bit(Parameter::kTag);

  // As published, COUNT and TAG divide nobody.
  CHECK(clustered({}, 8, own, third).size() == 1);
  // All that differs, and nothing that does not.
  const Clustering all = clustered(with_further(8), 8, own, same);
  CHECK(all.size() == 8);
  CHECK(all.format == (kDefaultFormat | count | kSequenceBit));
  CHECK_FALSE(all.selected);
  CHECK(clustered(with_further(9), 27, same, third).size() == 3);
  CHECK(clustered(with_further(kUnbounded), 27, own, third).size() == 27);
  CHECK(clustered(with_further(9), 27, same, same).format == kDefaultFormat);
  // Eight COUNTs are too many for seven leads, three TAGs are not.
  const Clustering some = clustered(with_further(7), 8, own, third);
  CHECK(some.size() == 3);
  CHECK(some.format == (kDefaultFormat | tag));
  CHECK(clustered(with_further(2), 8, own, third).format == kDefaultFormat);
  // Where Call-Path and partners are too many, leads are selected as without.
  VirtualWorld world(64);
  const auto stencils = [](std::uint32_t rank) { return stencil(rank, 8, 8); };
  ClusterOptions few = with_further(4);
  const Clustering as_ever = cluster::cluster(world, world.generate(stencils), few);
  few.further = 0;
  CHECK(as_ever == cluster::cluster(world, world.generate(stencils), few));
}

TEST_CASE("ranks that are told apart are by themselves, those told apart alike together") {
  VirtualWorld world(6);
  const auto signature = [](std::uint32_t rank) {
    SignatureVector one = signature_of(1, 3, 4);
    if (rank == 2 || rank == 4) one.tell_apart(11);
    if (rank == 5) one.tell_apart(12);
    return one;
  };
  const Clustering found = cluster::cluster(world, world.generate(signature), with_further(9));
  CHECK(found.leads() == std::vector<std::uint32_t>{0, 2, 5});
  CHECK(found.find(4)->lead == 2);
}

TEST_CASE("the default scheme gives the clusters it always gave") {
  std::uint64_t hash = 0, round = 0;
  for (const Selection algorithm : {Selection::kFarthest, Selection::kMedoid, Selection::kRandom})
    for (const Distance metric : {Distance::kManhattan, Distance::kEuclidean})
      for (const std::uint32_t k : {1U, 4U, 9U})
        for (const std::uint32_t size : {1U, 2U, 3U, 7U, 16U, 100U})
          for (int repeat = 0; repeat < 5; ++repeat, ++round) {
            VirtualWorld world(size);
            auto signatures = world.generate([&](std::uint32_t rank) {
              const std::uint64_t random = combine(round, rank);
              return signature_of(random % (1 + round % 13), static_cast<double>(mix(random) % 20),
                                  static_cast<double>(mix(random + 1) % 20));
            });
            const Clustering clusters =
                cluster::cluster(world, signatures, {algorithm, k, round, metric});
            ByteWriter writer;
            for (const MainCluster& main : clusters.main)
              for (const SubCluster& one : main.clusters) {
                writer.u64(main.call_path);
                writer.varint(one.lead);
                one.ranks.encode(writer);
              }
            for (const std::uint8_t byte : writer.bytes()) hash = combine(hash, byte);
          }
  CHECK(hash == 0x4c3c69442043b405);
}

// Behaviours of a million ranks: with 2^20 it says what a node pays.
TEST_CASE("a million virtual ranks") {
  VirtualWorld world(1U << 20, true, true);
  const auto begin = std::chrono::steady_clock::now();
  auto signatures = world.generate([](std::uint32_t rank) { return stencil(rank, 1024, 1024); });
  const Clustering clusters = cluster::cluster(world, std::move(signatures), {});
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
  CHECK(clusters.size() == 9);
  const Traffic traffic = world.traffic();
  std::printf(
      "2^20 ranks, 9 Call-Paths: %.2f s in all, critical path %.2f ms, %llu messages, "
      "largest %llu bytes, depth %u\n",
      taken.count(), 1e3 * world.critical_seconds(),
      static_cast<unsigned long long>(traffic.messages),
      static_cast<unsigned long long>(traffic.largest), traffic.depth);
  CHECK(world.critical_seconds() < 1);
  CHECK(traffic.largest < 1U << 20);
  CHECK(traffic.messages == 2 * ((1U << 20) - 1));
  CHECK(traffic.depth == 40);
  CHECK(taken.count() < 60);
}

namespace {

/// Ranks 0 to `size` - 1, one main cluster, a sub-cluster for each value of `of`.
template <class F>
Clustering clusters_by(std::uint32_t size, F of, std::uint64_t call_path = 1) {
  std::map<std::uint32_t, SubCluster> found;
  for (std::uint32_t rank = 0; rank < size; ++rank) {
    SubCluster& one = found[of(rank)];
    if (one.ranks.empty()) one.lead = rank;
    one.ranks.insert(rank);
  }
  Clustering all;
  all.main.push_back({call_path, {}});
  for (auto& [key, one] : found) all.main.front().clusters.push_back(one);
  return all;
}

}  // namespace

TEST_CASE("joint clusters have the ranks that are together in both, and a lead of their own") {
  const std::uint32_t size = GENERATE(1, 7, 64);
  const auto a = GENERATE(1U, 2U, 3U, 5U), b = GENERATE(1U, 2U, 4U);
  const Clustering before = clusters_by(size, [&](std::uint32_t rank) { return rank % a; });
  const Clustering now = clusters_by(
      size, [&](std::uint32_t rank) { return rank / 2 % b; }, 2);
  const std::size_t clusters = joint_size(now, before, size);
  REQUIRE(clusters > 0);
  CHECK(joint_size(now, before, clusters) == clusters);
  CHECK(joint_size(now, before, clusters - 1) == 0);
  const Clustering both = joint(now, before);
  check_partition(both, size);
  CHECK(both.size() == clusters);
  CHECK(both.main.front().call_path == 2);
  for (std::uint32_t one = 0; one < size; ++one) {
    const SubCluster* const mine = both.find(one);
    REQUIRE(mine != nullptr);
    CHECK(mine->ranks.contains(mine->lead));
    for (std::uint32_t other = 0; other < size; ++other)
      CHECK(mine->ranks.contains(other) ==
            (now.find(one) == now.find(other) && before.find(one) == before.find(other)));
  }
  // A lead goes on where it can, since it has traced for its ranks so far.
  for (const std::uint32_t lead : before.leads()) CHECK(both.find(lead)->lead == lead);
}

TEST_CASE("there are no joint clusters where no reading of partners holds in both phases") {
  Clustering now = clusters_by(4, [](std::uint32_t) { return 0; });
  Clustering before = now;
  now.main.front().clusters.front().mixed_holds = false;
  CHECK(joint_size(now, before, 4) == 1);
  before.main.front().clusters.front().relative_holds = false;
  CHECK(joint_size(now, before, 4) == 0);
}
