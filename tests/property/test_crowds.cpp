// SPDX-License-Identifier: BSD-3-Clause
// Where most ranks differ, lists of classes and plans stay short, and flushes keep everything.
#include <algorithm>

#include "compress/append.h"
#include "flush/flush.h"
#include "property/streams.h"
#include "unit/catch.h"
#include "world/virtual_world.h"

using namespace chameleon;
using namespace chameleon::cluster;
using namespace chameleon::compress;
using namespace chameleon::flush;
using namespace chameleon::signature;
using namespace chameleon::world;
using namespace chameleon::testing;

namespace {

/// Values that differ on all ranks; `structures`: also so many kinds of calls.
std::vector<Stream> streams_of(int ranks, int structures) {
  std::vector<Stream> streams(static_cast<std::size_t>(ranks));
  for (int rank = 0; rank < ranks; ++rank) {
    Stream& stream = streams[static_cast<std::size_t>(rank)];
    const auto path = static_cast<std::uint64_t>(10 + rank * 7919 % structures);
    for (int i = 0; i < 4 + rank % 3; ++i)
      stream.push_back({1, path, {0, rank * 7919 % 65521 + i * rank, (rank + 1) % ranks}});
  }
  return streams;
}

std::vector<Share> shares_of(const std::vector<Stream>& streams) {
  std::vector<Share> shares(streams.size());
  for (std::size_t rank = 0; rank < streams.size(); ++rank) {
    shares[rank].trace =
        fold_stream(streams[rank], static_cast<int>(rank), static_cast<int>(streams.size()));
    shares[rank].events = streams[rank].size();
  }
  return shares;
}

/// A flush, and the plan that it was made by.
struct Flushed {
  std::optional<Trace> trace;
  FlushPlan plan;
};

Flushed flush_all(std::vector<Share> shares, const Clustering& clustering, Fidelity fidelity) {
  VirtualWorld world(static_cast<std::uint32_t>(shares.size()), true, true);
  Flushed result;
  result.trace = flush::flush(
      world, shares, clustering, fidelity, [](std::uint32_t, Share&) {},
      [&](const FlushPlan& plan) { result.plan = plan; });
  REQUIRE(result.trace);
  return result;
}

void check_exact(const Trace& trace, const std::vector<Stream>& streams) {
  for (std::size_t rank = 0; rank < streams.size(); ++rank) {
    REQUIRE(same(expand(trace, static_cast<int>(rank)), streams[rank]));
    REQUIRE(trace.facts.at(static_cast<std::uint32_t>(rank)).events == streams[rank].size());
  }
}

std::size_t size_of(const FlushPlan& plan) {
  ByteWriter writer;
  plan.encode(writer);
  return writer.bytes().size();
}

}  // namespace

TEST_CASE("ranks that all differ are a crowd: the plan stays short, and every event is kept") {
  for (const int ranks : {33, 64, 100, 257, 600})
    for (const int structures : {1, 2, 5, 40, 600}) {
      INFO(ranks << " ranks, " << structures << " structures");
      const auto streams = streams_of(ranks, structures);
      const Flushed flushed = flush_all(shares_of(streams), Clustering(), Fidelity::kExact);
      check_exact(*flushed.trace, streams);
      CHECK(size_of(flushed.plan) < 2000);
      CHECK(flushed.plan.entries.size() + flushed.plan.crowds.size() <= 128);
    }
}

TEST_CASE("a few ranks that all differ are no crowd") {
  const auto streams = streams_of(32, 32);
  const Flushed flushed = flush_all(shares_of(streams), Clustering(), Fidelity::kExact);
  check_exact(*flushed.trace, streams);
  CHECK(flushed.plan.crowds.empty());
}

TEST_CASE("classes of several ranks are no crowd, though there are hundreds") {
  constexpr std::size_t kRanks = 2000, kClasses = 400;
  std::vector<Stream> streams(kRanks);
  for (std::size_t rank = 0; rank < kRanks; ++rank) {  // five neighbours each, four of a structure
    const auto partner = static_cast<std::int64_t>((rank + 1) % kRanks);
    streams[rank] = {{1, 10 + rank / 20, {0, static_cast<std::int64_t>(rank / 5 % 4), partner}}};
  }
  const Flushed flushed = flush_all(shares_of(streams), Clustering(), Fidelity::kExact);
  check_exact(*flushed.trace, streams);
  CHECK(flushed.plan.crowds.empty());
  CHECK(flushed.plan.entries.size() == kClasses);
}

TEST_CASE("ranks that are equal stay a class beside a crowd") {
  constexpr std::size_t kRanks = 512;
  auto streams = streams_of(kRanks, 1);
  for (std::size_t rank = 0; rank < kRanks; rank += 2) {  // of another structure
    streams[rank] = {{2, 5, {0, 3, static_cast<std::int64_t>((rank + 1) % kRanks)}}};
  }
  const Flushed flushed = flush_all(shares_of(streams), Clustering(), Fidelity::kExact);
  check_exact(*flushed.trace, streams);
  REQUIRE(flushed.plan.entries.size() == 1);
  CHECK(flushed.plan.entries.front().ranks.size() == kRanks / 2);
  REQUIRE(flushed.plan.crowds.size() == 1);
  CHECK(flushed.plan.crowds.front().ranks.size() == kRanks / 2);
  CHECK_FALSE(flushed.plan.crowds.front().whole);
}

TEST_CASE("ranks of a crowd of which tracing was paused are declared") {
  const auto streams = streams_of(200, 60);
  auto shares = shares_of(streams);
  RankList paused;
  for (std::uint32_t rank = 0; rank < 200; rank += 3)
    shares[rank].paused = true, paused.insert(rank);
  const Flushed flushed = flush_all(std::move(shares), Clustering(), Fidelity::kExact);
  check_exact(*flushed.trace, streams);
  REQUIRE(flushed.trace->declarations.size() == 1);
  CHECK(flushed.trace->declarations.front().ranks == paused);
}

TEST_CASE("a lead in a crowd stands for its cluster as any other") {
  constexpr std::uint32_t kRanks = 240;
  for (const int structures : {1, 60}) {
    auto streams = streams_of(kRanks, structures);
    Clustering clustering;
    MainCluster& main = clustering.main.emplace_back();
    for (std::uint32_t lead = 0; lead < kRanks; lead += 2) {  // each for the rank after it
      const std::int64_t value = streams[lead].front().values[1];
      streams[lead + 1] =
          streams[lead] = {{1, streams[lead].front().path, {0, value, (lead + 1) % kRanks}}};
      streams[lead + 1].front().values[2] = (lead + 2) % kRanks;
      main.clusters.push_back({lead, {}, RankList::range(lead, lead + 1)});
    }
    for (const Fidelity fidelity : {Fidelity::kLead, Fidelity::kChecked}) {
      auto shares = shares_of(streams);
      for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
        shares[rank].hashes = {1, rank / 2, 2};
        shares[rank].keeps = rank % 2 == 0;
        if (!shares[rank].keeps) shares[rank].trace = Trace();
      }
      const Flushed flushed = flush_all(std::move(shares), clustering, fidelity);
      INFO(structures << " structures, " << fidelity_name(fidelity));
      check_exact(*flushed.trace, streams);
      CHECK(flushed.trace->ranks == RankList::range(0, kRanks - 1));
      for (const Node& node : flushed.trace->nodes)
        CHECK(node.inexact.empty() == (fidelity == Fidelity::kChecked));
    }
  }
}

TEST_CASE("senders by place are those of the plan, without the ranks that are absent") {
  std::mt19937_64 random(base_seed());
  for (int i = 0; i < 200; ++i) {
    RankList list;
    std::vector<std::uint32_t> expected;
    for (std::uint32_t rank = 0; rank < 60; ++rank)
      if (random() % 4 != 0) list.insert(rank), expected.push_back(rank);
    if (expected.empty()) continue;
    Absent absent;
    for (std::uint32_t count = 0; count < random() % 4; ++count)
      absent.add(Absent::one(static_cast<std::uint32_t>(random() % 20) + 20 * count));
    std::erase_if(expected, [&](std::uint32_t rank) { return absent.names(rank); });
    SenderGroup group(list);
    group.leave_out(absent);
    REQUIRE(group.size() == expected.size());
    for (std::size_t place = 0; place < expected.size(); ++place)
      REQUIRE(group[place] == expected[place]);
    for (std::uint32_t rank = 0; rank < 61; ++rank) {
      const bool there = std::find(expected.begin(), expected.end(), rank) != expected.end();
      REQUIRE(group.contains(rank) == there);
      REQUIRE(place_in(group, rank).has_value() == there);
    }
  }
}

TEST_CASE(
    "ranks that all differ from their lead take no longer messages, and the others are exact") {
  const int ranks = 4096;
  const Stream stream(3, {1, 1, {0, 8, 1}});
  VirtualWorld world(ranks);
  std::vector<Share> shares(ranks);
  const auto differs = [](std::uint32_t rank) { return rank % 512 >= 384; };
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    Share& share = shares[rank];
    share.hashes = {3, differs(rank) ? 100 + rank : 8, 0, 1, 0, 0};
    share.keeps = rank == 3;
    share.events = stream.size();
    if (share.keeps) share.trace = fold_stream(stream, static_cast<int>(rank), ranks);
  }
  Clustering clustering;
  clustering.main.push_back({1, {{3, {}, RankList::range(0, ranks - 1)}}});
  const auto merged = flush::flush(world, shares, clustering, Fidelity::kChecked);
  REQUIRE(merged);
  for (std::uint32_t rank = 0; rank < ranks; ++rank)
    REQUIRE(inexact_kinds(merged->nodes.front().inexact, rank) ==
            (differs(rank) ? static_cast<std::uint32_t>(kInexactCount) : 0U));
  CHECK(world.traffic().largest < 80 * flush::kMostComparisons);
}

TEST_CASE("how comparisons of several leads are joined does not change what they say") {
  const std::uint32_t ranks = 3000;
  const auto lead_of = [](std::uint32_t rank) { return rank % 3; };
  const auto hashes_of = [&](std::uint32_t rank) {
    flush::StreamHashes hashes{};
    hashes[0] = rank < 3 || rank % 7 != 0 ? 1 : rank;       // which events
    hashes[4] = lead_of(rank) == 1 && rank > 3 ? rank : 5;  // tags
    hashes[2] = lead_of(rank) == 2 ? rank : 0;              // where from
    return hashes;
  };
  std::vector<flush::Comparison> all;
  for (std::uint32_t rank = ranks; rank-- > 0;) {
    std::vector<flush::Comparison> one{{lead_of(rank), hashes_of(rank), RankList::single(rank)}};
    flush::join_comparisons(one, std::move(all));
    all = std::move(one);
    REQUIRE(all.size() <= flush::kMostComparisons + 6);
  }
  for (std::uint32_t lead = 0; lead < 3; ++lead) {
    RankList represented;
    for (std::uint32_t rank = lead + 3; rank < ranks; rank += 3)
      represented.merge(RankList::single(rank));
    const std::vector<Inexact> found = flush::judge(lead, represented, all, false);
    for (std::uint32_t rank = lead + 3; rank < ranks; rank += 3) {
      const std::uint32_t said = inexact_kinds(found, rank);
      const std::uint32_t kinds =
          (lead == 1 ? kInexactTag : 0U) | (lead == 2 ? kInexactSource : 0U);
      REQUIRE((said & kInexactAll) == (rank % 7 == 0 ? +kInexactAll : kinds));
    }
  }
}
