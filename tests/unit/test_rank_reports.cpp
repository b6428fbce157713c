// SPDX-License-Identifier: BSD-3-Clause
// What ranks say of themselves on its way to rank 0, in small jobs and in large ones.

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

#include "flush/rank_reports.h"
#include "format/codec.h"
#include "unit/catch.h"
#include "world/virtual_world.h"

using namespace chameleon;
using format::PackedFacts;

namespace {

constexpr std::uint32_t kRanks = 100, kThreads = 2;

/// The facts of a rank's streams; some columns are all 0, some regular, some noisy, some texts.
Trace said_by(std::uint32_t rank, std::uint32_t seed) {
  std::mt19937 random(seed + rank);
  Trace own;
  own.world_size = kRanks;
  own.threads = rank % 3 == 0 ? kThreads : 1;
  own.complete = true;
  for (std::uint32_t thread = 0; thread < own.threads; ++thread) {
    RankFacts facts;
    facts.events = 12 * rank;
    facts.run_ns = 5'000'000'000 + random() % 1'000'000;
    facts.tool_ns = random() % 100'000;
    facts.tool_bytes = (1 + random() % 16) << 20;
    facts.host = "node" + std::to_string(rank / 8);
    facts.clock_samples = 3;
    facts.clock_begin_ns = -static_cast<std::int64_t>(random());
    own.facts.emplace(own.stream_of(rank, thread), facts);
    own.ranks.insert(own.stream_of(rank, thread));
  }
  own.totals.add(RankList::single(rank),
                 {{0, {random() % 1000, 7, random(), 0, 3}}, {rank % 2, {10, 0, 0, rank, 0}}});
  if (rank % 7 == 0) own.declarations.push_back({"seven", RankList::single(rank)});
  return own;
}

FactsOfRanks unpacked(const PackedFacts& facts) {
  Trace trace;
  trace.world_size = kRanks;
  trace.threads = kThreads;
  trace.ranks = facts.ranks();
  const Result<Trace> read = format::decode_trace(format::encode_trace(trace, facts));
  REQUIRE(read);
  return read->facts;
}

/// Of a sum of integers and its ranks.
void same_means(const PhaseTotals& all, const PhaseTotals& expected) {
  REQUIRE(all.entries().size() == expected.entries().size());
  for (std::size_t i = 0; i < all.entries().size(); ++i)
    CHECK(all.entries()[i] == expected.entries()[i]);
}

}  // namespace

TEST_CASE("facts that travel in columns are those of the ranks", "[facts]") {
  const std::uint32_t seed = testing::seed();
  INFO("seed " << seed);
  FactsOfRanks expected;
  std::uint64_t events = 0;
  for (std::uint32_t rank = 0; rank < kRanks; ++rank)
    for (const auto& [stream, facts] : said_by(rank, seed).facts) {
      expected.emplace(stream, facts);
      events += facts.events;
    }
  world::VirtualWorld world(kRanks, true);
  const auto all = flush::gather_reports(
      world, [&](std::uint32_t rank) { return said_by(rank, seed); },
      [](std::uint32_t) { return 0U; });
  REQUIRE(all);
  CHECK(unpacked(all->facts) == expected);
  CHECK(all->facts.sum(&RankFacts::events) == static_cast<double>(events));
  CHECK(all->facts.sum(&RankFacts::waiting_ns) == 0);
  CHECK(all->rest.totals.entries().size() == kRanks);
  REQUIRE(all->rest.declarations.size() == 1);
  RankList sevens;
  for (std::uint32_t rank = 0; rank < kRanks; rank += 7) sevens.insert(rank);
  CHECK(all->rest.declarations.front().ranks == sevens);
  CHECK(world.traffic().messages == kRanks - 1);

  // As bytes.
  ByteWriter writer;
  world::encode_value(writer, *all);
  flush::RankReports read;
  ByteReader reader(writer.bytes());
  REQUIRE(world::decode_value(reader, read));
  CHECK(unpacked(read.facts) == expected);
}

TEST_CASE("in a large job facts are rounded, and ranks of like times have one mean", "[facts]") {
  const std::uint32_t seed = testing::seed();
  INFO("seed " << seed);
  const auto class_of = [](std::uint32_t rank) { return rank * rank % 5; };
  FactsOfRanks expected;
  TotalsByClass totals;
  for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
    const Trace own = said_by(rank, seed);
    expected.insert(own.facts.begin(), own.facts.end());
    totals.add(class_of(rank), own.totals.entries().front());
  }
  for (const std::uint32_t group : {1U, 7U, 64U, 99U}) {
    world::VirtualWorld world(kRanks, true);
    const auto all = flush::gather_reports(
        world, [&](std::uint32_t rank) { return said_by(rank, seed); }, class_of, group);
    REQUIRE(all);
    const FactsOfRanks read = unpacked(all->facts);
    REQUIRE(read.size() == expected.size());
    for (const auto& [stream, facts] : expected) {
      const RankFacts& near = read.at(stream);
      for_each_rank_fact([&, &exact = facts]<class T>(const Fact& fact, T RankFacts::*member) {
        const bool measured =
            std::strcmp(fact.unit, "ns") == 0 || std::strcmp(fact.unit, "bytes") == 0;
        if constexpr (std::is_same_v<T, std::uint64_t>)
          if (measured && fact.join != Join::kClock) {
            const auto value = static_cast<double>(exact.*member);
            CHECK(std::abs(static_cast<double>(near.*member) - value) <= value / 128);
            return;
          }
        CHECK(near.*member == exact.*member);
      });
    }
    same_means(all->totals.means(), totals.means());
    CHECK(all->rest.totals.empty());
    const auto rounded =
        std::find_if(all->rest.declarations.begin(), all->rest.declarations.end(),
                     [](const Declaration& one) { return one.what == flush::kRoundedDeclaration; });
    REQUIRE(rounded != all->rest.declarations.end());
    CHECK(rounded->ranks == all->facts.ranks());
    // A rank's, to the first of its group; a group's, to rank 0.
    CHECK(world.traffic().messages == kRanks - 1);
  }
}

TEST_CASE("means by class are those of the ranks in it", "[facts]") {
  TotalsByClass all;
  all.add(3, {RankList::range(0, 2), {{0, {10, 0, 0, 0, 0}}}});
  all.add(3, {RankList::single(9), {{0, {20, 1, 0, 0, 0}}, {2, {6, 0, 0, 0, 0}}}});
  TotalsByClass more;
  more.add(0, {RankList::single(4), {{0, {1, 2, 3, 4, 5}}}});
  all.join(more);
  const PhaseTotals means = all.means();
  REQUIRE(means.entries().size() == 2);
  RankList of_three = RankList::range(0, 2);
  of_three.insert(9);
  CHECK(means.entries()[0].ranks == of_three);
  CHECK(means.entries()[0].phases ==
        PhaseTotals::ByPhase{{0, {13, 0, 0, 0, 0}}, {2, {2, 0, 0, 0, 0}}});
  CHECK(means.entries()[1].phases == PhaseTotals::ByPhase{{0, {1, 2, 3, 4, 5}}});
}

TEST_CASE("times of large jobs round to the nearest", "[facts]") {
  RankFacts facts;
  for (const std::uint64_t value :
       {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{127}, std::uint64_t{128},
        std::uint64_t{129}, std::uint64_t{255}, std::uint64_t{1'000'003}, UINT64_MAX}) {
    facts.run_ns = facts.events = value;
    const RankFacts near = format::rounded(facts);
    CHECK(near.events == value);
    CHECK((near.run_ns > value ? near.run_ns - value : value - near.run_ns) <= value / 128);
    if (value < 128) CHECK(near.run_ns == value);
  }
}
