// SPDX-License-Identifier: BSD-3-Clause
#include <cstdlib>
#include <ctime>

#include "compress/append.h"
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

namespace {

/// What the ranks with events do in one interval, folded and merged.
Trace interval(const std::vector<Stream>& streams, bool all_ranks = true) {
  const int ranks = static_cast<int>(streams.size());
  std::vector<Trace> traces;
  for (int rank = 0; rank < ranks; ++rank) {
    const Stream& stream = streams[static_cast<std::size_t>(rank)];
    if (stream.empty() && !all_ranks) continue;
    traces.push_back(fold_stream(stream, rank, ranks));
    traces.back().facts[static_cast<std::uint32_t>(rank)].events = stream.size();
  }
  if (traces.empty()) return {};
  return reduce_virtually(std::move(traces),
                          [](Trace& mine, Trace&& theirs) { merge(mine, std::move(theirs)); });
}

Trace through_file(const Trace& trace) {
  auto read = decode_trace(encode_trace(trace));
  REQUIRE(read);
  return std::move(*read);
}

std::uint64_t timed(const std::vector<Node>& nodes) {
  std::uint64_t count = 0;
  for (const Node& node : nodes) {
    count += timed(node.body);
    for (const TimeEntry& entry : node.times) count += entry.compute.count();
  }
  return count;
}

void check(const Trace& online, const std::vector<Stream>& streams) {
  std::uint64_t events = 0;
  for (std::size_t rank = 0; rank < streams.size(); ++rank) {
    events += streams[rank].size();
    if (!online.ranks.contains(static_cast<std::uint32_t>(rank)))
      REQUIRE(streams[rank].empty());
    else
      REQUIRE(same(expand(online, static_cast<int>(rank)), streams[rank]));
  }
  REQUIRE(online.event_count() == events);
  REQUIRE(timed(online.nodes) == events);
}

/// Appends the same partial traces over and over; gives node counts half way and at the end.
std::pair<std::size_t, std::size_t> repeat(const std::vector<Trace>& partials, int times,
                                           Trace& online) {
  std::size_t half = 0;
  for (int i = 0; i < times; ++i) {
    append(online, partials[static_cast<std::size_t>(i) % partials.size()]);
    if (i + 1 == times / 2) half = count_nodes(online.nodes);
  }
  return {half, count_nodes(online.nodes)};
}

void add(std::vector<Stream>& all, const std::vector<Stream>& more) {
  all.resize(more.size());
  for (std::size_t rank = 0; rank < more.size(); ++rank)
    all[rank].insert(all[rank].end(), more[rank].begin(), more[rank].end());
}

}  // namespace

TEST_CASE("expand(append(a, b)) = expand(a) expand(b) on every rank", "[property]") {
  const char* const times = std::getenv("CHAMELEON_TEST_TIMES");
  for (std::uint64_t i = 0; i < (times != nullptr ? std::strtoull(times, nullptr, 10) : 1200);
       ++i) {
    const std::uint64_t seed = base_seed() + i;
    const int ranks = 1 + static_cast<int>(seed % 8);
    INFO("CHAMELEON_TEST_SEED=" << seed << " ranks=" << ranks);
    std::mt19937_64 random(seed);
    const auto pick = [&](std::size_t below) { return random() % below; };

    // Whole streams, cut where each rank likes, or a program's runs after one another.
    const std::size_t intervals = 1 + pick(12);
    std::vector<std::vector<Stream>> pieces(intervals,
                                            std::vector<Stream>(static_cast<std::size_t>(ranks)));
    ProgramMaker program(seed, ranks);
    ProgramMaker other(seed + 1000003, ranks);
    const bool cut = pick(2) == 0;
    const bool random_events = pick(4) == 0;
    for (std::size_t rank = 0; rank < static_cast<std::size_t>(ranks); ++rank) {
      Stream stream = program.run(static_cast<int>(rank));
      if (random_events) stream = noise(seed + rank % 2, 60, 1 + static_cast<int>(seed % 3));
      const Stream rare = other.run(static_cast<int>(rank));
      std::size_t at = 0;
      for (std::size_t n = 0; n < intervals; ++n) {
        if (!cut) {
          pieces[n][rank] = (n * seed) % 5 == 4 ? rare : stream;
          if (pick(40) == 0) pieces[n][rank].clear();
          continue;
        }
        const std::size_t size = n + 1 == intervals
                                     ? stream.size() - at
                                     : pick(2 * (stream.size() - at) / (intervals - n) + 1);
        const std::size_t end = std::min(stream.size(), at + size);
        pieces[n][rank].assign(stream.begin() + static_cast<std::ptrdiff_t>(at),
                               stream.begin() + static_cast<std::ptrdiff_t>(end));
        at = end;
      }
    }
    const bool canonical = pick(2) == 0;
    const bool all_ranks = pick(2) == 0;
    const bool stored = pick(4) == 0;
    Trace online;
    std::vector<Stream> whole(static_cast<std::size_t>(ranks));
    for (const std::vector<Stream>& piece : pieces) {
      Trace partial = interval(piece, all_ranks);
      if (canonical) canonicalize(partial);
      if (stored) partial = through_file(partial);
      append(online, std::move(partial));
      add(whole, piece);
      if (pick(6) == 0) canonicalize(online);
      if (stored && pick(3) == 0) online = through_file(online);
    }
    check(online, whole);
    canonicalize(online);
    check(through_file(online), whole);
  }
}

TEST_CASE("a run of flushes of the same loop stays one loop") {
  std::vector<Stream> streams(4);
  for (int rank = 0; rank < 4; ++rank)
    for (int i = 0; i < 100; ++i) {
      streams[static_cast<std::size_t>(rank)].push_back({1, 1, {0, i, (rank + 1) % 4}});
      streams[static_cast<std::size_t>(rank)].push_back({2, 2, {0, 8, 0}});
    }
  std::vector<Stream> start(4, Stream{{3, 9, {0, 1, 0}}});
  std::vector<Stream> whole;
  Trace online = interval(start);
  add(whole, start);
  for (int i = 0; i < 50; ++i) {
    append(online, interval(streams));
    add(whole, streams);
  }
  REQUIRE(online.nodes.size() == 2);
  CHECK(online.nodes[1].iterations.values() == ValueSequence(5000, 1));
  CHECK(count_nodes(online.nodes) == 4);
  check(online, whole);
}

TEST_CASE("loops of ranks apart go on side by side") {
  std::vector<Stream> streams(8);
  for (std::size_t rank = 0; rank < 8; ++rank)
    for (int i = 0; i < (rank == 0 ? 100 : 50); ++i)
      streams[rank].push_back({1, rank == 0 ? 1U : 2U, {0, 1, 0}});
  Trace online;
  std::vector<Stream> whole;
  for (int i = 0; i < 5; ++i) {
    append(online, interval(streams));
    add(whole, streams);
  }
  CHECK(online.nodes.size() == 2);
  CHECK(count_nodes(online.nodes) == 4);
  check(online, whole);
}

TEST_CASE("a seam inside a loop goes unseen") {
  const Record a{1, 1, {0, 1, 0}}, b{2, 2, {0, 1, 0}}, c{3, 3, {0, 1, 0}};
  const auto folded = [](std::vector<Stream> parts) {
    Trace online;
    std::vector<Stream> whole;
    for (const Stream& part : parts) {
      append(online, interval({part, part}));
      add(whole, {part, part});
    }
    check(online, whole);
    return count_nodes(online.nodes);
  };
  CHECK(folded({{a, b}, {a, b, a, b}}) == 3);  // the first iteration stays bare
  CHECK(folded({{a, b, a, b}, {a, b}}) == 3);  // the last does
  CHECK(folded({{a, b, a, b, a}, {b}}) == 3);  // an iteration is cut
  CHECK(folded({{a, b}, {a}, {b}, {a, b}}) == 3);
  CHECK(folded({{c, a, a, c, a, a}, {a}}) == 4);                // the loop at a loop's end goes on
  CHECK(folded({{a, b}, {c}, {a, b}, {c}, {a, b}, {c}}) == 4);  // a pattern of flushes
  CHECK(folded({{a, a, a, b}, {a, b}, {a, a, b}}) == 4);        // counts differ
  // (BA)^2 B and (AB)^3: the loop goes on, turned round.
  CHECK(folded({{b, a, b, a, b}, {a, b, a, b, a, b}}) == 4);
  CHECK(folded({{b, c, a, b, c, a, b, c}, {a, b, c, a, b, c}, {a, b, c, a, b, c}}) == 6);
  // (AAB)^2 AA and (BAA)^3: it is turned round by a loop.
  CHECK(folded({{a, a, b, a, a, b, a, a}, {b, a, a, b, a, a, b, a, a, a}}) == 6);
  // C A^2 and (A^2 B)(A^3 B): an inner loop is cut.
  CHECK(folded({{c, a, a}, {a, a, b, a, a, a, b}, {a, a, b}}) == 5);
  CHECK(folded({{c, a}, {a, b, a, a, b}}) == 5);
}

TEST_CASE("the online trace of a steady run stays small, whatever the cuts") {
  const auto period = [](int ranks, int period, int iterations) {
    std::vector<Trace> partials;  // every `period` intervals begin at the same phase again
    int phase = 0;
    for (int n = 0; n < period; ++n) {
      std::vector<Stream> streams(static_cast<std::size_t>(ranks));
      for (int i = 0; i < iterations; ++i, phase = (phase + 1) % period)
        for (int rank = 0; rank < ranks; ++rank) {
          Stream& stream = streams[static_cast<std::size_t>(rank)];
          stream.push_back({1, 1, {0, phase, (rank + 1) % ranks}});
          if (phase == 3) stream.push_back({2, 2, {0, rank, 0}});
          if (phase == 5 && rank == 0) stream.push_back({3, 3, {0, 1, 0}});
        }
      partials.push_back(interval(streams));
    }
    return partials;
  };
  std::vector<Stream> uneven(8);
  for (std::size_t rank = 0; rank < 8; ++rank) {
    for (std::size_t i = 0; i < 5 + rank * rank; ++i) {
      uneven[rank].push_back({1, 1, {0, static_cast<std::int64_t>(i), 0}});
      uneven[rank].push_back({2, 2, {0, 3, static_cast<std::int64_t>(rank ^ 1)}});
    }
    uneven[rank].push_back({3, 3, {0, 3, 0}});
  }
  struct Case {
    const char* name;
    std::vector<Trace> partials;
    std::size_t most;
  };
  for (const Case& c : {Case{"one loop", period(8, 1, 100), 3},
                        Case{"period 7, flush every 10", period(8, 7, 10), 120},
                        Case{"period 7, flush every 100", period(8, 7, 100), 120},
                        Case{"counts of their own", {interval(uneven)}, 6}}) {
    INFO(c.name);
    const std::clock_t begin = std::clock();
    Trace online;
    const auto [half, end] = repeat(c.partials, 10010, online);
    const double took = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    WARN(c.name << ": 10,010 appends " << took << " s, " << end << " nodes, "
                << encode_trace(online).size() << " bytes");
    CHECK(end <= c.most);
    CHECK(end == half);
    CHECK(encode_trace(online).size() < 8000);
    CHECK(RankView::make(online, 7));
  }
}

TEST_CASE("flushes of one long iteration fold") {
  std::vector<Stream> streams(3);
  for (Stream& stream : streams)
    for (std::uint64_t site = 0; site < 600; ++site) stream.push_back({1, site, {0, 1, 0}});
  Trace online;
  std::vector<Stream> whole;
  for (int i = 0; i < 6; ++i) {
    append(online, interval(streams));
    add(whole, streams);
  }
  CHECK(count_nodes(online.nodes) == 601);
  check(online, whole);
}

TEST_CASE("what was inexact stays declared when nodes fold") {
  std::vector<Stream> streams(2, Stream{{1, 1, {0, 1, 0}}, {1, 1, {0, 1, 0}}});
  Trace online = interval(streams);
  Trace partial = interval(streams);
  online.nodes[0].inexact = {{RankList::single(0), kInexactTag}};
  partial.nodes[0].inexact = {{RankList::single(1), kInexactTag}};
  partial.nodes[0].body[0].inexact = {{RankList::single(1), kInexactDest}};
  append(online, partial);
  REQUIRE(online.nodes.size() == 1);
  CHECK(inexact_kinds(online.nodes[0].inexact, 0) == kInexactTag);
  CHECK(inexact_kinds(online.nodes[0].inexact, 1) == kInexactTag);
  CHECK(inexact_kinds(online.nodes[0].body[0].inexact, 1) == kInexactDest);
}

TEST_CASE("end-points that ranks read differently stay apart or find a common reading") {
  const int ranks = 4;
  const auto partners = [&](auto partner) {
    std::vector<Stream> streams(static_cast<std::size_t>(ranks));
    for (int rank = 0; rank < ranks; ++rank)
      for (int i = 0; i < 3; ++i)
        streams[static_cast<std::size_t>(rank)].push_back({1, 1, {0, 1, partner(rank)}});
    return streams;
  };
  const auto root = partners([](int) { return 2; });
  const auto next = partners([](int rank) { return (rank + 1) % ranks; });
  const auto odd = partners([](int rank) { return rank * rank % ranks; });
  for (const auto& [first, second] :
       {std::pair(root, next), std::pair(next, root), std::pair(odd, root), std::pair(next, odd)})
    for (const bool canonical : {false, true}) {
      Trace online = interval(first);
      Trace partial = interval(second);
      if (canonical) canonicalize(online);
      append(online, partial);
      std::vector<Stream> whole = first;
      add(whole, second);
      check(online, whole);
    }
}

TEST_CASE("ranks that share partners in one reading, and then in the other, stay in one loop",
          "[append]") {
  constexpr int kRanks = 4;
  for (const bool on_world : {true, false}) {
    Trace online;
    std::vector<Stream> all;
    for (int step = 0; step < 12; ++step) {
      std::vector<Stream> streams(kRanks);
      for (int rank = 0; rank < kRanks; ++rank)
        for (int message = 0; message < 3; ++message) {
          // Ranks 1 and 3 get from rank 0, then each from the one before it, then from anywhere.
          const int source = step % 3 == 0   ? 0
                             : step % 3 == 1 ? (rank + kRanks - 1) % kRanks
                                             : (rank * (step + message) + message) % kRanks;
          Stream& stream = streams[static_cast<std::size_t>(rank)];
          stream.push_back({1, 1, {0, 0, rank % 2 == 1 ? source : 0}});
          stream.push_back({2, 2, {0, 0, rank}});
        }
      add(all, streams);
      Trace part = interval(streams);
      for (auto& [id, call] : part.calls) call.fields[1].kind = on_world ? "comm" : "count";
      canonicalize(part);
      append(online, through_file(part));
    }
    check(online, all);
    CHECK((online.nodes.size() == 1) == on_world);
  }
}
