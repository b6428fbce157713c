// SPDX-License-Identifier: BSD-3-Clause
// Which stretches of a series are slow, and whose fault that is.

#include <algorithm>
#include <array>

#include "analysis/slow_steps.h"
#include "unit/catch.h"
#include "unit/timed_job.h"

using namespace chameleon;
using analysis::SlowSteps;

namespace {

constexpr std::uint32_t kRanks = 4;
constexpr std::uint64_t kMs = 1'000'000;

/// An interval in which each rank computes and all leave together.
IntervalTally interval(const std::array<std::uint64_t, kRanks>& compute, std::uint64_t length) {
  IntervalTally all;
  for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
    IntervalTally one;
    one.compute = RankExtent::of(rank, compute[rank]);
    one.communication = RankExtent::of(rank, length - compute[rank]);
    one.busy = RankExtent::of(rank, length);
    one.waiting = RankExtent::of(rank, 0);
    if (rank == 0)
      all = one;
    else
      all.add(one);
  }
  return all;
}

struct Run {
  Series series;
  std::uint64_t marker = 1, end_ns = 0;

  void steps(int count, const std::array<std::uint64_t, kRanks>& compute, std::uint64_t length) {
    for (int i = 0; i < count; ++i) {
      SeriesSpan span;
      span.first = span.slowest = marker++;
      span.end_ns = end_ns += length;
      span.all = span.worst = interval(compute, length);
      series.add(span);
    }
  }
  std::vector<SlowSteps> slow() const { return analysis::slow_stretches(series, kRanks); }
};

constexpr std::array<std::uint64_t, kRanks> kEven = {kMs, kMs, kMs, kMs};

}  // namespace

TEST_CASE("an even run has no slow steps") {
  Run run;
  run.steps(100, kEven, 2 * kMs);
  CHECK(run.slow().empty());
  CHECK(analysis::slow_stretches(Series(), kRanks).empty());
}

TEST_CASE("slow steps name the rank and the markers") {
  Run run;
  run.steps(20, kEven, 2 * kMs);
  run.steps(10, {kMs, kMs, 5 * kMs, kMs}, 6 * kMs);
  run.steps(20, kEven, 2 * kMs);
  const std::vector<SlowSteps> slow = run.slow();
  REQUIRE(slow.size() == 1);
  CHECK(slow[0].whose == SlowSteps::Whose::kOne);
  CHECK(slow[0].ranks == RankList::single(2));
  CHECK(slow[0].first == 21U);
  CHECK(slow[0].last == 30U);
  CHECK(slow[0].begin_ns == 40 * kMs);
  CHECK(slow[0].end_ns == 100 * kMs);
  CHECK(slow[0].compute_ns == Approx(50.0 * kMs).margin(1));
  CHECK(slow[0].lost_ns == Approx(30.0 * kMs).margin(1));  // 5 ms less the mean of 2 ms
}

TEST_CASE("a few steps unlike their neighbours do not end a stretch of slow ones") {
  Run run;
  run.steps(20, kEven, 2 * kMs);
  run.steps(5, {5 * kMs, kMs, kMs, kMs}, 6 * kMs);
  run.steps(1, {kMs, 9 * kMs, kMs, kMs}, 10 * kMs);
  run.steps(1, kEven, 2 * kMs);
  run.steps(4, {5 * kMs, kMs, kMs, kMs}, 6 * kMs);
  const std::vector<SlowSteps> slow = run.slow();
  REQUIRE(slow.size() == 1);
  CHECK(slow[0].ranks == RankList::single(0));
  CHECK(slow[0].intervals() == 11U);
  CHECK(slow[0].lost_ns == Approx(27.0 * kMs).margin(1));  // 9 times 5 ms less the mean of 2 ms
}

TEST_CASE("an imbalance that moves is one stretch of several ranks") {
  Run run;
  run.steps(20, kEven, 2 * kMs);
  for (std::uint32_t step = 0; step < 12; ++step) {
    std::array<std::uint64_t, kRanks> compute = kEven;
    compute[step % 3] = 5 * kMs;
    run.steps(1, compute, 6 * kMs);
  }
  const std::vector<SlowSteps> slow = run.slow();
  REQUIRE(slow.size() == 1);
  CHECK(slow[0].whose == SlowSteps::Whose::kMoves);
  CHECK(slow[0].ranks.to_string() == "0-2");
  CHECK(slow[0].first == 21U);
  CHECK(slow[0].last == 32U);
}

TEST_CASE("steps are slow although no rank is") {
  Run run;
  run.steps(30, kEven, 2 * kMs);
  run.steps(10, {2 * kMs, 2 * kMs, 2 * kMs, 2 * kMs}, 9 * kMs);
  const std::vector<SlowSteps> slow = run.slow();
  REQUIRE(slow.size() == 1);
  CHECK(slow[0].whose == SlowSteps::Whose::kAll);
  CHECK(slow[0].first == 31U);
  CHECK(slow[0].lost_ns == Approx(70.0 * kMs).margin(1));
  CHECK(slow[0].compute_ns == Approx(20.0 * kMs).margin(1));
}

TEST_CASE("steps of another phase are not compared with") {
  Run run;
  run.steps(30, kEven, 2 * kMs);
  Series mixed;
  for (SeriesSpan span : run.series.spans()) {
    if (span.first % 2 == 0) {
      span.phase = 1;
      span.all = span.worst = interval(kEven, 9 * kMs);
    }
    mixed.add(span);
  }
  CHECK(analysis::slow_stretches(mixed, kRanks).empty());
}

TEST_CASE("joined spans still name the rank") {
  Run run;
  run.steps(static_cast<int>(3 * Series::kMost), kEven, 2 * kMs);
  run.steps(static_cast<int>(Series::kMost), {kMs, kMs, kMs, 5 * kMs}, 6 * kMs);
  REQUIRE(run.series.spans().size() <= Series::kMost);
  const std::vector<SlowSteps> slow = run.slow();
  REQUIRE(slow.size() == 1);
  CHECK(slow[0].ranks == RankList::single(3));
  CHECK(static_cast<double>(slow[0].first) == Approx(3.0 * Series::kMost + 1).margin(8));
  CHECK(slow[0].last == 4 * Series::kMost);
  CHECK(slow[0].compute_ns ==
        Approx(5.0 * kMs * Series::kMost).margin(0.01 * 5 * kMs * Series::kMost));
}

TEST_CASE("a place that does not occur in a stretch is not named for it") {
  // Rank 2 computes as much longer before the first broadcast as in ten steps in the midst.
  testing::TimedJob job(kRanks);
  Run run;
  for (std::uint32_t rank = 0; rank < kRanks; ++rank) job.broadcast(rank, 0, rank == 2 ? 41 : 1, 1);
  run.steps(1, {kMs, kMs, 41 * kMs, kMs}, 42 * kMs);
  for (int step = 1; step < 60; ++step) {
    const bool slow = step >= 20 && step < 30;
    for (std::uint32_t rank = 0; rank < kRanks; ++rank)
      job.reduction(rank, testing::TimedJob::kAllreduce, slow && rank == 2 ? 5 : 1, 1);
    run.steps(1, {kMs, kMs, (slow ? 5 : 1) * kMs, kMs}, (slow ? 6 : 2) * kMs);
  }
  Trace trace = job.full();
  trace.series = run.series;
  const auto slow = analysis::slow_steps(trace);
  REQUIRE(slow);
  const auto stretch = std::find_if(slow->begin(), slow->end(),
                                    [](const SlowSteps& one) { return one.first == 21; });
  REQUIRE(stretch != slow->end());
  REQUIRE(stretch->computes);
  CHECK(stretch->computes->call == testing::TimedJob::kAllreduce);
}
