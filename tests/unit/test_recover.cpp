// SPDX-License-Identifier: BSD-3-Clause

#include "analysis/recover.h"
#include "model/view.h"
#include "unit/catch.h"
#include "unit/trace_builder.h"

using namespace chameleon;
using namespace chameleon::analysis;
using namespace chameleon::compress;
using chameleon::testing::TraceBuilder;

namespace {

enum : std::uint16_t { kInit = 1, kBarrier, kSend };
constexpr std::uint32_t kRanks = 4;

/// `events` Barriers of the ranks, as after flush `flush`.
Trace piece(const RankList& ranks, int events, std::uint64_t flush, std::uint16_t call = kBarrier) {
  Trace whole;
  TraceBuilder builder(kRanks);
  builder.complete = false;
  builder.call(kInit, "Init", {});
  builder.call(kBarrier, "Barrier", {"comm:comm"});
  builder.call(kSend, "Send", {"tag:tag"});
  for (const std::uint32_t rank : ranks.ranks())
    for (int i = 0; i < events; ++i) builder.push(rank, call, {0});
  whole = builder.build();
  whole.ranks = ranks;
  whole.program = "app";
  whole.online.flushes = flush;
  for (const std::uint32_t rank : ranks.ranks())
    whole.facts[rank].events = static_cast<std::uint64_t>(events);
  return whole;
}

/// What rank N left when it was ended by SIGTERM.
PartialTrace partial(std::uint32_t rank, int events, std::uint64_t flush) {
  Trace trace = piece(RankList::single(rank), events, flush, kSend);
  trace.facts[rank].events = 10 + static_cast<std::uint64_t>(events);
  const std::string number = std::to_string(rank);
  trace.ends = {{rank, "SIGTERM"}};
  return {"app.cham.rank" + number, std::move(trace)};
}

std::vector<std::uint16_t> calls_of(const Trace& trace, std::uint32_t rank) {
  std::vector<std::uint16_t> calls;
  Result<RankView> view = RankView::make(trace, rank);
  REQUIRE(view);
  EventView event;
  while (view->next(event)) calls.push_back(event.node->call);
  return calls;
}

}  // namespace

TEST_CASE("partial traces of all ranks continue the online trace") {
  Trace trace = piece(RankList::range(0, kRanks - 1), 10, 3);
  trace.online.acted = 7;
  std::vector<PartialTrace> partials;
  for (std::uint32_t rank = 0; rank < kRanks; ++rank)
    partials.push_back(partial(kRanks - 1 - rank, static_cast<int>(kRanks - 1 - rank), 3));
  const Recovery recovery = recover(trace, std::move(partials));
  CHECK(recovery.left_out.empty());
  CHECK(recovery.joined == RankList::range(0, kRanks - 1));
  CHECK(recovery.missing.empty());
  CHECK(trace.ends.size() == kRanks);
  CHECK(trace.declarations.empty());
  CHECK_FALSE(trace.complete);
  CHECK(trace.online.acted == 7);
  for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
    std::vector<std::uint16_t> expected(10, kBarrier);
    expected.insert(expected.end(), rank, kSend);
    CHECK(calls_of(trace, rank) == expected);
    CHECK(trace.facts.at(rank).events == 10 + rank);
  }
}

TEST_CASE("a partial of another flush is named and left out, its rank declared") {
  Trace trace = piece(RankList::range(0, kRanks - 1), 10, 3);
  std::vector<PartialTrace> partials;
  for (std::uint32_t rank = 0; rank < 3; ++rank)
    partials.push_back(partial(rank, 2, rank == 1 ? 2 : 3));
  const Recovery recovery = recover(trace, std::move(partials));
  REQUIRE(recovery.left_out.size() == 1);
  CHECK(recovery.left_out[0] == "app.cham.rank1 begins after flush 2, the trace ends with flush 3");
  RankList missing = RankList::single(1);
  missing.insert(3);
  CHECK(recovery.missing == missing);
  REQUIRE(trace.declarations.size() == 1);
  CHECK(trace.declarations[0].what == kNoPartialDeclaration);
  CHECK(trace.declarations[0].ranks == missing);
  CHECK(calls_of(trace, 1).size() == 10);
  CHECK(calls_of(trace, 2).size() == 12);
}

TEST_CASE("partials of another job, or twice of a rank, do not fit") {
  Trace trace = piece(RankList::range(0, kRanks - 1), 1, 0);
  std::vector<PartialTrace> partials;
  partials.push_back(partial(0, 1, 0));
  partials.push_back(partial(0, 1, 0));
  partials.push_back(partial(1, 1, 0));
  partials.back().trace.program = "other";
  partials.push_back(partial(2, 1, 0));
  partials.back().trace.world_size = 5;
  const Recovery recovery = recover(trace, std::move(partials));
  CHECK(recovery.joined == RankList::single(0));
  CHECK(recovery.left_out.size() == 3);
}

TEST_CASE("a job killed before its first flush leaves only partials") {
  Trace trace;
  trace.world_size = kRanks;
  trace.program = "app";
  std::vector<PartialTrace> partials;
  for (std::uint32_t rank = 0; rank < kRanks; ++rank) partials.push_back(partial(rank, 3, 0));
  const Recovery recovery = recover(trace, std::move(partials));
  CHECK(recovery.joined.size() == kRanks);
  CHECK(trace.ranks.size() == kRanks);
  for (std::uint32_t rank = 0; rank < kRanks; ++rank) CHECK(calls_of(trace, rank).size() == 3);
}
