// SPDX-License-Identifier: BSD-3-Clause
// What reaches rank 0 through flushes is what every rank did, in `exact`; in the
// other fidelities, what differs is declared.
#include <cstdlib>

#include "compress/append.h"
#include "compress/merge.h"
#include "flush/flush.h"
#include "format/codec.h"
#include "format/file.h"
#include "model/xor_reading.h"
#include "property/streams.h"
#include "unit/catch.h"
#include "world/virtual_world.h"

using namespace chameleon;
using namespace chameleon::cluster;
using namespace chameleon::compress;
using namespace chameleon::flush;
using namespace chameleon::format;
using namespace chameleon::signature;
using namespace chameleon::world;
using namespace chameleon::testing;

namespace {

/// Everybody traced for by `lead`.
Clustering one_cluster(int ranks, std::uint32_t lead) {
  Clustering clustering;
  clustering.main.push_back(
      {1, {{lead, {}, RankList::range(0, static_cast<unsigned>(ranks) - 1)}}});
  return clustering;
}

std::vector<Share> shares_of(const std::vector<Stream>& streams, std::size_t from, std::size_t to) {
  std::vector<Share> shares;
  for (std::size_t rank = 0; rank < streams.size(); ++rank) {
    const Stream& all = streams[rank];
    const auto at = [&](std::size_t part) { return all.size() * part / 4; };
    const Stream slice(all.begin() + static_cast<std::ptrdiff_t>(at(from)),
                       all.begin() + static_cast<std::ptrdiff_t>(at(to)));
    Share share;
    share.trace = fold_stream(slice, static_cast<int>(rank), static_cast<int>(streams.size()));
    share.events = slice.size();
    shares.push_back(std::move(share));
  }
  return shares;
}

}  // namespace

TEST_CASE("flushes in exact keep every event of every rank", "[property]") {
  for (std::uint64_t i = 0; i < 150; ++i) {
    const std::uint64_t seed = base_seed() + i;
    const int ranks = 1 + static_cast<int>(seed % 17);
    INFO("CHAMELEON_TEST_SEED=" << seed << " ranks=" << ranks);
    ProgramMaker program(seed, ranks);
    std::vector<Stream> streams;
    for (int rank = 0; rank < ranks; ++rank) streams.push_back(program.run(rank));
    VirtualWorld world(static_cast<std::uint32_t>(ranks), true, true);  // what is sent is bytes
    Trace online;
    online.world_size = static_cast<std::uint32_t>(ranks);
    for (std::size_t part = 0; part < 4; ++part) {
      auto shares = shares_of(streams, part, part + 1);
      auto merged = flush::flush(world, shares, Clustering(), Fidelity::kExact);
      REQUIRE(merged);
      append(online, std::move(*merged));
    }
    for (int rank = 0; rank < ranks; ++rank) {
      const Stream& expected = streams[static_cast<std::size_t>(rank)];
      REQUIRE(same(expand(online, rank), expected));
      REQUIRE(online.facts[static_cast<std::uint32_t>(rank)].events == expected.size());
    }
  }
}

TEST_CASE("ranks of several threads keep every event of each, whoever else has one") {
  for (std::uint64_t i = 0; i < 60; ++i) {
    const std::uint64_t seed = base_seed() + i;
    const int ranks = 2 + static_cast<int>(seed % 9);
    INFO("CHAMELEON_TEST_SEED=" << seed << " ranks=" << ranks);
    ProgramMaker program(seed, ranks);
    const auto threads_of = [](int rank) { return rank % 3 == 1 ? 3 : 1; };
    for (const Fidelity fidelity : {Fidelity::kExact, Fidelity::kChecked, Fidelity::kLead}) {
      VirtualWorld world(static_cast<std::uint32_t>(ranks));
      Trace online;
      online.world_size = static_cast<std::uint32_t>(ranks);
      for (int part = 0; part < 2; ++part) {
        std::vector<Share> shares;
        for (int rank = 0; rank < ranks; ++rank) {
          Share share;
          for (int thread = 0; thread < threads_of(rank); ++thread) {
            const Stream stream = program.run(rank);
            Trace one = fold_thread(stream, rank, thread, ranks, threads_of(rank));
            if (threads_of(rank) > 1) one.facts[one.ranks.first()].events = stream.size();
            if (thread == 0)
              share.events = stream.size(), share.trace = std::move(one);
            else
              merge(share.trace, std::move(one));
          }
          shares.push_back(std::move(share));
        }
        auto merged = flush::flush(world, shares, Clustering(), fidelity);
        REQUIRE(merged);
        append(online, std::move(*merged));
      }
      online = std::move(*decode_trace(encode_trace(online)));
      REQUIRE(online.threads == 3U);
      for (int rank = 0; rank < ranks; ++rank)
        for (int thread = 0; thread < threads_of(rank); ++thread) {
          Stream twice = program.run(rank);
          const std::size_t once = twice.size();
          for (std::size_t at = 0; at < once; ++at) twice.push_back(Record(twice[at]));
          const auto stream = online.stream_of(static_cast<std::uint32_t>(rank),
                                               static_cast<std::uint32_t>(thread));
          REQUIRE(same(expand(online, static_cast<int>(stream)), twice));
          REQUIRE(online.facts[stream].events == twice.size());
        }
    }
  }
}

TEST_CASE("ranks that do the same send one trace, whatever their number") {
  std::uint64_t bytes_at_eight = 0;
  for (const int ranks : {8, 64, 512}) {
    std::vector<Stream> streams;
    for (int rank = 0; rank < ranks; ++rank) {
      Stream stream;
      for (int i = 0; i < 100; ++i) {
        stream.push_back({1, 1, {0, 8, (rank + 1) % ranks}});
        stream.push_back({2, 2, {0, 8, 0}});  // partner rank 0: a root in all but name
      }
      streams.push_back(stream);
    }
    // A ring is alike in relative ranks, sends to rank 0 in absolute ones: two classes at most
    // where a program has both.
    VirtualWorld world(static_cast<std::uint32_t>(ranks), true);
    auto shares = shares_of(streams, 0, 4);
    auto merged = flush::flush(world, shares, Clustering(), Fidelity::kExact);
    REQUIRE(merged);
    for (int rank = 0; rank < ranks; ++rank)
      REQUIRE(same(expand(*merged, rank), streams[static_cast<std::size_t>(rank)]));
    CHECK(merged->nodes.size() == 1);
    const std::uint64_t per_rank = world.traffic().bytes / static_cast<unsigned>(ranks);
    if (ranks == 8) bytes_at_eight = per_rank;
    CHECK(per_rank <= bytes_at_eight);
    CHECK(world.traffic().largest < 2000);
  }
}

TEST_CASE("a lead's trace stands for its cluster, and says so") {
  const int ranks = 8;
  std::vector<Stream> streams;
  for (int rank = 0; rank < ranks; ++rank) {
    Stream stream;
    for (int i = 0; i < 20; ++i) {
      stream.push_back({1, 1, {0, rank == 5 ? 9 : 8, (rank + 1) % ranks}});
      if (rank == 6) stream.push_back({2, 2, {0, 8, 0}});
    }
    streams.push_back(stream);
  }
  const auto run = [&](Fidelity fidelity) {
    VirtualWorld world(ranks);
    auto shares = shares_of(streams, 0, 4);
    for (int rank = 0; rank < ranks; ++rank) {
      Share& share = shares[static_cast<std::size_t>(rank)];
      share.hashes = {
          streams[static_cast<std::size_t>(rank)].size(), rank == 5 ? 9U : 8U, 0, 1, 0, 0};
      share.keeps = rank == 3;
      if (!share.keeps) share.trace = Trace();
    }
    return flush::flush(world, shares, one_cluster(ranks, 3), fidelity);
  };
  auto lead = run(Fidelity::kLead);
  REQUIRE(lead);
  CHECK(lead->ranks == RankList::range(0, 7));
  CHECK(same(expand(*lead, 1), streams[1]));  // relative to each rank of its own
  CHECK(inexact_kinds(lead->nodes.front().inexact, 3) == 0);
  CHECK(inexact_kinds(lead->nodes.front().inexact, 1) == kInexactAll);

  auto checked = run(Fidelity::kChecked);
  REQUIRE(checked);
  CHECK(inexact_kinds(checked->nodes.front().inexact, 1) == 0);
  CHECK(inexact_kinds(checked->nodes.front().inexact, 5) == kInexactCount);
  CHECK(inexact_kinds(checked->nodes.front().inexact, 6) == kInexactAll);
}

TEST_CASE(
    "where only unsuccessful polls differ, the calls that poll say so and nothing else does") {
  const int ranks = 4;
  std::vector<Stream> streams;
  for (int rank = 0; rank < ranks; ++rank)
    streams.push_back({{1, 1, {0, 8, (rank + 1) % ranks}}, {2, 2, {0, 8, (rank + 1) % ranks}}});
  VirtualWorld world(ranks);
  auto shares = shares_of(streams, 0, 4);
  for (int rank = 0; rank < ranks; ++rank) {
    Share& share = shares[static_cast<std::size_t>(rank)];
    share.hashes[kPollsHash] = rank == 2 ? 5 : 4;
    share.hashes[kPollPlacesHash] = rank == 3 ? 5 : 4;
    share.trace.calls[2].fields[1].name = "flag";
    share.keeps = rank == 1;
    if (!share.keeps) share.trace = Trace();
  }
  auto merged = flush::flush(world, shares, one_cluster(ranks, 1), Fidelity::kChecked);
  REQUIRE(merged);
  REQUIRE(merged->nodes.size() == 2);
  const std::vector<Inexact>& other = merged->nodes.front().inexact;
  const std::vector<Inexact>& poll = merged->nodes.back().inexact;
  CHECK(inexact_kinds(other, 0) == 0);
  CHECK(inexact_kinds(poll, 0) == 0);
  CHECK(inexact_kinds(other, 2) == 0);
  CHECK(inexact_kinds(poll, 2) == kInexactEvents);
  CHECK(inexact_kinds(other, 3) == kInexactAll);  // it polled elsewhere
}

TEST_CASE("of ranks at other distances from their partners a lead's rank 0 is rank 0 for all") {
  const int ranks = 4;
  const bool same = GENERATE(true, false);
  std::vector<Stream> streams;
  for (int rank = 0; rank < ranks; ++rank) streams.push_back({{1, 1, {0, 8, 0}}});
  VirtualWorld world(ranks);
  auto shares = shares_of(streams, 0, 4);
  for (int rank = 0; rank < ranks; ++rank) {
    Share& share = shares[static_cast<std::size_t>(rank)];
    share.keeps = rank == 1;
    if (!share.keeps) share.trace = Trace();
  }
  Clustering clustering = one_cluster(ranks, 1);
  clustering.main[0].clusters[0].same_distances = same;
  auto merged = flush::flush(world, shares, clustering, Fidelity::kChecked);
  REQUIRE(merged);
  const Stream third = expand(*merged, 3);
  REQUIRE(third.size() == 1);
  CHECK(third[0].values[2] == (same ? 2 : 0));
  const std::uint32_t kinds = inexact_kinds(merged->nodes.front().inexact, 3);
  CHECK(kinds == (same ? 0U : kInexactSource | kInexactDest));  // nobody compared that reading
}

TEST_CASE("a lead's partners are moved by XOR to ranks that are alike in that reading alone") {
  const int ranks = 8;
  const bool by_xor = GENERATE(true, false);
  const std::int64_t partner = GENERATE(0, 2, -1);  // of rank 1
  const auto partner_of = [&](std::int64_t rank) {
    return partner < 0 ? rank : by_xor ? partner ^ 1 ^ rank : (rank + partner - 1 + 8) % 8;
  };
  std::vector<Stream> streams;
  for (int rank = 0; rank < ranks; ++rank)
    streams.push_back({{1, 1, {0, 8, partner_of(rank)}}, {2, 2, {0, 8, 7 - partner_of(rank)}}});
  VirtualWorld world(ranks);
  auto shares = shares_of(streams, 0, 4);
  for (int rank = 0; rank < ranks; ++rank) {
    Share& share = shares[static_cast<std::size_t>(rank)];
    share.keeps = rank == 1;
    if (!share.keeps) share.trace = Trace();
  }
  Clustering clustering = one_cluster(ranks, 1);
  SubCluster& only = clustering.main[0].clusters[0];
  only.xor_holds = true;
  only.relative_holds = !by_xor;
  only.mixed_holds = false;
  only.same_distances = !by_xor;
  const auto merged = flush::flush(world, shares, clustering, Fidelity::kLead);
  REQUIRE(merged);
  for (int rank = 0; rank < ranks; ++rank) {
    const Stream all = expand(*merged, rank);
    REQUIRE(all.size() == 2);
    CHECK(all[0].values[2] == partner_of(rank));
    if (by_xor) CHECK(all[1].values[2] == 7 - partner_of(rank));
  }
}

TEST_CASE("whatever is filtered, flushes give the same bytes", "[property]") {
  for (std::uint64_t i = 0; i < 150; ++i) {
    const std::uint64_t seed = base_seed() + i;
    const int ranks = 2 + static_cast<int>(seed % 17);
    INFO("CHAMELEON_TEST_SEED=" << seed << " ranks=" << ranks);
    ProgramMaker program(seed, ranks);
    std::vector<Stream> streams;
    for (int rank = 0; rank < ranks; ++rank) streams.push_back(program.run(rank));
    const Fidelity fidelity = i % 2 == 0 ? Fidelity::kExact : Fidelity::kLead;
    const Clustering clustering =
        fidelity == Fidelity::kExact ? Clustering() : one_cluster(ranks, 0);
    std::vector<Bytes> merged;
    for (const Filter filter : {Filter::kOff, Filter::kOn, Filter::kAuto}) {
      VirtualWorld world(static_cast<std::uint32_t>(ranks));
      auto shares = shares_of(streams, 0, 4);
      for (int rank = 1; rank < ranks; ++rank) {
        // Some leads of their own, some that others stand for.
        Share& share = shares[static_cast<std::size_t>(rank)];
        share.keeps = fidelity == Fidelity::kExact || rank % 3 != 0;
        if (!share.keeps) share.trace = Trace();
      }
      auto trace = flush::flush(world, shares, clustering, FlushOptions(fidelity, filter));
      REQUIRE(trace);
      merged.push_back(encode_trace(*trace));
    }
    CHECK(merged[0] == merged[1]);
    CHECK(merged[0] == merged[2]);
  }
}

TEST_CASE("a flush sends no more than a plain merge where rank 0 differs from all others") {
  const int ranks = 16;
  std::vector<Stream> streams;
  for (int rank = 0; rank < ranks; ++rank) {
    Stream stream;
    if (rank == 0) stream.push_back({3, 3, {0, 8, 0}});
    for (int i = 0; i < 400; ++i)  // values that have nothing in common
      stream.push_back({1, 1, {(rank * 7919 + i * i * 31) % 65521, i * (rank + 3) % 32749, 0}});
    streams.push_back(std::move(stream));
  }
  VirtualWorld world(ranks, true, true), plain(ranks, true, true);
  auto shares = shares_of(streams, 0, 4);
  std::vector<Shipment> whole;
  for (const Share& share : shares) whole.push_back({share.trace, false, kAllValueKinds, {}, {}});
  const auto merged = flush::flush(world, shares, Clustering(), Fidelity::kExact);
  const auto other = plain.reduce(std::move(whole), join_shipments);
  REQUIRE(merged);
  REQUIRE(other);
  for (int rank = 0; rank < ranks; ++rank) {
    CHECK(same(expand(*merged, rank), streams[static_cast<std::size_t>(rank)]));
    CHECK(same(expand(other->trace, rank), streams[static_cast<std::size_t>(rank)]));
  }
  CHECK(world.traffic().bytes < plain.traffic().bytes * 102 / 100);
}

TEST_CASE("ranks of one structure send what they differ in, beyond half of the job at the latest") {
  const int ranks = 16;
  // Counts of so many ranks differ, and many tags are the same on all.
  const auto flushed = [&](int different, Filter filter) {
    std::vector<Stream> streams;
    for (int rank = 0; rank < ranks; ++rank) {
      Stream stream;
      for (int i = 0; i < 200; ++i)
        stream.push_back({1, 1, {rank < different ? rank : 0, i * i % 89, (rank + 1) % ranks}});
      streams.push_back(std::move(stream));
    }
    VirtualWorld world(ranks, true);
    auto shares = shares_of(streams, 0, 4);
    bool filtered = false;
    const auto merged = flush::flush(
        world, shares, Clustering(), FlushOptions(Fidelity::kExact, filter),
        [](std::uint32_t, Share&) {}, [&](const FlushPlan& plan) { filtered = plan.filtered; });
    REQUIRE(merged);
    for (int rank = 0; rank < ranks; ++rank)
      CHECK(same(expand(*merged, rank), streams[static_cast<std::size_t>(rank)]));
    return std::pair(filtered, world.traffic().bytes);
  };
  CHECK_FALSE(flushed(8, Filter::kAuto).first);
  CHECK(flushed(9, Filter::kAuto).first);
  const auto [on, few] = flushed(ranks, Filter::kOn);
  const auto [off, all] = flushed(ranks, Filter::kOff);
  CHECK(on);
  CHECK_FALSE(off);
  CHECK(few < all * 3 / 4);
}

TEST_CASE("a lead's values follow the rules for those that it stands for, in calls on the world") {
  constexpr int ranks = 8;
  const auto rules = Rules::parse(
      "Call1.dest where count == 8 = np - 1 - me\nCall2.count = me * 3 - 3\nCall3.dest = me + 100");
  REQUIRE(rules);
  const bool follows = GENERATE(true, false);
  const auto stream_of = [](std::int64_t rank) {
    return Stream{{1, 1, {0, 8, 7 - rank}},
                  {2, 2, {0, 3 * rank - 3, 0}},
                  {3, 3, {0, 1, rank ^ 1}},
                  {1, 4, {0, 9, 7 - rank}}};
  };
  std::vector<Stream> streams;
  for (int rank = 0; rank < ranks; ++rank) streams.push_back(stream_of(rank));
  auto shares = shares_of(streams, 0, 4);
  for (int rank = 0; rank < ranks; ++rank) {
    Share& share = shares[static_cast<std::size_t>(rank)];
    for (auto& [id, call] : share.trace.calls) call.fields[0] = {"comm", "comm", FieldKind::kPlain};
    share.rules = &*rules;
    share.keeps = rank == 1;
    if (!share.keeps) share.trace = Trace();
  }
  VirtualWorld world(ranks);
  const auto merged = flush::flush(world, shares, one_cluster(ranks, 1),
                                   FlushOptions(Fidelity::kLead, Filter::kAuto, follows));
  REQUIRE(merged);
  for (int rank = 0; rank < ranks; ++rank) {
    const Stream found = expand(*merged, rank), own = stream_of(rank);
    const auto moved = [&](int partner) { return (rank + partner - 1 + ranks) % ranks; };
    REQUIRE(found.size() == 4);
    CHECK(found[0].values[2] == (follows ? own[0].values[2] : moved(6)));
    CHECK(found[1].values[1] == (follows ? own[1].values[1] : 0));
    CHECK(found[2].values[2] == moved(0));  // the rule gives none of the lead's
    CHECK(found[3].values[2] == moved(6));  // it is of calls with another count
  }
}

TEST_CASE("partners move by XOR unless one would be no rank") {
  const auto packed = [](std::initializer_list<std::int32_t> partners) {
    ValueSequence values;
    for (const std::int32_t one : partners)
      values.append(one < 0 ? pack_special(SpecialRank::kProcNull) : pack_rank(one, 1, 12));
    return values;
  };
  const auto absolute = [](std::initializer_list<std::int64_t> partners) {
    ValueSequence values;
    for (const std::int64_t one : partners) values.append(one);
    return values;
  };
  const std::int64_t none = packed_absolute(pack_special(SpecialRank::kProcNull));
  CHECK(move_by_xor(packed({0, 3, -1}), 1, 2, 12) == absolute({3, 0, none}));
  CHECK(move_by_xor(packed({5, 5}), 1, 1, 12) == absolute({5, 5}));
  CHECK(move_by_xor(packed({9}), 1, 2, 12) == absolute({10}));
  CHECK_FALSE(move_by_xor(packed({9}), 1, 5, 12));  // 13
  CHECK(move_by_xor(packed({2, 3, 4, 5, 6}), 1, 2, 12) == absolute({1, 0, 7, 6, 5}));
  CHECK(move_by_xor(packed({3, 0, 6, 3, 0, 6, 3, 0, 6}), 2, 4, 12) ==
        absolute({5, 6, 0, 5, 6, 0, 5, 6, 0}));
}

TEST_CASE("what values declare goes on with them, through however many ranks") {
  // Each lead also stands for the next rank. What 4 sends goes to 2, and from there to 0.
  auto shares = shares_of(std::vector<Stream>(6, Stream{{1, 1, {0, 8, 0}}}), 0, 4);
  const auto shipment_of = [&](std::uint32_t lead) {
    FlushPlan::Entry entry;
    entry.sender = lead;
    entry.ranks = RankList::range(lead, lead + 1);
    entry.inexact = {{RankList::single(lead + 1), kInexactAll}};
    return prepare(entry, shares[lead]);
  };
  const auto received = [](const Shipment& sent) {
    ByteWriter writer;
    sent.encode(writer);
    const Bytes bytes = writer.take();
    ByteReader reader(bytes);
    Shipment result;
    REQUIRE(Shipment::decode(reader, result));
    return result;
  };
  Shipment root = shipment_of(0), between = shipment_of(2);
  join_shipments(between, received(shipment_of(4)));
  join_shipments(root, received(between));
  const std::vector<Inexact>& declared = root.trace.nodes.front().inexact;
  for (const std::uint32_t rank : {1U, 3U, 5U}) CHECK(inexact_kinds(declared, rank) == kInexactAll);
  for (const std::uint32_t rank : {0U, 2U, 4U}) CHECK(inexact_kinds(declared, rank) == 0);
}

TEST_CASE("a folder takes in what another has folded", "[property]") {
  for (std::uint64_t i = 0; i < 200; ++i) {
    const std::uint64_t seed = base_seed() + i;
    INFO("CHAMELEON_TEST_SEED=" << seed);
    const Stream stream = i % 2 == 0 ? ProgramMaker(seed, 8).run(3) : noise(seed, 300, 3);
    std::mt19937_64 random(seed);
    Folder whole;
    Folder part;
    const auto push = [](Folder& folder, const Record& record) {
      std::vector<std::int64_t> values = record.values;
      values[2] = pack_rank(static_cast<std::int32_t>(values[2]), 3, 8);
      folder.push({record.call, record.path, 100, 50, values});
    };
    std::uint64_t in_part = 0;
    for (const Record& record : stream) {
      push(random() % 8 == 0 && in_part == 0 ? whole : part, record);
      in_part = 1;
      if (random() % 20 == 0) {
        whole.append(part.take(), 0);
        in_part = 0;
      }
    }
    whole.append(part.take(), 0);
    Trace trace = fold_stream({}, 3, 8);
    trace.nodes = whole.take();
    REQUIRE(same(expand(trace, 3), stream));
  }
}
