// SPDX-License-Identifier: BSD-3-Clause
/// Critical paths of hand-made traces in which they are known.

#include <catch2/catch.hpp>

#include "analysis/critical_path.h"
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
