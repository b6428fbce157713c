// SPDX-License-Identifier: BSD-3-Clause
/// What ranks waited for whom, of hand-made traces in which it is known.

#include "analysis/place_waits.h"
#include "unit/catch.h"
#include "unit/timed_job.h"

using namespace chameleon;
using namespace chameleon::analysis;
using chameleon::testing::TimedJob;

namespace {

constexpr double kMs = TimedJob::kMs;
constexpr double kNear = 0.02;  // times are recorded within 1/128

struct Expected {
  WaitClass kind;
  double ms;
};

/// Of a stream at a call: these waits and no others, in ms.
void check(const WaitReport& waits, std::uint32_t stream, std::uint16_t call,
           const std::vector<Expected>& expected) {
  CAPTURE(stream, call);
  std::array<double, kWaitClasses> ms{};
  for (const Expected& one : expected) ms[static_cast<std::size_t>(one.kind)] = one.ms;
  bool found = expected.empty();
  for (const PlaceWait& place : waits.places) {
    if (place.stream != stream || place.call != call) continue;
    found = true;
    for (std::size_t i = 0; i < kWaitClasses; ++i) {
      CAPTURE(kWaitWords[i]);
      CHECK(place.times.waited_ns[i] / kMs == Approx(ms[i]).epsilon(kNear).margin(0.3));
    }
    CHECK(place.times.in_calls_ns() + place.times.transfer_ns <= 1.001 * place.times.call_ns);
  }
  CHECK(found);
}

WaitReport waits(TimedJob& job) {
  Result<WaitReport> found = waits_of(job.full());
  REQUIRE(found);
  CHECK(found->unmatched == 0);
  return std::move(*found);
}

}  // namespace

TEST_CASE("a receive waits for its sender, and no longer than until the message is sent") {
  TimedJob job(3);
  for (int step = 0; step < 10; ++step) {
    job.send(0, 1, 30, 1);
    job.receive(1, 0, 10, 22);  // 20 for the sender, 2 of transfer
    job.receive(2, 1, 40, 1);   // there already
    job.send(1, 2, 1, 1);
    for (std::uint32_t rank = 0; rank < 3; ++rank)
      job.barrier(rank, 1, std::vector<double>{12, 9, 2}[rank]);
  }
  const WaitReport found = waits(job);
  check(found, 1, TimedJob::kRecv, {{WaitClass::kLateSender, 200}});
  check(found, 2, TimedJob::kRecv, {});
  check(found, 0, TimedJob::kSend, {});
  check(found, 0, TimedJob::kBarrier, {{WaitClass::kBarrier, 100}});
  check(found, 1, TimedJob::kBarrier, {{WaitClass::kBarrier, 70}});
  check(found, 2, TimedJob::kBarrier, {});
  CHECK(found.all.at(WaitClass::kBarrier) / kMs == Approx(170).epsilon(kNear));
  const std::vector<PlaceWait> places = found.by_place();
  CHECK(places.front().call == TimedJob::kRecv);
  CHECK(places.front().times.events == 20);
  CHECK(places.front().times.transfer_ns / kMs == Approx(20).epsilon(0.2));
}

TEST_CASE("a send that outlasts the post of its receive waits for the receiver") {
  TimedJob job(2);
  for (int step = 0; step < 5; ++step) {
    job.send(0, 1, 10, 21);
    job.receive(1, 0, 30, 1);
  }
  const WaitReport found = waits(job);
  check(found, 0, TimedJob::kSend, {{WaitClass::kLateReceiver, 100}});
  check(found, 1, TimedJob::kRecv, {});
}

TEST_CASE("waits for several partners at once count once") {
  TimedJob job(3);
  for (int step = 0; step < 5; ++step) {
    // Rank 0 receives from 1 and sends to 1 and 2, who post late: at 20, 30 and 35.
    job.irecv(0, 1, 0, 0);
    job.isend(0, 1, 1, 0);
    job.isend(0, 2, 2, 10);
    job.waitall(0, {0, 1, 2}, 0, 26);
    job.send(1, 0, 20, 0);
    job.receive(1, 0, 10, 1);
    job.receive(2, 0, 35, 1);
    for (std::uint32_t rank = 0; rank < 3; ++rank) job.barrier(rank, rank == 1 ? 5 : 0, 1);
  }
  const WaitReport found = waits(job);
  check(found, 0, TimedJob::kWaitall,
        {{WaitClass::kLateSender, 50}, {WaitClass::kLateReceiver, 75}});
}

TEST_CASE("collectives wait for all, for their root, as the root, or for lower ranks") {
  TimedJob job(3);
  for (int step = 0; step < 4; ++step) {
    for (std::uint32_t rank = 0; rank < 3; ++rank)
      job.reduction(rank, TimedJob::kAllreduce, rank == 2 ? 25 : 5, rank == 2 ? 1 : 21);
    for (std::uint32_t rank = 0; rank < 3; ++rank)
      job.broadcast(rank, 1, rank == 1 ? 15 : 5, rank == 1 ? 1 : 11);
    for (std::uint32_t rank = 0; rank < 3; ++rank)
      job.reduce(rank, 0, rank == 1 ? 35 : 5, rank == 0 ? 31 : 1);
    for (std::uint32_t rank = 0; rank < 3; ++rank)
      job.reduction(rank, TimedJob::kScan, std::vector<double>{1, 11, 31}[rank],
                    std::vector<double>{1, 1, 1}[rank]);
    for (std::uint32_t rank = 0; rank < 3; ++rank)
      job.barrier(rank, 0, std::vector<double>{14, 4, 14}[rank]);
  }
  const WaitReport found = waits(job);
  for (const std::uint32_t rank : {0U, 1U})
    check(found, rank, TimedJob::kAllreduce, {{WaitClass::kAllToAll, 80}});
  check(found, 2, TimedJob::kAllreduce, {});
  for (const std::uint32_t rank : {0U, 2U})
    check(found, rank, TimedJob::kBcast, {{WaitClass::kLateRoot, 40}});
  check(found, 0, TimedJob::kReduce, {{WaitClass::kEarlyRoot, 120}});
  check(found, 1, TimedJob::kReduce, {});
  check(found, 2, TimedJob::kReduce, {});
}

TEST_CASE("what takes longer than it can without a late rank is excess") {
  TimedJob job(2);
  for (int step = 0; step < 50; ++step) {
    const double inside = step % 5 == 4 ? 9 : 1;
    for (std::uint32_t rank = 0; rank < 2; ++rank)
      job.reduction(rank, TimedJob::kAllreduce, 10, inside);
  }
  const WaitReport found = waits(job);
  CHECK(found.all.in_calls_ns() / kMs == Approx(0).margin(5));
  CHECK(found.all.transfer_ns / kMs == Approx(100).epsilon(0.15));
  CHECK(found.all.excess_ns() / kMs == Approx(160).epsilon(0.15));
  CHECK(found.all.events == 100);
}

TEST_CASE("waits below the clocks' error are undecided") {
  TimedJob job(2);
  for (std::uint32_t rank = 0; rank < 2; ++rank) job.barrier(rank, rank == 0 ? 1 : 9, 1);
  for (std::uint32_t rank = 0; rank < 2; ++rank) job.barrier(rank, rank == 0 ? 60 : 1, 1);
  Trace trace = job.full();
  for (const std::uint32_t rank : {0U, 1U}) {
    trace.facts[rank].clock_samples = 4;
    trace.facts[rank].clock_error_ns = 3 * static_cast<std::uint64_t>(kMs);
  }
  const Result<WaitReport> found = waits_of(trace);
  REQUIRE(found);
  CHECK(found->clock_error_ns == 3 * static_cast<std::uint64_t>(kMs));
  CHECK(found->undecided_ns / kMs == Approx(2).epsilon(0.6));
}

TEST_CASE("what a trace must have for waits is said") {
  Trace trace;
  trace.timing = "none";
  CHECK(lacks_times(trace).value().find("CHAMELEON_TIMING") != std::string::npos);
  trace.timing = "histogram";
  CHECK(!lacks_times(trace));
  trace.threads = 2;
  CHECK(lacks_times(trace));
}
