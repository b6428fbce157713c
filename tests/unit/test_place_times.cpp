// SPDX-License-Identifier: BSD-3-Clause
#include <functional>
#include <random>

#include "analysis/arrivals.h"
#include "analysis/place_times.h"
#include "analysis/stream_times.h"
#include "model/view.h"
#include "unit/catch.h"
#include "unit/trace_builder.h"

using namespace chameleon;
using namespace chameleon::analysis;
using chameleon::testing::TraceBuilder;

namespace {

/// By node, stream and predecessor.
using Counts = std::map<std::tuple<const Node*, std::uint32_t, std::uint64_t>, std::uint64_t>;

Counts by_events(const Trace& trace) {
  Counts counts;
  for (const std::uint32_t rank : trace.ranks.ranks()) {
    Result<RankView> view = RankView::make(trace, rank);
    REQUIRE(view);
    EventView event;
    while (view->next(event)) ++counts[{event.node, rank, event.predecessor}];
  }
  return counts;
}

Counts by_loops(const Trace& trace) {
  Counts counts;
  const Status walked =
      each_arrival(trace, trace.ranks,
                   [&](const Node& node, std::uint32_t stream, std::span<const Arrival> arrivals) {
                     for (const Arrival& one : arrivals)
                       counts[{&node, stream, one.predecessor}] += one.count;
                   });
  REQUIRE(walked);
  return counts;
}

struct Job : TraceBuilder {
  Job() : TraceBuilder(kRanks) {
    for (std::uint16_t id = 1; id <= kCalls; ++id) call(id, "Call" + std::to_string(id), {});
  }
  static constexpr std::uint32_t kRanks = 5;
  static constexpr std::uint16_t kCalls = 4;
};

}  // namespace

TEST_CASE("how often an event comes after another follows from the loops") {
  const auto seed = GENERATE(range(1U, 60U));
  CAPTURE(seed);
  std::mt19937 random(seed);
  const auto below = [&](unsigned n) { return static_cast<unsigned>(random() % n); };
  Job job;
  // Ranks run one nest of loops, each with counts and left-out calls of its own.
  std::function<void(unsigned, unsigned, std::mt19937&, std::uint32_t)> body =
      [&](unsigned depth, unsigned shape, std::mt19937& own, std::uint32_t rank) {
        std::mt19937 same(shape);
        for (unsigned part = 0; part < 1 + same() % 3; ++part) {
          const unsigned what = same(), inner = same();
          if (depth < 3 && what % 2 == 0) {
            const unsigned times = 1 + own() % 4;
            for (unsigned i = 0; i < times; ++i) body(depth + 1, inner, own, rank);
          } else if (what % 8 != 1 || rank % 2 == 0) {
            job.push(rank, static_cast<std::uint16_t>(1 + inner % Job::kCalls), {});
          }
        }
      };
  const unsigned shape = below(1U << 30);
  for (std::uint32_t rank = 0; rank < Job::kRanks; ++rank) {
    std::mt19937 own(seed + rank / 2);
    for (unsigned step = 0; step < 6; ++step) body(0, shape, own, rank);
    job.push(rank, 1, {});
  }
  const Trace trace = job.build();
  CHECK(by_loops(trace) == by_events(trace));
}

TEST_CASE("loops with visits without iterations are counted too") {
  Job job;
  job.push(0, 1, {});
  job.push(0, 2, {});
  Trace trace = job.build();
  trace.ranks = RankList::single(0);
  // Three times: call 1, then call 2 twice, never, three times.
  Node inner, outer;
  inner.body = {trace.nodes[1]};
  inner.body[0].params = {Param(ValueSequence(0, 5))};
  for (const std::int64_t count : {2, 0, 3}) inner.iterations.values().append(count);
  outer.body = {trace.nodes[0], inner};
  outer.body[0].params = {Param(ValueSequence(0, 3))};
  outer.iterations = Param(ValueSequence(3));
  trace.nodes = {outer};
  const Counts counts = by_loops(trace);
  CHECK(counts == by_events(trace));
  const Node& first = trace.nodes[0].body[0];
  const Node& second = trace.nodes[0].body[1].body[0];
  CHECK(counts.at({&first, 0, 0}) == 1);
  CHECK(counts.at({&first, 0, first.symbol()}) == 1);
  CHECK(counts.at({&first, 0, second.symbol()}) == 1);
  CHECK(counts.at({&second, 0, first.symbol()}) == 2);
  CHECK(counts.at({&second, 0, second.symbol()}) == 3);
}

TEST_CASE("iteration counts that do not fit their visits are refused") {
  Job job;
  for (int i = 0; i < 4; ++i) job.push(0, 1, {});
  Trace trace = job.build();
  trace.ranks = RankList::single(0);
  REQUIRE(trace.nodes.front().is_loop());
  trace.nodes.front().iterations = Param(ValueSequence(4, 2));
  const Status walked =
      each_arrival(trace, trace.ranks, [](const Node&, std::uint32_t, std::span<const Arrival>) {});
  REQUIRE_FALSE(walked);
  CHECK(walked.error().kind == ErrorKind::kCorrupt);
}

TEST_CASE("a rank's times are its own instances of a shared distribution") {
  TraceBuilder job(2);
  job.call(1, "Barrier", {});
  job.call(2, "Allreduce", {});
  // Rank 1 comes to the second call nine times as often after itself.
  for (std::uint32_t rank = 0; rank < 2; ++rank)
    for (int step = 0; step < 10; ++step) {
      job.push(rank, 1, {}, 100, 10);
      for (int i = 0; i < (rank == 0 ? 2 : 10); ++i)
        job.push(rank, 2, {}, i == 0 ? 900'000 : 1000, i == 0 ? 50'000 : 70);
    }
  const Trace trace = job.build();
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    CAPTURE(rank);
    const double others = rank == 0 ? 10 : 90;
    double compute = 0, call = 0;
    SpentAt spent;
    const Result<NodeTimes> times = NodeTimes::make(trace, RankList::single(rank));
    REQUIRE(times);
    const Status read = each_place_time(trace, RankList::single(rank), [&](const PlaceTime& time) {
      CHECK(time.stream == rank);
      if (time.node.call != 2) return;
      compute += time.compute_ns();
      call += time.call_ns();
      spent = times->at(time.node);
    });
    REQUIRE(read);
    CHECK(compute == Approx(10 * 900'000 + others * 1000));
    CHECK(call == Approx(10 * 50'000 + others * 70));
    CHECK(spent.compute.sum_ns == Approx(compute));
    CHECK(spent.communication.sum_ns == Approx(call));
    CHECK(spent.compute.count == Approx(10 + others));
    CHECK(spent.compute.least_ns == 1000);
    CHECK(spent.compute.most_ns == 900'000);
    CHECK(spent.compute.quantile_ns(0) == 1000);
    CHECK(spent.compute.quantile_ns(1) == 900'000);
    // Half of rank 0's instances are short, nine tenths of rank 1's.
    CHECK((spent.compute.quantile_ns(0.6) > 100'000) == (rank == 0));
  }
}

TEST_CASE("after a predecessor without times an event takes what it takes after others") {
  TraceBuilder job(1);
  job.call(1, "Barrier", {});
  for (int i = 0; i < 4; ++i) job.push(0, 1, {}, i == 0 ? 100 : 400, 50);
  const Trace trace = job.build();
  const Node& node =
      trace.nodes.front().is_loop() ? trace.nodes.front().body.front() : trace.nodes.front();
  const std::optional<MeanTimes> after_itself = StreamTimes(trace, 0).means(node, node.symbol());
  REQUIRE(after_itself);
  CHECK(after_itself->compute_ns == 400);
  const std::optional<MeanTimes> unknown = StreamTimes(trace, 0).means(node, 12345);
  REQUIRE(unknown);
  CHECK(unknown->compute_ns == Approx((100 + 3 * 400) / 4.0));
  CHECK(unknown->communication_ns == 50);
  CHECK_FALSE(StreamTimes(trace, 7).means(node, 0) == std::nullopt);  // one distribution for all
}
