// SPDX-License-Identifier: BSD-3-Clause

#include "analysis/load.h"
#include "unit/catch.h"
#include "unit/trace_builder.h"

using namespace chameleon;
using namespace chameleon::analysis;
using namespace chameleon::compress;
using chameleon::testing::TraceBuilder;

namespace {

enum : std::uint16_t { kBarrier = 1, kReduce, kFinalize };
constexpr std::uint64_t kMs = 1'000'000;

struct Job : TraceBuilder {
  explicit Job(std::uint32_t ranks) : TraceBuilder(ranks) {
    call(kBarrier, "Barrier", {"comm:comm"});
    call(kReduce, "Allreduce", {"count:count", "comm:comm"});
    call(kFinalize, "Finalize", {});
  }
};

const PlaceLoad& place(const Load& load, std::uint16_t call) {
  for (const PlaceLoad& one : load.places)
    if (one.call == call) return one;
  FAIL("no place of call " << call);
  return load.places.front();
}

}  // namespace

TEST_CASE("what each rank computes and spends in calls") {
  Job job(4);
  constexpr int kSteps = 10;
  // Rank 3 computes four times as long and waits for nobody.
  for (std::uint32_t rank = 0; rank < 4; ++rank)
    for (int step = 0; step < kSteps; ++step)
      job.push(rank, kBarrier, {0}, rank == 3 ? 4 * kMs : kMs, rank == 3 ? 0 : 3 * kMs);
  const Result<Load> load = load_of(job.build());
  REQUIRE(load);
  REQUIRE(load->ranks.size() == 4);
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    CAPTURE(rank);
    CHECK(load->ranks[rank].rank == rank);
    CHECK(load->ranks[rank].events == kSteps);
    CHECK(load->ranks[rank].compute_ns == Approx(kSteps * kMs * (rank == 3 ? 4.0 : 1.0)));
    CHECK(load->ranks[rank].call_ns == Approx(kSteps * kMs * (rank == 3 ? 0.0 : 3.0)));
  }
  // Load balance 7/16, communication efficiency 1: POP's numbers follow from these.
  CHECK(load->mean_compute_ns() == Approx(17.5 * kMs));
  CHECK(load->most_compute_ns() == Approx(40.0 * kMs));
  CHECK(load->run_ns() == Approx(40.0 * kMs));
}

TEST_CASE("places by how much the slowest ranks are behind the mean") {
  Job job(4);
  for (std::uint32_t rank = 0; rank < 4; ++rank)
    for (int step = 0; step < 5; ++step) {
      job.push(rank, kReduce, {1, 0}, 2 * kMs);                     // shared evenly
      job.push(rank, kBarrier, {0}, rank % 2 == 0 ? 9 * kMs : kMs,  // by the even ranks
               rank % 2 == 0 ? 3 * kMs : 7 * kMs);
    }
  const Result<Load> load = load_of(job.build());
  REQUIRE(load);
  CHECK_FALSE(load->places_left_out);
  REQUIRE(load->places.size() == 2);
  CHECK(load->places.front().call == kBarrier);

  const PlaceLoad& uneven = place(*load, kBarrier);
  CHECK(uneven.ranks == 4);
  CHECK(uneven.compute.sum_ns == Approx(5.0 * 20 * kMs));
  CHECK(uneven.compute.mean_ns == Approx(5.0 * 5 * kMs));
  CHECK(uneven.compute.least_ns == Approx(5.0 * kMs));
  CHECK(uneven.compute.most_ns == Approx(5.0 * 9 * kMs));
  CHECK(uneven.compute.slowest.ranks() == std::vector<std::uint32_t>{0, 2});

  CHECK(uneven.in_call.sum_ns == Approx(5.0 * (2 * 3 + 2 * 7) * kMs));
  CHECK(uneven.in_call.most_ns == Approx(5.0 * 7 * kMs));
  CHECK(uneven.in_call.slowest.ranks() == std::vector<std::uint32_t>{1, 3});

  const PlaceLoad& even = place(*load, kReduce);
  CHECK(even.compute.least_ns == Approx(even.compute.most_ns));
  CHECK(even.compute.slowest.size() == 4);
}

TEST_CASE("a place that some ranks never come to is shared among the others") {
  Job job(3);
  for (std::uint32_t rank = 0; rank < 3; ++rank) {
    if (rank != 1) job.push(rank, kReduce, {1, 0}, (rank + 1) * kMs);
    job.push(rank, kFinalize, {}, kMs);
  }
  const Result<Load> load = load_of(job.build());
  REQUIRE(load);
  const PlaceLoad& some = place(*load, kReduce);
  CHECK(some.ranks == 2);
  CHECK(some.compute.mean_ns == Approx(2.0 * kMs));
  CHECK(some.compute.least_ns == Approx(1.0 * kMs));
  CHECK(some.compute.slowest.ranks() == std::vector<std::uint32_t>{2});
  CHECK(place(*load, kFinalize).ranks == 3);
  CHECK(load->ranks[1].compute_ns == Approx(1.0 * kMs));
}

TEST_CASE("ranks that a distribution does not tell apart share it") {
  Job job(2);
  // Near enough for one histogram: each rank is given its mean.
  for (std::uint32_t rank = 0; rank < 2; ++rank)
    job.push(rank, kBarrier, {0}, rank == 0 ? 1000 : 1001);
  const Result<Load> load = load_of(job.build());
  REQUIRE(load);
  CHECK(load->ranks[0].compute_ns == Approx(1000.5));
  CHECK(load->ranks[0].compute_ns == load->ranks[1].compute_ns);
}

TEST_CASE("nothing is nobody's load") {
  const Result<Load> load = load_of(Trace());
  REQUIRE(load);
  CHECK(load->ranks.empty());
  CHECK(load->places.empty());
  CHECK(load->mean_compute_ns() == 0);
  CHECK(load->most_compute_ns() == 0);
  CHECK(load->run_ns() == 0);
}
