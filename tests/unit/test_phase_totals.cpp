// SPDX-License-Identifier: BSD-3-Clause
#include <zstd.h>

#include <cmath>
#include <random>

#include "format/codec.h"
#include "format/totals_codec.h"
#include "model/trace.h"
#include "unit/catch.h"

using namespace chameleon;
using namespace chameleon::format;

namespace {

constexpr std::uint64_t kUs = 1000;

/// Ranks that spend about the same, in so many phases.
PhaseTotals like_totals(std::uint32_t ranks, std::uint32_t phases, std::mt19937& random) {
  PhaseTotals totals;
  const auto noisy = [&](std::uint64_t ns) { return ns - ns / 20 + random() % (ns / 10); };
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    PhaseTotals::ByPhase spent;
    for (std::uint32_t phase = 0; phase < phases; ++phase)
      spent[phase] = {noisy(700'000 * kUs), noisy(200'000 * kUs), noisy(90'000 * kUs),
                      noisy(9'000 * kUs), noisy(700 * kUs)};
    spent[PhaseTotals::kNoPhase].compute = 11 * kUs;
    totals.add(RankList::single(rank), std::move(spent));
  }
  return totals;
}

Bytes encoded(const PhaseTotals& totals) {
  ByteWriter out;
  write_totals(out, totals);
  return out.take();
}

bool decodes(std::span<const std::uint8_t> bytes, PhaseTotals& totals) {
  ByteReader in(bytes);
  read_totals(in, totals);
  return in.ok();
}

}  // namespace

TEST_CASE("totals of every rank and phase are in the file within a hundredth") {
  std::mt19937 random(3);
  const std::uint32_t ranks = GENERATE(1, 5, 64, 1000);
  const PhaseTotals totals = like_totals(ranks, 3, random);
  PhaseTotals read;
  REQUIRE(decodes(encoded(totals), read));
  REQUIRE(read.entries().size() == ranks);
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    const PhaseTotals::Entry &said = read.entries()[rank], &wanted = totals.entries()[rank];
    CHECK(said.ranks == RankList::single(rank));
    REQUIRE(said.phases.size() == 4);
    for (const auto& [phase, spent] : wanted.phases)
      for (const SpentTime kind : kSpentTimes)
        CHECK(std::abs(static_cast<double>(said.phases.at(phase).*kind) -
                       static_cast<double>(spent.*kind)) <= static_cast<double>(spent.*kind) / 128);
  }
}

TEST_CASE("totals take a few bytes a rank and phase") {
  std::mt19937 random(4);
  const Bytes bytes = encoded(like_totals(1024, 2, random));
  Bytes packed(ZSTD_compressBound(bytes.size()));
  const std::size_t size =
      ZSTD_compress(packed.data(), packed.size(), bytes.data(), bytes.size(), 3);
  INFO(size << " bytes");
  CHECK(size <= 1024 * 2 * 4);
}

TEST_CASE("totals of many ranks are by class of times") {
  std::mt19937 random(5);
  constexpr auto kRanks = static_cast<std::uint32_t>(PhaseTotals::kMostByRank) + 100;
  PhaseTotals totals = like_totals(kRanks, 1, random);
  TimeTable times;
  RankList slow = RankList::range(7, 9);
  times.add_class({RankList::range(0, kRanks - 1).minus(slow), 0});
  times.add_class({slow, 0});
  SpentTimes sum;
  for (const PhaseTotals::Entry& entry : totals.entries()) sum.add(entry.phases.at(0));
  totals.limit(times);
  REQUIRE(totals.entries().size() == 2);
  CHECK(totals.entries()[0].ranks == times.classes()[0].streams);
  CHECK(totals.entries()[1].ranks == slow);
  double joined = 0;
  for (const PhaseTotals::Entry& entry : totals.entries())
    joined += static_cast<double>(entry.ranks.size() * entry.phases.at(0).compute);
  CHECK(joined == Approx(static_cast<double>(sum.compute)).epsilon(1e-6));
  PhaseTotals read;
  REQUIRE(decodes(encoded(totals), read));
  CHECK(read.ranks() == totals.ranks());
  CHECK(read.entries().size() == 2);
}

TEST_CASE("a later part's totals hold for the ranks that it has") {
  std::mt19937 random(6);
  PhaseTotals first = like_totals(4, 1, random), later;
  const PhaseTotals before = first;
  PhaseTotals::ByPhase other;
  other[2].tool = 5;
  later.add(RankList::single(1), other);
  later.add(RankList::single(9), other);
  first.supersede(later);
  REQUIRE(first.entries().size() == 5);
  CHECK(first.entries()[0] == before.entries()[0]);
  CHECK(first.entries()[1].phases == other);
  CHECK(first.entries()[2] == before.entries()[2]);
  CHECK(first.entries()[4].ranks == RankList::single(9));
}

TEST_CASE("totals that cannot be are refused") {
  std::mt19937 random(7);
  const Bytes good = encoded(like_totals(40, 2, random));
  PhaseTotals read;
  for (std::size_t size = 0; size < good.size(); ++size)
    CHECK_FALSE(decodes(std::span(good).first(size), read));
  ByteWriter many;  // few bytes for all ranks that a list may have
  many.varint(1);
  many.varint(0);
  many.varint(0);
  RankList::range(0, (1U << 24) - 1).encode(many);
  CHECK_FALSE(decodes(many.bytes(), read));
}

TEST_CASE("times that are kept as a rounded mean add up to what they were") {
  Trace trace;
  trace.world_size = 1;
  trace.ranks = RankList::single(0);
  const std::uint32_t of = trace.times.add_class({trace.ranks, 0});
  Durations large;
  large.compute.add(0);
  large.communication.add(1'000'000'000);
  std::uint64_t computed = 0;
  trace.times.add({1, 0}, of, large);
  for (std::uint64_t symbol = 2; symbol < 9; ++symbol) {
    Durations times;
    times.compute.add(259);  // of a step of two
    times.communication.add(1000);
    computed += 259;
    trace.times.add({symbol, 1}, ClassTimes::kAll, times);
  }
  const Bytes bytes = encode_trace(trace);
  const Result<Trace> read = decode_trace(bytes);
  REQUIRE(read);
  CHECK(read->times.total().compute.sum() == computed);
}
