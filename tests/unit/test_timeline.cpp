// SPDX-License-Identifier: BSD-3-Clause
#include <utility>

#include "analysis/load.h"
#include "analysis/run_length.h"
#include "analysis/stream_times.h"
#include "analysis/timeline.h"
#include "unit/catch.h"
#include "unit/trace_builder.h"

using namespace chameleon;
using namespace chameleon::analysis;
using chameleon::testing::TraceBuilder;

namespace {

enum : std::uint16_t { kInit = 1, kSend, kRecv, kFinalize };
constexpr std::int64_t kInt = -3;
constexpr std::uint64_t kUs = 1000;
constexpr std::uint32_t kRanks = 6;
constexpr int kSweeps = 20;

/// Every rank works for 100 us and hands on; the first waits for nobody. Each rank knows only the
/// mean of its waits, of which the first was long.
Trace pipeline() {
  TraceBuilder job(kRanks);
  job.call(kInit, "Init", {});
  job.call(kSend, "Send");
  job.call(kRecv, "Recv",
           {"buf:buffer", "count:count", "datatype:datatype", "source:source:e", "tag:tag",
            "comm:comm", "status.source:source:e", "status.tag:tag", "status.bytes:count"});
  job.call(kFinalize, "Finalize", {});
  for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
    const auto self = static_cast<std::int32_t>(rank);
    job.push(rank, kInit, {}, 0, 1);
    for (int sweep = 0; sweep < kSweeps; ++sweep) {
      if (rank > 0)
        job.push(rank, kRecv,
                 {0, 1, kInt, pack_rank(self - 1, self, kRanks), 1, 0,
                  pack_special(SpecialRank::kNone), kNotRecorded, kNotRecorded},
                 kUs, sweep == 0 ? rank * 100 * kUs : kUs);
      if (rank + 1 < kRanks)
        job.push(rank, kSend, {0, 1, kInt, pack_rank(self + 1, self, kRanks), 1, 0}, 99 * kUs, kUs);
    }
    job.push(rank, kFinalize, {}, kUs, 1);
  }
  Trace trace = job.build();
  trace.timing = "histogram";
  return trace;
}

/// The end of each rank's last event.
std::map<std::uint32_t, std::uint64_t> ends(const Trace& trace, TimelineFacts& facts) {
  std::map<std::uint32_t, std::uint64_t> last;
  const Result<TimelineFacts> run = run_timeline(trace, trace.ranks, [&](const TimedEvent& event) {
    CHECK(event.begin_ns >= last[event.rank()]);
    CHECK(event.end_ns >= event.begin_ns);
    for (const std::uint64_t since : event.since_ns) CHECK(since <= event.end_ns);
    last[event.rank()] = event.end_ns;
  });
  REQUIRE(run);
  facts = *run;
  return last;
}

const Place kBetween{Node::event_symbol(kSend, 100U + kSend),
                     Node::event_symbol(kSend, 100U + kSend)};
const Place kLast{Node::event_symbol(kFinalize, 100U + kFinalize), kBetween.symbol};

/// Three ranks that compute for 10 us before each call and are in it for 2. After ten time steps'
/// markers, 7 us after the call before, rank 1 waited 4 us and rank 2 waited 8.
Trace marked() {
  constexpr std::uint32_t kSteps = 10;
  TraceBuilder job(3);
  job.call(kSend, "Send", {});
  job.call(kFinalize, "Finalize", {});
  std::vector<StreamAccounts> accounts;
  for (std::uint32_t rank = 0; rank < 3; ++rank) {
    AccountBook book;
    for (std::uint32_t i = 0; i <= kSteps; ++i) {
      const std::uint16_t call = i < kSteps ? kSend : kFinalize;
      job.push(rank, call, {});
      book.add(book.number_of(Node::event_symbol(call, 100U + call)), 10 * kUs, 2 * kUs);
    }
    accounts.push_back({rank, book.accounts()});
  }
  Trace trace = job.build();
  trace.timing = "histogram";
  for (const std::uint32_t rank : {1U, 2U}) {
    accounts[rank].waits[kBetween] = {9 * 4 * kUs, 9, 9 * 7 * kUs};
    accounts[rank].waits[kLast] = {4 * kUs, 1, 7 * kUs};
  }
  trace.times = TimeTable::of(accounts);
  for (std::uint32_t rank = 0; rank < 3; ++rank) trace.facts[rank].waiting_ns = rank * 40 * kUs;
  return trace;
}

/// Of `marked`, on a timeline that is so many times as long: where the waiting lies.
void check_waits(const Trace& trace, std::uint64_t times) {
  const auto us = [times](std::uint64_t number) {
    return Approx(static_cast<double>(times * number * kUs)).margin(20);  // ns that are rounded
  };
  std::map<std::uint32_t, std::uint64_t> waited, ends;
  const Result<TimelineFacts> run = run_timeline(trace, trace.ranks, [&](const TimedEvent& event) {
    const std::uint64_t before = std::exchange(ends[event.rank()], event.end_ns);
    waited[event.rank()] += event.wait_end_ns - event.wait_begin_ns;
    if (!event.waits()) {
      CHECK(static_cast<double>(event.begin_ns - before) == us(10));
      return;
    }
    CHECK(static_cast<double>(event.wait_begin_ns - before) == us(7));
    CHECK(static_cast<double>(event.begin_ns - event.wait_end_ns) == us(3));
  });
  REQUIRE(run);
  for (std::uint32_t rank = 0; rank < 3; ++rank)
    CHECK(static_cast<double>(waited[rank]) == us(rank * 40));
}

}  // namespace

TEST_CASE("a timeline ends when the run ended") {
  Trace trace = pipeline();
  for (const std::uint64_t run_us : {2100, 2700, 4000}) {
    CAPTURE(run_us);
    for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
      trace.facts[rank].run_ns = (run_us + 50) * kUs;
      trace.facts[rank].tool_ns = 50 * kUs;
    }
    TimelineFacts facts;
    const auto last = ends(trace, facts);
    CHECK(facts.end_ns == Approx(run_us * kUs).margin(100));  // ns, for what is rounded
    for (const auto& [rank, end] : last) CHECK(end <= facts.end_ns);
  }
}

TEST_CASE("what a pipeline moves is taken from its waits") {
  Trace trace = pipeline();
  TimelineFacts facts;  // without facts of the run, as it comes out
  ends(trace, facts);
  // The last rank can end one work of each rank before it later than the first.
  const double least = static_cast<double>(kSweeps * 100 * kUs + (kRanks - 1) * 100 * kUs);
  CHECK(static_cast<double>(facts.end_ns) < 1.1 * least);
}

TEST_CASE("what a rank waited at markers lies where it waited, as long as its facts say") {
  const Trace trace = marked();
  CHECK(StreamTimes(trace, 0).wait(kBetween).ns == 0);
  CHECK(StreamTimes(trace, 1).wait(kBetween).ns == Approx(4 * kUs));
  CHECK(StreamTimes(trace, 2).wait(kLast).ns == Approx(8 * kUs));
  CHECK(StreamTimes(trace, 2).wait({kBetween.symbol, 0}).ns == 0);
  check_waits(trace, 1);
}

TEST_CASE("waiting at markers is stretched with what lies around it to the length of the run") {
  Trace trace = marked();
  // By itself the last rank takes 11 events of 12 us and 80 us of waiting.
  for (auto& [rank, facts] : trace.facts) facts.run_ns = 2 * (11 * 12 + 80) * kUs;
  check_waits(trace, 2);
}

TEST_CASE("streams of a class share what it waited as their facts say") {
  constexpr std::uint64_t kEvents = 10;
  const auto times = [](std::uint64_t streams) {
    Durations sum;
    for (std::uint64_t i = 0; i < streams * kEvents; ++i)
      sum.compute.add(9 * kUs), sum.communication.add(kUs);
    return sum;
  };
  const Place of_class{1, 2}, of_all{2, 1}, elsewhere{3, 2};
  Trace trace;
  const std::uint32_t two = trace.times.add_class({RankList::range(0, 1), 0});
  const std::uint32_t one = trace.times.add_class({RankList::single(2), 0});
  trace.times.add(of_class, two, times(2));
  trace.times.add(of_class, one, times(1));
  trace.times.add(of_all, ClassTimes::kAll, times(3));
  MarkerWaits waits;
  waits.add(of_class, two, {100 * kUs, 20, 20 * kUs});
  waits.add(of_all, two, {60 * kUs, 20, 40 * kUs});
  trace.times.set_waits(waits);
  const bool known = GENERATE(true, false);
  if (known) {
    trace.facts[0].waiting_ns = 40 * kUs;
    trace.facts[1].waiting_ns = 120 * kUs;
  }
  const std::uint64_t waited[] = {known ? 40 * kUs : 80 * kUs, known ? 120 * kUs : 80 * kUs};
  for (std::uint32_t stream = 0; stream < 2; ++stream) {
    const StreamTimes mine(trace, stream);
    CHECK(kEvents * (mine.wait(of_class).ns + mine.wait(of_all).ns) == Approx(waited[stream]));
    CHECK(mine.wait(of_class).ns == Approx(mine.wait(of_all).ns * 100 / 60));
    CHECK(mine.wait(of_class).ahead_ns == Approx(kUs));
    CHECK(mine.wait(of_all).ahead_ns == Approx(2 * kUs));
    CHECK(mine.wait(elsewhere).ns == 0);
  }
  CHECK(StreamTimes(trace, 2).wait(of_class).ns == 0);
  CHECK(StreamTimes(trace, 3).wait(of_class).ns == 0);  // of no class
}

TEST_CASE("a run that was cut ends at its last marker, and one of which nothing is known at all") {
  Trace trace = pipeline();
  CHECK(run_length_ns(trace) == 0);
  trace.complete = false;
  trace.online.phases.push_back({0, 1, 7, 0, 1234 * kUs});
  CHECK(run_length_ns(trace) == 1234 * kUs);
  TimelineFacts facts;
  ends(trace, facts);
  CHECK(facts.end_ns == Approx(1234 * kUs).margin(100));
  trace.facts[2].run_ns = 99;
  CHECK(run_length_ns(trace) == 99);
}

TEST_CASE("a rank whose parts exceed its run by their errors computes nothing, and is known to") {
  RankFacts facts;
  facts.run_ns = 1'000'000;
  facts.call_ns = 900'000;
  facts.tool_ns = 105'000;
  REQUIRE(measured_compute_ns(facts));
  CHECK(*measured_compute_ns(facts) == 0);
  facts.tool_ns = 111'000;
  CHECK_FALSE(measured_compute_ns(facts));
  facts.tool_ns = 40'000;
  CHECK(*measured_compute_ns(facts) == 60'000);
  facts.paused = 1;
  CHECK_FALSE(measured_compute_ns(facts));
}

TEST_CASE("one rank whose parts exceed its run does not hide the load of the others") {
  Trace trace = pipeline();
  for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
    trace.facts[rank].run_ns = 3'000 * kUs;
    trace.facts[rank].call_ns = rank == 1 ? 3'001 * kUs : 1'000 * kUs;
  }
  const Result<Load> load = load_of(trace);
  REQUIRE(load);
  CHECK(load->measured);
  CHECK(load->ranks[1].compute_ns == 0);
  CHECK(load->ranks[0].compute_ns == 2'000 * kUs);
}
