// SPDX-License-Identifier: BSD-3-Clause
// What each axis of clustering by signatures does, on virtual ranks.
#include <cmath>
#include <map>
#include <random>
#include <set>

#include "base/hash.h"
#include "cluster/by_signatures.h"
#include "signature/packed.h"
#include "unit/catch.h"
#include "world/virtual_world.h"

using namespace chameleon;
using namespace chameleon::cluster;
using namespace chameleon::signature;
using namespace chameleon::world;

namespace {

void set(SignatureVector& signature, Parameter parameter, double mean) {
  const std::uint64_t exact = std::bit_cast<std::uint64_t>(mean);
  const auto at = static_cast<std::size_t>(parameter);
  signature.parameters[at] = {mean, exact};
  if (at < 2) signature.mixed[at] = exact;
}

SignatureVector signature_of(std::uint64_t call_path, double source, double destination,
                             double count = 0) {
  SignatureVector result;
  result.call_path = call_path;
  set(result, Parameter::kSource, source);
  set(result, Parameter::kDestination, destination);
  set(result, Parameter::kCount, count);
  return result;
}

template <class Of>
Clustering clusters_of(std::uint32_t ranks, const ClusterOptions& options, Of of) {
  VirtualWorld world(ranks);
  return cluster::cluster(world, world.generate(of), options);
}

/// The leads' clusters, as text: `0: 0-3; 4: 4`.
std::string text(const Clustering& clustering) {
  std::map<std::uint32_t, std::string> ranks;
  for (const MainCluster& main : clustering.main)
    for (const SubCluster& one : main.clusters) ranks[one.lead] = one.ranks.to_string();
  std::string all;
  for (const auto& [lead, members] : ranks)
    all += (all.empty() ? "" : "; ") + std::to_string(lead) + ": " + members;
  return all;
}

/// Ranks of a torus of `side` columns that exchange with their transpose.
SignatureVector transpose(std::uint32_t rank, std::uint32_t side) {
  const double partner = rank % side * side + rank / side;
  return signature_of(1, partner - rank, partner - rank);
}

}  // namespace

TEST_CASE("without a bound every behaviour has a lead") {
  ClusterOptions options;
  for (const std::uint32_t side : {4U, 8U, 16U}) {
    options.k = 9;
    CHECK(clusters_of(side * side, options, [&](std::uint32_t r) {
            return transpose(r, side);
          }).size() <= 9);
    options.k = kUnbounded;
    const Clustering all =
        clusters_of(side * side, options, [&](std::uint32_t r) { return transpose(r, side); });
    // Distances of -(side - 1) (side - 1) to (side - 1) (side - 1), by side - 1.
    CHECK(all.size() == 2 * side - 1);
  }
}

TEST_CASE("a single step never exceeds K, and knows that Call-Paths differ") {
  ClusterOptions options;
  options.steps = Steps::kSingle;
  options.k = 3;
  const auto of = [](std::uint32_t rank) { return signature_of(rank % 5, 1, -1); };
  CHECK(clusters_of(20, options, of).size() == 3);
  options.k = 5;
  const Clustering five = clusters_of(20, options, of);
  CHECK(text(five) == "0: 0-15:5; 1: 1-16:5; 2: 2-17:5; 3: 3-18:5; 4: 4-19:5");
  options.k = 4;
  options.steps = Steps::kDouble;
  CHECK(clusters_of(20, options, of).size() == 5);
}

TEST_CASE("COUNTs within the tolerance of a lead's are equal, and their mean is kept") {
  const double counts[] = {100, 104, 108, 112, 95, 50};
  const auto of = [&](std::uint32_t rank) { return signature_of(1, 1, 1, counts[rank]); };
  ClusterOptions options = find_preset("callpath+parameter")->options;
  const Clustering near = clusters_of(6, options, of);
  // 104 is near 100; 108 is not, and leads 112.
  CHECK(text(near) == "0: 0-1,4; 2: 2-3; 5: 5");
  CHECK(near.find(0)->count == Approx(299.0 / 3));
  CHECK(near.find(2)->count == 110);
  CHECK(near.find(5)->count == 50);
  CHECK(near.find(0)->signature[Parameter::kCount].mean == 100);
  options.count_tolerance = 0;
  CHECK(clusters_of(6, options, of).size() == 6);
}

TEST_CASE("the packed form confuses what the exact form keeps apart") {
  const auto of = [](std::uint32_t rank) {
    SignatureVector one = signature_of(1, 1, 1, 7);
    // An average of 7 by other values.
    one.parameters[static_cast<std::size_t>(Parameter::kCount)].exact = rank;
    return one;
  };
  ClusterOptions options = find_preset("callpath+parameter")->options;
  options.count_tolerance = 0;
  CHECK(clusters_of(8, options, of).size() == 8);
  options.equality = Equality::kPacked;
  CHECK(clusters_of(8, options, of).size() == 1);
}

TEST_CASE("the packed word has the published layout") {
  SignatureVector one = signature_of(9, -1, 2.4, 70000);
  one.parameters[static_cast<std::size_t>(Parameter::kDataOperation)].exact =
      1U << 3 | 1U << 10 | std::uint64_t{1} << 33 | std::uint64_t{1} << 55;
  const std::uint64_t word = packed_signature(one);
  CHECK((word & 0xffff) == 0xffff);        // saturated
  CHECK((word >> 16 & 0xffff) == 2);       // DEST, rounded
  CHECK((word >> 32 & 0xffff) == 0xffff);  // SOURCE, -1
  CHECK((word >> 48 & 0x7f) == 1U << 3);   // datatypes 3 and 10
  CHECK((word >> 55 & 0x7f) == 1U << 1);   // operation 1
  CHECK((word >> 62) == 1);                // predefined communicators only
}

TEST_CASE("workers that all talk to rank 0 are alike in the mixed reading only") {
  const auto of = [](std::uint32_t rank) {
    SignatureVector one =
        signature_of(rank == 0 ? 1 : 2, -static_cast<double>(rank), -static_cast<double>(rank));
    if (rank != 0) one.mixed[0] = one.mixed[1] = 4711;
    return one;
  };
  const Clustering workers = clusters_of(16, {}, of);
  CHECK(text(workers) == "0: 0; 1: 1-15");
  CHECK_FALSE(workers.find(1)->relative_holds);
  CHECK(workers.find(1)->mixed_holds);
}

TEST_CASE("a cluster of one reading takes in nobody by the other") {
  // Ranks 0 and 1 share the relative hash, 1 and 2 the mixed one.
  const auto of = [](std::uint32_t rank) {
    SignatureVector one = signature_of(1, rank < 2 ? 1 : 2, 0);
    one.mixed[0] = rank == 0 ? 10 : 11;
    return one;
  };
  CHECK(text(clusters_of(3, {}, of)) == "0: 0-1; 2: 2");
}

namespace {

/// A rank of a grid of `side` squared that exchanges with those of its row in a butterfly, and then
/// with its transpose.
SignatureVector butterfly(std::uint32_t rank, std::uint32_t side) {
  IntervalSignature signature;
  signature.read_by_xor(rank);
  const auto partner = [&](std::uint32_t other) {
    const auto self = static_cast<std::int32_t>(rank);
    const auto size = static_cast<std::int32_t>(side * side);
    signature.call(1);
    for (const Parameter each : {Parameter::kSource, Parameter::kDestination})
      signature.add_end_point(each, pack_rank(static_cast<std::int32_t>(other), self, size));
  };
  for (std::uint32_t bit = 1; bit < side; bit *= 2) partner(rank ^ bit);
  partner(rank % side * side + rank / side);
  return signature.take();
}

}  // namespace

TEST_CASE("by XOR a transpose has as many leads as its grid has columns, and else one a rank") {
  const std::uint32_t side = GENERATE(4, 8, 16, 32);
  ClusterOptions options = find_preset("dynamic")->options;
  const auto of = [&](std::uint32_t rank) { return butterfly(rank, side); };
  CHECK(clusters_of(side * side, options, of).size() == side * side);
  options.equality = Equality::kXor;
  const Clustering clusters = clusters_of(side * side, options, of);
  REQUIRE(clusters.size() == side);
  for (std::uint32_t rank = 0; rank < side * side; ++rank) {
    const SubCluster& one = *clusters.find(rank);
    CHECK(one.by_xor());
    // Row and column differ in the same bits.
    CHECK((rank / side ^ rank % side) == (one.lead / side ^ one.lead % side));
  }
}

TEST_CASE("a clustering by XOR is the same after a journey") {
  ClusterOptions options = find_preset("dynamic")->options;
  options.equality = GENERATE(Equality::kXor, Equality::kExact);
  const Clustering sent =
      clusters_of(16, options, [](std::uint32_t rank) { return butterfly(rank, 4); });
  ByteWriter writer;
  encode(writer, sent);
  const Bytes bytes = writer.take();
  ByteReader reader(bytes);
  Clustering received;
  REQUIRE(decode(reader, received));
  CHECK(received == sent);
}

TEST_CASE("ranks that are alike by their distances stay so where partners are read by XOR too") {
  const auto of = [](std::uint32_t rank) {
    IntervalSignature signature;
    signature.read_by_xor(rank);
    signature.call(1);
    signature.add_end_point(
        Parameter::kDestination,
        pack_rank(static_cast<std::int32_t>((rank + 1) % 16), static_cast<std::int32_t>(rank), 16));
    return signature.take();
  };
  ClusterOptions options;
  options.equality = Equality::kXor;
  const Clustering ring = clusters_of(16, options, of);
  CHECK(text(ring) == "0: 0-15");
  CHECK(ring.find(3)->relative_holds);
  CHECK_FALSE(ring.find(3)->by_xor());
}

TEST_CASE("a history is read by XOR if all of its intervals are") {
  const auto interval = [](bool by_xor, std::int32_t partner) {
    IntervalSignature signature;
    if (by_xor) signature.read_by_xor(6);
    signature.call(1);
    signature.add_end_point(Parameter::kSource, pack_rank(partner, 6, 8));
    return signature.take_totals();
  };
  IntervalTotals same, other, some;
  for (const bool second : {false, true}) {
    same.append(interval(true, second ? 7 : 4));
    other.append(interval(true, second ? 4 : 7));
    some.append(interval(!second, 7));
  }
  CHECK(same.signature().xored[0] != 0);
  CHECK(same.signature().xored[0] != other.signature().xored[0]);
  CHECK(some.signature().xored[0] == 0);
  CHECK(same.signature().xored[1] == 0);
}

TEST_CASE("an adaptive format has the signatures in which ranks differ") {
  ClusterOptions options = find_preset("acurdion")->options;
  const auto format_of = [&](auto of, std::uint32_t ranks = 16) {
    return signature::format_text(clusters_of(ranks, options, of).format);
  };
  CHECK(format_of([](std::uint32_t) { return signature_of(1, 1, -1, 8); }).empty());
  CHECK(format_of([](std::uint32_t rank) { return signature_of(1, rank % 2, -1, 8); }) == "src");
  CHECK(format_of([](std::uint32_t rank) { return signature_of(rank / 8, 1, -1, 8); }) ==
        "callpath");
  CHECK(format_of([](std::uint32_t rank) { return signature_of(rank / 8, 1, -1, rank / 8); }) ==
        "callpath,count");
  // Equal averages of unlike values.
  CHECK(format_of([](std::uint32_t rank) {
          SignatureVector one = signature_of(1, 1, -1, 8);
          one.parameters[static_cast<std::size_t>(Parameter::kTag)] = {5, rank};
          return one;
        }) == "tag");
  // What the format may not have is not in it.
  options.format = kDefaultFormat;
  CHECK(format_of([](std::uint32_t rank) { return signature_of(1, 1, rank, rank); }) == "dest");
}

TEST_CASE("an adaptive format gives the clusters of the format that it is") {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    const auto of = [&](std::uint32_t rank) {
      const std::uint64_t random = combine(seed, rank);
      return signature_of(random % (1 + seed % 3), static_cast<double>(mix(random) % 3), 5,
                          static_cast<double>(mix(random + 1) % 2));
    };
    ClusterOptions options = find_preset("acurdion")->options;
    const Clustering adaptive = clusters_of(40, options, of);
    options.adaptive = false;
    options.format = adaptive.format;
    CHECK(clusters_of(40, options, of) == adaptive);
    options.format = kAllSignatures;
    CHECK(text(clusters_of(40, options, of)) == text(adaptive));
  }
}

TEST_CASE("every preset puts each rank into one cluster, and exact ones lose nothing") {
  for (const Preset& preset : presets())
    for (const std::uint32_t ranks : {1U, 2U, 7U, 64U}) {
      std::mt19937 random(ranks);
      std::vector<SignatureVector> signatures;
      for (std::uint32_t rank = 0; rank < ranks; ++rank)
        signatures.push_back(signature_of(random() % 2, random() % 3, random() % 3, 64));
      const Clustering clusters =
          clusters_of(ranks, preset.options, [&](std::uint32_t rank) { return signatures[rank]; });
      for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        const SubCluster* mine = clusters.find(rank);
        REQUIRE(mine != nullptr);
        CHECK(mine->signature.call_path == signatures[rank].call_path);
        if (preset.options.k == kUnbounded && (clusters.format & kSequenceBit) == 0)
          CHECK(mine->signature == signatures[rank]);
      }
    }
}
