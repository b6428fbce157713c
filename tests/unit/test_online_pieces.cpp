// SPDX-License-Identifier: BSD-3-Clause
// Traces that are longer than memory: merged piece by piece, and in the file only.
#include <algorithm>

#include "compress/append.h"
#include "compress/pieces.h"
#include "format/file.h"
#include "model/view.h"
#include "scripted_job.h"
#include "unit/catch.h"

using namespace chameleon;
using namespace chameleon::testing;

namespace {

/// What a reader makes of the parts in the file.
Trace joined(const KeptTrace& output) {
  Trace trace = output.empty_trace();
  for (const Trace& part : output.parts) append(trace, part);
  return trace;
}

/// Calls of which none is like the one before, other ones of each rank.
void run(Job& job, int steps, int calls) {
  std::uint64_t random = 1;
  for (int step = 0; step < steps; ++step) {
    for (std::size_t rank = 0; rank < job.ranks.size(); ++rank)
      for (int i = 0; i < calls + static_cast<int>(rank); ++i)
        job.ranks[rank]->call(1 + mix(random += rank + 1) % 50);
    job.step({1, 2, 3});
  }
}

void check_events(Job& job, const Trace& trace) {
  for (std::size_t rank = 0; rank < job.ranks.size(); ++rank)
    CHECK(expand(trace, static_cast<int>(rank)) == job.ranks[rank]->whole());
}

}  // namespace

TEST_CASE("a large flush comes in pieces, and loses nothing", "[online]") {
  for (const bool stored : {false, true})
    for (const std::size_t bytes : {std::size_t{2000}, std::size_t{20000}}) {
      Job job(5);
      for (const auto& rank : job.ranks) rank->cut(bytes, stored);
      run(job, 6, 60);
      job.end();
      CHECK(job.output.parts.size() > 10);
      REQUIRE(job.output.trace.complete);
      check_events(job, job.output.trace);
      CHECK(job.output.trace.declarations.empty());
    }
}

TEST_CASE("a flush is said to have been with its last piece", "[online]") {
  Job job(3, Fidelity::kExact, 1);
  for (const auto& rank : job.ranks) rank->cut(4000, false);
  run(job, 5, 200);
  const auto& parts = job.output.parts;
  REQUIRE(!parts.empty());
  const auto said = std::count_if(parts.begin(), parts.end(),
                                  [](const Trace& part) { return part.online.flushes != 0; });
  CHECK(said > 2);
  CHECK(said == static_cast<std::ptrdiff_t>(parts.back().online.flushes));
  CHECK(static_cast<std::ptrdiff_t>(parts.size()) > 3 * said);
}

TEST_CASE("a flush ends early where a process is about to end", "[online]") {
  const bool stored = GENERATE(false, true);
  const bool marks = GENERATE(false, true);
  CAPTURE(stored, marks);
  Job job(5);
  for (const auto& rank : job.ranks) rank->cut(2000, stored);
  if (marks)
    run(job, 6, 60);
  else
    for (int call = 0; call < 300; ++call)
      for (std::size_t rank = 0; rank < job.ranks.size(); ++rank)
        job.ranks[rank]->call(1 + mix(7U * static_cast<unsigned>(call) + rank) % 50);
  job.ranks[2]->marker_log().rounds = 3;
  job.end();
  CHECK(job.output.parts.size() == 3);
  const Trace trace = joined(job.output);
  CHECK_FALSE(trace.complete);
  CHECK(trace.declarations.empty());
  CHECK(trace.online.flushes == (marks ? 1 : 0));
  for (std::uint32_t rank = 0; rank < 5; ++rank) {
    Share* const left = job.online->aside(rank);
    REQUIRE(left != nullptr);
    REQUIRE(has_more(*left));
    Stream events = expand(trace, static_cast<int>(rank));
    CHECK_FALSE(events.empty());
    while (has_more(*left)) {
      const Stream next = expand(take_piece(*left).trace, static_cast<int>(rank));
      events.insert(events.end(), next.begin(), next.end());
    }
    CHECK(events == job.ranks[rank]->whole());
  }
}

TEST_CASE("what a flush left waits for the end, if that comes", "[online]") {
  Job job(3, Fidelity::kExact, 1);
  for (const auto& rank : job.ranks) rank->cut(4000, false);
  run(job, 3, 200);
  REQUIRE(job.online->aside(0) == nullptr);
  job.ranks[1]->marker_log().rounds = 2;
  run(job, 3, 200);
  REQUIRE(job.online->aside(0) != nullptr);
  job.ranks[1]->marker_log().rounds = ~0U;
  run(job, 3, 200);
  job.end();
  REQUIRE(job.output.trace.complete);
  check_events(job, job.output.trace);
}

TEST_CASE("each piece has its own number of events", "[online]") {
  for (const bool stored : {false, true}) {
    Job job(5);
    for (const auto& rank : job.ranks) rank->cut(2000, stored);
    run(job, 6, 60);
    job.end();
    REQUIRE(job.output.parts.size() > 10);
    job.output.parts.pop_back();  // what ranks say of themselves
    for (const Trace& part : job.output.parts)
      part.ranks.for_each([&](std::uint32_t rank) {
        const auto facts = part.facts.find(rank);
        CHECK((facts == part.facts.end() ? 0 : facts->second.events) ==
              expand(part, static_cast<int>(rank)).size());
      });
  }
}

TEST_CASE("pieces of several threads have the events of each", "[pieces]") {
  const auto stream = [](int calls) {
    Stream all;
    for (int i = 0; i < calls; ++i) all.push_back({1, static_cast<std::uint64_t>(i), {0, 8, 1}});
    return all;
  };
  const auto trace_of = [&](int number, int calls) {
    Trace trace = fold_stream(stream(calls), number, 2);
    trace.threads = 2;
    return trace;
  };
  Share share;
  share.events = 7;
  share.trace = trace_of(0, 7);
  share.trace.facts[0].events = 7;
  share.trace.facts[2].events = 5;
  Trace other = trace_of(2, 5);
  merge(share.trace, std::move(other));
  share.most_bytes = 1;
  std::uint64_t first = 0, second = 0;
  int pieces = 0;
  for (; has_more(share); ++pieces) {
    const Share piece = take_piece(share);
    const auto facts = piece.trace.facts;
    CHECK(piece.events == expand(piece.trace, 0).size());
    CHECK(facts.at(2).events == expand(piece.trace, 2).size());
    first += piece.events;
    second += facts.at(2).events;
  }
  CHECK(pieces > 3);
  CHECK(first == 7);
  CHECK(second == 5);
}

TEST_CASE("what the file has, rank 0 need not hold", "[online]") {
  for (const Fidelity fidelity : {Fidelity::kExact, Fidelity::kLead}) {
    Job job(4, fidelity, 3);
    job.options.online_limit = 20000;
    for (const auto& rank : job.ranks) rank->cut(8000, true);
    run(job, 12, 40);
    const std::size_t held = memory_bytes(job.output.trace.nodes);
    job.end();
    CHECK(held < 100000);
    const Trace trace = joined(job.output);
    REQUIRE(trace.complete);
    if (fidelity == Fidelity::kExact) check_events(job, trace);
    std::size_t nodes = 0;
    for (const Trace& part : job.output.parts) nodes += part.nodes.size();
    CHECK(nodes > 3 * job.output.trace.nodes.size());
    // Of the whole run, whatever parts have said.
    std::size_t all = 0;
    for (const auto& rank : job.ranks) all += rank->whole().size();
    CHECK(job.output.facts.sum(&RankFacts::events) == static_cast<double>(all));
    for (std::uint32_t rank = 0; rank < 4; ++rank) {
      CHECK(trace.facts.at(rank).events == job.ranks[rank]->whole().size());
    }
    CHECK(trace.online.acted == 12);
    CHECK(trace.series.spans().size() == 12);
  }
}

TEST_CASE("facts stay packed where the parts of the file have none", "[online]") {
  Job job(2);
  job.options.online_limit = 1;
  const bool have = GENERATE(false, true);
  CAPTURE(have);
  online::RootTrace root(job.options, job.output, *job.ranks[0]);
  for (int part = 0; part < 2; ++part) {
    Trace next = fold_stream({{1, 1, {0, 8, 1}}, {1, 2, {0, 8, 1}}}, 0, 2);
    if (have) next.facts[0].events = 2;
    root.take_in(std::move(next), true);
  }
  RankReports reports;
  FactsOfRanks facts;
  facts[0].events = 4;
  facts[1].events = 3;
  reports.facts = PackedFacts(facts);
  root.accept(std::move(reports));
  root.write_last([](Trace&, bool) {});
  REQUIRE(job.output.parts.size() == 3);
  CHECK(job.output.facts.sum(&RankFacts::events) == 7);
  if (!have) CHECK(job.output.parts.back().facts.empty());
  if (have) CHECK(joined(job.output).facts == facts);
}

TEST_CASE("a file that will not be let go of stays in memory", "[online]") {
  Job job(2);
  job.output.lets_go = false;
  job.options.online_limit = 1000;
  run(job, 5, 40);
  job.end();
  REQUIRE(job.output.trace.complete);
  check_events(job, job.output.trace);
}

TEST_CASE("a piece has what it takes to read it", "[pieces]") {
  Trace trace = fold_stream({{1, 1, {0, 8, 1}}, {1, 2, {0, 8, 1}}, {1, 3, {0, 8, 1}}}, 0, 2);
  trace.calls[1].fields[1].stored = FieldKind::kArray;
  const std::vector<std::uint64_t> ids = {trace.intern({1, 2}), trace.intern({3})};
  for (std::size_t i = 0; i < 3; ++i)
    trace.nodes[i].params[1] = Param(ValueSequence(static_cast<std::int64_t>(ids[i / 2])));
  CHECK(count_within(trace.nodes, 1) == 1);
  CHECK(count_within(trace.nodes, memory_bytes(trace.nodes)) == 3);
  const Trace piece = take_first(trace, 2);
  CHECK(piece.nodes.size() == 2);
  CHECK(trace.nodes.size() == 1);
  CHECK(piece.calls == trace.calls);
  CHECK(piece.ranks == trace.ranks);
  CHECK(piece.arrays.size() == 1);
  CHECK(piece.arrays.contains(ids[0]));
}

TEST_CASE("the last piece of a share has no arrays of those before it", "[pieces]") {
  Share share;
  share.trace = fold_stream({{1, 1, {0, 8, 1}}, {1, 2, {0, 8, 1}}}, 0, 2);
  share.trace.calls[1].fields[1].stored = FieldKind::kArray;
  for (std::size_t i = 0; i < 2; ++i)
    share.trace.nodes[i].params[1] = Param(ValueSequence(static_cast<std::int64_t>(
        share.trace.intern({static_cast<std::int64_t>(10 + i), static_cast<std::int64_t>(i)}))));
  share.most_bytes = 1;
  REQUIRE(share.trace.arrays.size() == 2);
  CHECK(take_piece(share).trace.arrays.begin()->second.front() == 10);
  const Share last = take_piece(share);
  REQUIRE_FALSE(has_more(share));
  REQUIRE(last.trace.arrays.size() == 1);
  CHECK(last.trace.arrays.begin()->second.front() == 11);
}

TEST_CASE("a share of which a piece cannot be had is at its end", "[pieces]") {
  class Unreadable final : public StoredPieces {
   public:
    bool more() const override { return true; }
    Trace next() override { throw std::bad_alloc(); }
    Bytes next_delta() override { return {}; }
  };
  Share share;
  share.trace = fold_stream({{1, 1, {0, 8, 1}}}, 0, 2);
  share.stored = std::make_unique<Unreadable>();
  REQUIRE(has_more(share));
  CHECK_THROWS_AS(take_piece(share), std::bad_alloc);
  CHECK_FALSE(has_more(share));
  CHECK(take_piece(share).trace.nodes.empty());
}

TEST_CASE("pieces of shares become deltas, up to one that cannot be read", "[pieces]") {
  class Pieces final : public StoredPieces {
   public:
    explicit Pieces(std::vector<Bytes> all) : all_(std::move(all)) {}
    bool more() const override { return next_ < all_.size(); }
    Trace next() override { return {}; }
    Bytes next_delta() override { return all_[next_++]; }

   private:
    std::vector<Bytes> all_;
    std::size_t next_ = 0;
  };
  const auto share_of = [](std::vector<Bytes> pieces) {
    Share share;
    share.trace = fold_stream({{1, 1, {0, 8, 1}}}, 0, 2);
    share.stored = std::make_unique<Pieces>(std::move(pieces));
    return share;
  };
  const auto all_of = [](std::vector<Share*> shares) {
    std::vector<Bytes> all;
    ShareDeltas deltas(shares);
    for (Bytes next = deltas.next(); !next.empty(); next = deltas.next()) all.push_back(next);
    CHECK(deltas.next().empty());
    return std::pair(all, deltas.lost());
  };
  const Bytes a{1}, b{2}, c{3};
  {
    Share none, one = share_of({a, b}), empty, two = share_of({c});
    const Bytes between = format::delta_commit(one.trace);
    CHECK(all_of({&none, &one, &empty, &two}) ==
          std::pair(std::vector<Bytes>{a, b, between, c}, false));
    CHECK(two.trace.nodes.size() == 1);
  }
  {
    Share one = share_of({a, {}, b}), two = share_of({c});
    CHECK(all_of({&one, &two}) == std::pair(std::vector<Bytes>{a}, true));
  }
}
