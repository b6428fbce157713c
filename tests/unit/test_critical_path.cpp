// SPDX-License-Identifier: BSD-3-Clause
/// Critical paths of hand-made traces in which they are known.

#include <random>

#include "analysis/critical_path.h"
#include "unit/catch.h"
#include "unit/timed_job.h"

using namespace chameleon;
using namespace chameleon::analysis;
using chameleon::testing::TimedJob;

namespace {

constexpr double kMs = TimedJob::kMs;
constexpr double kNear = 0.02;  // times are recorded within 1/128

CriticalPath path_of(TimedJob& job) {
  Result<CriticalPath> found = critical_path(job.full());
  REQUIRE(found);
  CHECK(found->lost_jumps == 0);
  std::uint64_t sum = 0;
  for (const CriticalPlace& place : found->places) sum += place.share.ns();
  CHECK(sum == found->end_ns);
  return std::move(*found);
}

/// On the path, in ms: computing and time in calls of a stream at a call.
std::pair<double, double> at(const CriticalPath& path, std::uint32_t stream, std::uint16_t call) {
  PathShare sum;
  for (const CriticalPlace& place : path.places)
    if (place.stream == stream && place.call == call) sum.add(place.share);
  return {static_cast<double>(sum.compute_ns) / kMs, static_cast<double>(sum.call_ns) / kMs};
}

void check(const CriticalPath& path, std::uint32_t stream, std::uint16_t call, double compute,
           double inside) {
  CAPTURE(stream, call);
  const auto [computes, calls] = at(path, stream, call);
  CHECK(computes == Approx(compute).epsilon(kNear).margin(0.2));
  CHECK(calls == Approx(inside).epsilon(kNear).margin(0.2));
}

}  // namespace

TEST_CASE("the critical path goes through the slowest rank of each step") {
  TimedJob job(3);
  for (int step = 0; step < 10; ++step)
    for (std::uint32_t rank = 0; rank < 3; ++rank) {
      const bool slow = rank == (step < 6 ? 1U : 2U);
      job.barrier(rank, slow ? 30 : 10, slow ? 1 : 21);
    }
  const CriticalPath path = path_of(job);
  CHECK(static_cast<double>(path.end_ns) / kMs == Approx(310).epsilon(kNear));
  check(path, 1, TimedJob::kBarrier, 180, at(path, 1, TimedJob::kBarrier).second);
  check(path, 2, TimedJob::kBarrier, 120, at(path, 2, TimedJob::kBarrier).second);
  check(path, 0, TimedJob::kBarrier, 0, at(path, 0, TimedJob::kBarrier).second);
  double calls = 0;
  for (std::uint32_t rank = 0; rank < 3; ++rank) calls += at(path, rank, TimedJob::kBarrier).second;
  CHECK(calls == Approx(10).epsilon(0.1));
  const PathShare& all = path.all.at({TimedJob::kBarrier, 100U + TimedJob::kBarrier});
  CHECK(static_cast<double>(all.compute_ns) / kMs == Approx(500).epsilon(kNear));
  CHECK(all.visits == 30);
}

TEST_CASE("a chain of messages is on the path, those who have time are not") {
  TimedJob job(4);
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    if (rank > 0) job.receive(rank, rank - 1, 1, 12.0 * rank - 1);
    job.send(rank, (rank + 1) % 4, 10, 0.01);
  }
  job.receive(0, 3, 0.5, 37.5);
  for (std::uint32_t rank = 0; rank < 4; ++rank)
    job.barrier(rank, rank == 1 ? 2 : 0.1, rank == 0 ? 0.5 : 1);
  const CriticalPath path = path_of(job);
  for (std::uint32_t rank = 0; rank < 4; ++rank)
    check(path, rank, TimedJob::kSend, 10, at(path, rank, TimedJob::kSend).second);
  for (std::uint32_t rank = 1; rank < 4; ++rank) check(path, rank, TimedJob::kRecv, 0, 2);
  CHECK(path.jumps >= 4);
}

TEST_CASE("paths of very many events are kept as sums") {
  TimedJob job(2);
  for (int step = 0; step < 4000; ++step) {
    job.send(0, 1, 2, 0.1);
    job.receive(1, 0, 1, 1.1);
  }
  const CriticalPath path = path_of(job);
  CHECK(static_cast<double>(path.end_ns) / kMs == Approx(8400).epsilon(kNear));
  CHECK(at(path, 0, TimedJob::kSend).first == Approx(8000).epsilon(kNear));
  CHECK(at(path, 1, TimedJob::kRecv).first < 10);
}

TEST_CASE("without events there is no path") {
  TimedJob job(2);
  const Result<CriticalPath> path = critical_path(job.full());
  REQUIRE(path);
  CHECK(path->places.empty());
  CHECK(path->end_ns == 0);
}

namespace {

/// In ms, of a stream's calls of a kind: least and mean.
std::pair<double, double> slack_at(const CriticalPath& path, std::uint32_t stream,
                                   std::uint16_t call) {
  REQUIRE(path.slack);
  Slack sum;
  for (const PlaceSlack& place : *path.slack)
    if (place.stream == stream && place.call == call) sum.add(place.slack);
  REQUIRE(sum.events > 0);
  return {static_cast<double>(sum.least_ns) / kMs, sum.mean_ns() / kMs};
}

void check_slack(const CriticalPath& path, std::uint32_t stream, std::uint16_t call, double least,
                 double mean) {
  CAPTURE(stream, call);
  const auto [found_least, found_mean] = slack_at(path, stream, call);
  CHECK(found_least == Approx(least).epsilon(kNear).margin(0.2));
  CHECK(found_mean == Approx(mean).epsilon(kNear).margin(0.2));
}

CriticalPath with_slack(TimedJob& job) {
  Result<CriticalPath> found = critical_path(job.full(), Loops::kAtOnce, true);
  REQUIRE(found);
  return std::move(*found);
}

}  // namespace

TEST_CASE("who waits at a barrier has that much slack before it") {
  TimedJob job(3);
  for (int step = 0; step < 10; ++step)
    for (std::uint32_t rank = 0; rank < 3; ++rank) {
      const double computes[] = {10, step < 6 ? 30.0 : 20.0, step < 6 ? 25.0 : 30.0};
      job.barrier(rank, computes[rank], 31 - computes[rank]);
    }
  const CriticalPath path = with_slack(job);
  check_slack(path, 0, TimedJob::kBarrier, 20, 20);
  check_slack(path, 1, TimedJob::kBarrier, 0, 4);  // 10 ms in 4 of 10
  check_slack(path, 2, TimedJob::kBarrier, 0, 3);
}

TEST_CASE("slack passes on to those who are waited for, along messages") {
  // 0 sends to 1, 1 sends to 2; 2 has more to do than to wait for them, by 20 and 6 ms.
  TimedJob job(3);
  job.send(0, 1, 10, 0.01);
  job.receive(1, 0, 4, 7);
  job.send(1, 2, 5, 0.01);
  job.receive(2, 1, 22, 0.01);
  for (std::uint32_t rank = 0; rank < 3; ++rank)
    job.barrier(rank, rank == 2 ? 30 : 1, rank == 2 ? 1 : 40);
  const CriticalPath path = with_slack(job);
  // 2 begins to receive at 22. 1 sends at 16, and may 6 ms later, as may 0 send at 10. 1 receives
  // from 4 on, and waits till 10 anyway.
  check_slack(path, 2, TimedJob::kRecv, 0, 0);
  check_slack(path, 1, TimedJob::kSend, 6, 6);
  check_slack(path, 0, TimedJob::kSend, 6, 6);
  check_slack(path, 1, TimedJob::kRecv, 12, 12);
  check_slack(path, 2, TimedJob::kBarrier, 0, 0);
  check_slack(path, 1, TimedJob::kBarrier, 52 - 17, 52 - 17);
}

TEST_CASE("a root keeps others from going on, and these not the root") {
  TimedJob job(2);
  job.broadcast(0, 0, 10, 1);
  job.broadcast(1, 0, 3, 8);
  job.reduce(0, 0, 20, 1);
  job.reduce(1, 0, 2, 1);
  job.barrier(0, 1, 1);
  job.barrier(1, 1, 18);
  const CriticalPath path = with_slack(job);
  check_slack(path, 0, TimedJob::kBcast, 0, 0);
  check_slack(path, 1, TimedJob::kBcast, 7 + 18, 7 + 18);
  check_slack(path, 0, TimedJob::kReduce, 0, 0);
  check_slack(path, 1, TimedJob::kReduce, 18, 18);
}

TEST_CASE("each delay shorter than its slack leaves the run as long, a longer one does not") {
  // Barriers, and chains of messages; what the seed picks is delayed by what it may be, and more.
  std::mt19937 random(20);
  const auto pick = [&](unsigned most) { return 1 + static_cast<unsigned>(random() % most); };
  for (int run = 0; run < 40; ++run) {
    constexpr std::uint32_t kRanks = 4;
    struct Call {
      std::uint32_t rank;
      int kind, peer;
      double compute;
    };
    std::vector<Call> calls;
    for (int step = 0; step < 6; ++step) {
      const auto from = static_cast<std::uint32_t>(pick(kRanks) - 1);
      const auto to = static_cast<std::uint32_t>((from + pick(kRanks - 1)) % kRanks);
      calls.push_back({from, 0, static_cast<int>(to), static_cast<double>(pick(20))});
      calls.push_back({to, 1, static_cast<int>(from), static_cast<double>(pick(20))});
      if (step % 3 == 2)
        for (std::uint32_t rank = 0; rank < kRanks; ++rank)
          calls.push_back({rank, 2, 0, static_cast<double>(pick(20))});
    }
    // Who waits does not make up for what it lost: calls are as short as they can be.
    const auto made = [&](std::size_t delayed, double by) {
      TimedJob job(kRanks);
      for (std::size_t i = 0; i < calls.size(); ++i) {
        const Call& call = calls[i];
        const double compute = call.compute + (i == delayed ? by : 0);
        const auto peer = static_cast<std::uint32_t>(call.peer);
        // A path of its own, so that each call is a place.
        job.paths = 1000 * (i + 1);
        if (call.kind == 0) job.send(call.rank, peer, compute, 0.001);
        if (call.kind == 1) job.receive(call.rank, peer, compute, 0.001);
        if (call.kind == 2) job.barrier(call.rank, compute, 0.001);
      }
      for (auto& [rank, ns] : job.lasted) ns = 0;  // the timeline is not stretched
      return with_slack(job);
    };
    const CriticalPath before = made(calls.size(), 0);
    const double end = static_cast<double>(before.end_ns) / kMs;
    for (int trial = 0; trial < 6; ++trial) {
      const std::size_t at = random() % calls.size();
      CAPTURE(run, at, calls[at].rank);
      double slack = -1;
      for (const PlaceSlack& place : *before.slack)
        if (place.path / 1000 == at + 1 && place.stream == calls[at].rank)
          slack = static_cast<double>(place.slack.least_ns) / kMs;
      REQUIRE(slack >= 0);
      const double later = static_cast<double>(made(at, slack + 8).end_ns) / kMs;
      CHECK(later == Approx(end + 8).margin(0.02 * end));
      const double same = static_cast<double>(made(at, 0.9 * slack).end_ns) / kMs;
      CHECK(same == Approx(end).margin(0.02 * end));
    }
  }
}
