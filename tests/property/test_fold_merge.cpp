// SPDX-License-Identifier: BSD-3-Clause
#include <cstdlib>

#include "compress/merge.h"
#include "format/codec.h"
#include "format/file.h"
#include "property/streams.h"
#include "unit/catch.h"

using namespace chameleon;
using namespace chameleon::compress;
using namespace chameleon::format;
using namespace chameleon::world;
using namespace chameleon::testing;

TEST_CASE("fold gives back what it was given", "[property]") {
  for (std::uint64_t i = 0; i < 400; ++i) {
    const std::uint64_t seed = base_seed() + i;
    INFO("CHAMELEON_TEST_SEED=" << seed);
    ProgramMaker program(seed, 8);
    const Stream stream = program.run(3);
    REQUIRE(same(expand(fold_stream(stream, 3, 8), 3), stream));
    const Stream random = noise(seed, 500, 1 + static_cast<int>(seed % 6));
    REQUIRE(same(expand(fold_stream(random, 0, 1), 0), random));
  }
}

TEST_CASE("expand(merge(fold(x))) = x on every rank, through the file format", "[property]") {
  for (std::uint64_t i = 0; i < 120; ++i) {
    const std::uint64_t seed = base_seed() + i;
    const int ranks = 1 + static_cast<int>(seed % 40);
    INFO("CHAMELEON_TEST_SEED=" << seed << " ranks=" << ranks);
    ProgramMaker program(seed, ranks);
    std::vector<Stream> streams;
    std::vector<Trace> traces;
    for (int rank = 0; rank < ranks; ++rank) {
      streams.push_back(program.run(rank));
      traces.push_back(fold_stream(streams.back(), rank, ranks));
    }
    Trace merged = reduce_virtually(std::move(traces), [](Trace& mine, Trace&& theirs) {
      const Bytes wire = encode_trace(theirs);
      auto received = decode_trace(wire);
      REQUIRE(received);
      merge(mine, std::move(*received));
    });
    for (int rank = 0; rank < ranks; ++rank)
      REQUIRE(same(expand(merged, rank), streams[static_cast<std::size_t>(rank)]));
    canonicalize(merged);
    const Bytes bytes = encode_trace(merged);
    auto read = decode_trace(bytes);
    REQUIRE(read);
    REQUIRE(encode_trace(*read) == bytes);
    for (int rank = 0; rank < ranks; ++rank)
      REQUIRE(same(expand(*read, rank), streams[static_cast<std::size_t>(rank)]));
  }
}

TEST_CASE("threads' streams fold and merge as ranks do, and each comes back") {
  for (std::uint64_t i = 0; i < 60; ++i) {
    const std::uint64_t seed = base_seed() + i;
    const int ranks = 1 + static_cast<int>(seed % 9);
    const int threads = 2 + static_cast<int>(seed % 4);
    INFO("CHAMELEON_TEST_SEED=" << seed << " ranks=" << ranks << " threads=" << threads);
    ProgramMaker program(seed, ranks), other(seed + 1, ranks);
    std::vector<Stream> streams(static_cast<std::size_t>(ranks * threads));
    std::vector<Trace> traces;
    for (int rank = 0; rank < ranks; ++rank) {
      Trace whole;  // a rank's streams are merged first
      for (int thread = 0; thread < threads; ++thread) {
        if (thread == threads - 1 && rank % 2 != 0) continue;  // not all ranks have as many
        Stream& stream = streams[static_cast<std::size_t>(rank + ranks * thread)];
        stream = thread == 0 ? other.run(rank) : program.run(rank);
        Trace one = fold_thread(stream, rank, thread, ranks, threads);
        if (thread == 0)
          whole = std::move(one);
        else
          merge(whole, std::move(one));
      }
      traces.push_back(std::move(whole));
    }
    Trace merged = reduce_virtually(std::move(traces), [](Trace& mine, Trace&& theirs) {
      auto received = decode_trace(encode_trace(theirs));
      REQUIRE(received);
      merge(mine, std::move(*received));
    });
    canonicalize(merged);
    const Bytes bytes = encode_trace(merged);
    auto read = decode_trace(bytes);
    REQUIRE(read);
    REQUIRE(encode_trace(*read) == bytes);
    REQUIRE(read->threads == static_cast<std::uint32_t>(threads));
    REQUIRE(read->whole_ranks() == RankList::range(0, static_cast<std::uint32_t>(ranks) - 1));
    for (std::size_t stream = 0; stream < streams.size(); ++stream)
      if (read->ranks.contains(static_cast<std::uint32_t>(stream)))
        REQUIRE(same(expand(*read, static_cast<int>(stream)), streams[stream]));
      else
        REQUIRE(streams[stream].empty());
  }
}

TEST_CASE("a trace of one thread a rank says nothing of threads") {
  ProgramMaker program(7, 4);
  Trace trace = fold_stream(program.run(1), 1, 4);
  const Bytes bytes = encode_trace(trace);
  trace.threads = 2;
  CHECK(encode_trace(trace).size() == bytes.size() + 3);
  CHECK(trace.rank_of(6) == 2);
  CHECK(trace.thread_of(6) == 1);
  CHECK(trace.ranks_of(RankList::range(3, 5)) == *RankList::parse("0-1,3"));
}

TEST_CASE("events known beforehand, and whole iterations of them, fold as any, with their times") {
  for (std::uint64_t i = 0; i < 200; ++i) {
    const std::uint64_t seed = base_seed() + i;
    INFO("CHAMELEON_TEST_SEED=" << seed);
    ProgramMaker program(seed, 4);
    Stream stream;
    for (int run = 0; run < 3; ++run)  // so that it goes round
      for (const Record& record : program.run(2)) stream.push_back(record);
    const Bytes plain = encode_trace(fold_stream(stream, 2, 4, Feed::kSomeKnown));
    REQUIRE(encode_trace(fold_stream(stream, 2, 4, Feed::kKnown)) == plain);
    REQUIRE(encode_trace(fold_stream(stream, 2, 4, Feed::kAhead)) == plain);
  }
}

TEST_CASE("what was dropped in between precedes one event, of whole iterations too") {
  const std::int64_t value[] = {0};
  const auto event = [&](std::size_t i) {
    return Event{1, 1 + i % 2, 100 + i, 50, value, 1 + i % 2};
  };
  const auto fold = [&](bool ahead) {
    Folder folder;
    for (std::size_t i = 0; i < 12; ++i) folder.push(event(i));
    folder.set_last_symbol(Node::event_symbol(1, 77));
    for (std::size_t at = 12; at < 20;) {
      const std::size_t repeated =
          !ahead ? 0
                 : folder.repeat(
                       20 - at, [&](std::size_t i) { return event(at + i).identity; },
                       [&](std::size_t i) {
                         return Node::event_symbol(event(at + i).call, event(at + i).path);
                       },
                       [&](std::size_t i) {
                         return std::pair(event(at + i).compute, std::uint64_t{50});
                       });
      if (repeated == 0) folder.push(event(at));
      at += std::max<std::size_t>(repeated, 1);
    }
    CHECK(folder.last_symbol() == Node::event_symbol(1, 2));
    Trace trace;
    trace.ranks = RankList::single(0);
    trace.world_size = 1;
    trace.calls[1] = {"Call", {{"return", "int", FieldKind::kPlain}}};
    trace.nodes = folder.take();
    return encode_trace(trace);
  };
  CHECK(fold(true) == fold(false));
}

TEST_CASE("a loop of many places folds ahead as event by event, whatever comes between") {
  for (const std::size_t size : {200U, 300U, 1000U}) {
    Stream stream;
    for (int round = 0; round < 40; ++round) {
      for (std::size_t i = 0; i < size; ++i)
        stream.push_back({1, i, {0, round % 17 == 16 && i == 5 ? 3 : 7, 0}});
      for (int inner = 0; inner < 4 + (round == 20); ++inner)
        stream.push_back({1, 5000, {0, 1, 0}}), stream.push_back({1, 5001, {0, 1, 0}});
      if (round % 13 == 12) stream.push_back({1, 6000, {0, 1, 0}});
      if (round % 11 == 10) stream.push_back({1, 5, {0, 7, 0}});
    }
    const Bytes plain = encode_trace(fold_stream(stream, 2, 4, Feed::kSomeKnown));
    CHECK(encode_trace(fold_stream(stream, 2, 4, Feed::kKnown)) == plain);
    CHECK(encode_trace(fold_stream(stream, 2, 4, Feed::kAhead)) == plain);
  }
}

TEST_CASE("values that vary within an iteration alike cost the same for any number of them") {
  const auto bytes_of = [](int iterations, int waits) {
    Stream stream;
    for (int outer = 0; outer < iterations; ++outer) {
      for (int k = 0; k < 4; ++k) {
        stream.push_back({1, 100, {0, 2 * k, 0}});
        stream.push_back({1, 200, {0, k % 3, 1}});
      }
      for (int i = 0; i < waits; ++i) stream.push_back({1, 300, {0, 9, 2}});
      if (outer == iterations / 2) stream.push_back({1, 400, {0, 1, 3}});
    }
    const Trace trace = fold_stream(stream, 2, 4, Feed::kAhead);
    const Bytes plain = encode_trace(fold_stream(stream, 2, 4, Feed::kKnown));
    CHECK(encode_trace(trace) == plain);
    return plain.size();
  };
  for (const int waits : {0, 1, 3}) {
    INFO(waits);
    CHECK(2 * bytes_of(10000, waits) <= 3 * bytes_of(100, waits));  // more durations
  }
}

TEST_CASE("what deviates from a predicted iteration is kept, and long iterations fold") {
  const auto event = [](std::uint64_t path, std::int64_t value = 1) {
    return Record{1, path, {0, value, 0}};
  };
  for (const int inner : {1, 2, 40, 1500, 6000}) {
    INFO(inner);
    Stream stream;
    for (int outer = 0; outer < 9; ++outer) {
      stream.push_back(event(100));
      if (outer == 5) stream.push_back(event(101));  // in the middle of the body
      for (int i = 0; i < inner + (outer == 7 ? 1 : 0); ++i) {
        stream.push_back(event(200, i % 7 == 3 ? outer : 1));
        for (int k = 0; k < 1 + outer % 3; ++k) stream.push_back(event(300));
      }
      if (outer != 3) stream.push_back(event(400));
      for (int i = 0; i < 3 + outer; ++i) stream.push_back(event(500));  // ends the iteration
    }
    for (std::size_t cut : {stream.size(), stream.size() - 2, stream.size() / 2}) {
      const Stream part(stream.begin(), stream.begin() + static_cast<std::ptrdiff_t>(cut));
      const Trace trace = fold_stream(part, 0, 1);
      REQUIRE(same(expand(trace, 0), part));
      CHECK(count_nodes(trace.nodes) < 60);
    }
  }
}

TEST_CASE("loops fold to their bodies, whatever their length") {
  for (const int length : {1, 2, 10, 100, 1000, 5000}) {
    Stream stream;
    for (int iteration = 0; iteration < 8; ++iteration)
      for (int i = 0; i < length; ++i)
        stream.push_back({1, static_cast<std::uint64_t>(i), {0, 1, 0}});
    const Trace trace = fold_stream(stream, 0, 1);
    INFO(length);
    CHECK(trace.nodes.size() == 1);
    CHECK(count_nodes(trace.nodes) == static_cast<std::size_t>(length) + 1);
  }
}

TEST_CASE("a body that repeats few call sites in an irregular order folds") {
  std::mt19937_64 random(5);
  std::vector<std::uint64_t> body(3000);
  for (auto& site : body) site = random() % 2;
  Stream stream;
  for (int iteration = 0; iteration < 20; ++iteration)
    for (const auto site : body) stream.push_back({1, site, {0, 1, 0}});
  CHECK(count_nodes(fold_stream(stream, 0, 1).nodes) < 6000);
}

TEST_CASE("inner iteration counts that vary do not break the outer loop") {
  Stream stream;
  for (int step = 0; step < 50; ++step) {
    stream.push_back({1, 1, {0, 1, 0}});
    for (int i = 0; i < 1 + step * 7 % 5; ++i) {
      stream.push_back({2, 2, {0, 1, 0}});
      stream.push_back({2, 3, {0, 1, 0}});
    }
    stream.push_back({3, 4, {0, 1, 0}});
  }
  const Trace trace = fold_stream(stream, 0, 1);
  CHECK(trace.nodes.size() == 1);
  CHECK(count_nodes(trace.nodes) <= 8);
  CHECK(same(expand(trace, 0), stream));
}

TEST_CASE("ranks that behave alike merge into one trace of constant size") {
  std::size_t at_four = 0;
  for (const int ranks : {4, 16, 64}) {
    std::vector<Trace> traces;
    for (int rank = 0; rank < ranks; ++rank) {
      Stream stream;
      for (int i = 0; i < 100; ++i) {
        stream.push_back({1, 1, {0, 8, (rank + 1) % ranks}});
        stream.push_back({2, 2, {0, 8, 0}});
      }
      traces.push_back(fold_stream(stream, rank, ranks));
    }
    Trace merged = reduce_virtually(
        std::move(traces), [](Trace& mine, Trace&& theirs) { merge(mine, std::move(theirs)); });
    canonicalize(merged);
    const std::size_t bytes = encode_trace(merged).size();
    if (ranks == 4) at_four = bytes;
    CHECK(bytes <= at_four + 4);
  }
}

namespace {

Trace merge_of(const std::vector<Stream>& streams) {
  const auto ranks = static_cast<int>(streams.size());
  std::vector<Trace> traces;
  for (int rank = 0; rank < ranks; ++rank)
    traces.push_back(fold_stream(streams[static_cast<std::size_t>(rank)], rank, ranks));
  Trace merged = reduce_virtually(
      std::move(traces), [](Trace& mine, Trace&& theirs) { merge(mine, std::move(theirs)); });
  for (int rank = 0; rank < ranks; ++rank)
    REQUIRE(same(expand(merged, rank), streams[static_cast<std::size_t>(rank)]));
  return merged;
}

Record event_at(std::uint64_t path) { return {1, path, {0, 8, 0}}; }

}  // namespace

TEST_CASE("loops that ran equally often and share a call are one, whatever else is in them") {
  constexpr std::size_t kRanks = 8, kOwn = 20, kIterations = 30;
  std::vector<Stream> streams(kRanks);
  for (std::size_t rank = 0; rank < kRanks; ++rank)
    for (std::size_t i = 0; i < kIterations; ++i) {
      for (std::size_t k = 0; k < kOwn; ++k) streams[rank].push_back(event_at(100 * rank + k));
      streams[rank].push_back(event_at(7));
    }
  const Trace merged = merge_of(streams);
  CHECK(merged.nodes.size() == 1);
  CHECK(count_nodes(merged.nodes) == 1 + kRanks * kOwn + 1);
}

TEST_CASE("the time loop of ranks that share no call is one; loops that may be others are not") {
  const auto nodes_of = [](int loops, int extra) {
    std::vector<Stream> streams(2);
    for (std::size_t rank = 0; rank < 2; ++rank) {
      streams[rank].push_back(event_at(1));
      for (int loop = 0; loop < loops; ++loop)
        for (int i = 0; i < 30 + (rank == 1 ? extra : 0); ++i)
          for (std::size_t k = 0; k < 3; ++k)
            streams[rank].push_back(
                event_at(100 * (rank + 1) + 10 * static_cast<std::size_t>(loop) + k));
      streams[rank].push_back(event_at(2));
    }
    return count_nodes(merge_of(streams).nodes);
  };
  CHECK(nodes_of(1, 0) == 2 + 1 + 6);
  CHECK(nodes_of(1, 1) == 2 + 2 + 6);
  CHECK(nodes_of(2, 0) == 2 + 4 + 12);
}

TEST_CASE(
    "loops that ran equally often by chance do not meet, in whatever order ranks are joined") {
  // Rank 0 answers 4 times and then releases 7 ranks; the others answer 4 or 6 times.
  for (std::size_t shift = 0; shift < 7; ++shift) {
    std::vector<Stream> streams(8);
    const auto repeat = [](Stream& stream, int times, std::uint64_t path) {
      for (int i = 0; i < times; ++i)
        for (std::uint64_t k = 0; k < 3; ++k) stream.push_back(event_at(path + k));
    };
    for (std::size_t rank = 0; rank < 8; ++rank) {
      streams[rank].push_back(event_at(1));
      repeat(streams[rank], rank == 0 || (rank + shift) % 7 < 3 ? 4 : 6, rank == 0 ? 10 : 20);
      if (rank == 0) repeat(streams[rank], 7, 30), repeat(streams[rank], 7, 40);
      streams[rank].push_back(event_at(2));
    }
    INFO(shift);
    CHECK(count_nodes(merge_of(streams).nodes) == 2 + 3 * 4 + 4);
  }
}

TEST_CASE("loops are paired so that they share most, not with the first that will do") {
  // Rank 0: (a x)^9 (b y)^9; rank 1: (b a z)^9 (b y w)^9.
  std::vector<Stream> streams(2);
  const auto repeat = [&](std::size_t rank, const std::vector<std::uint64_t>& body) {
    for (int i = 0; i < 9; ++i)
      for (const std::uint64_t path : body) streams[rank].push_back(event_at(path));
  };
  repeat(0, {1, 50}), repeat(0, {2, 60});
  repeat(1, {2, 1, 70}), repeat(1, {2, 60, 80});
  const Trace merged = merge_of(streams);
  CHECK(merged.nodes.size() == 2);
  CHECK(count_nodes(merged.nodes) == 2 + 4 + 3);
}

TEST_CASE("equal nodes of ranks apart are one, in whatever order ranks are joined") {
  // A cube of ranks exchanges with up to 26 neighbours, a call site a direction; each rank skips
  // those it lacks. Receives are posted in one order, sends in the other.
  for (const int edge : {2, 3, 4}) {
    const auto outside = [&](int at) { return at < 0 || at >= edge; };
    std::vector<Stream> streams(static_cast<std::size_t>(edge * edge * edge));
    for (std::size_t rank = 0; rank < streams.size(); ++rank) {
      const int self = static_cast<int>(rank);
      for (int step = 0; step < 5; ++step) {
        std::vector<Record> sends;
        for (int direction = 0; direction < 27; ++direction) {
          const int x = self % edge + direction % 3 - 1,
                    y = self / edge % edge + direction / 3 % 3 - 1,
                    z = self / edge / edge + direction / 9 - 1;
          if (direction == 13 || outside(x) || outside(y) || outside(z)) continue;
          const std::int64_t partner = x + edge * (y + edge * z);
          streams[rank].push_back({1, static_cast<std::uint64_t>(direction), {0, 8, partner}});
          sends.insert(sends.begin(),
                       {2, static_cast<std::uint64_t>(100 + direction), {0, 8, partner}});
        }
        streams[rank].insert(streams[rank].end(), sends.begin(), sends.end());
        streams[rank].push_back({3, 200, {0, 1, 0}});
      }
    }
    INFO(edge);
    CHECK(count_nodes(merge_of(streams).nodes) == 1 + 2 * 26 + 1);
  }
}
