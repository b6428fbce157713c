// SPDX-License-Identifier: BSD-3-Clause
/// Runs with something otherwise, of timelines whose answers are known.

#include <limits>

#include "analysis/efficiency.h"
#include "analysis/what_if.h"
#include "unit/catch.h"
#include "unit/timed_job.h"

using namespace chameleon;
using namespace chameleon::analysis;
using chameleon::testing::TraceBuilder;

namespace {

enum : std::uint16_t { kSend = 1, kRecv, kBarrier, kBcast, kScan };
constexpr std::int64_t kInt = -3;
constexpr std::uint64_t kMs = 1'000'000;
constexpr double kIdeal = std::numeric_limits<double>::infinity();

struct Job : TraceBuilder {
  explicit Job(std::uint32_t ranks_) : TraceBuilder(ranks_), ranks(ranks_) {
    call(kSend, "Send");
    call(kRecv, "Recv");
    call(kBarrier, "Barrier");
    call(kBcast, "Bcast");
    call(kScan, "Scan");
  }
  std::int64_t rank_of(std::uint32_t self, std::uint32_t other) const {
    return pack_rank(static_cast<std::int32_t>(other), static_cast<std::int32_t>(self),
                     static_cast<std::int32_t>(ranks));
  }
  void send(std::uint32_t from, std::uint32_t to, std::uint64_t compute, std::uint64_t inside) {
    push(from, kSend, {0, 1, kInt, rank_of(from, to), 7, 0}, compute, inside);
  }
  void receive(std::uint32_t at, std::uint32_t from, std::uint64_t compute, std::uint64_t inside) {
    push(at, kRecv, {0, 1, kInt, rank_of(at, from), 7, 0, kNotRecorded, kNotRecorded, kNotRecorded},
         compute, inside);
  }
  void barrier(std::uint32_t rank, std::uint64_t compute, std::uint64_t inside) {
    push(rank, kBarrier, {0}, compute, inside);
  }
  std::uint32_t ranks;
};

Assumption network(double factor) { return {Assumption::Kind::kNetwork, factor, {}, {}}; }
Assumption balance() { return {Assumption::Kind::kBalance, 1, {}, {}}; }
Assumption speed(std::uint16_t call, double factor) {
  return {Assumption::Kind::kSpeed, factor, {}, [=](std::uint64_t path) {
            return path == 100U + call;
          }};
}

/// In ms: without changes, then of each scenario.
std::vector<double> predicted(const Trace& trace, const std::vector<Scenario>& scenarios) {
  const Result<WhatIf> found = what_if(trace, scenarios);
  REQUIRE(found);
  CHECK(found->unmatched == 0);
  CHECK(found->model_ns == found->run_ns);
  std::vector<double> ms = {found->run_ns / kMs};
  for (const double ns : found->predicted_ns) ms.push_back(ns / kMs);
  return ms;
}

}  // namespace

TEST_CASE("a run that waits for its slowest rank gains what balance gives, and no more") {
  Job job(4);
  for (std::uint32_t rank = 0; rank < 4; ++rank)
    job.barrier(rank, rank == 3 ? 40 * kMs : 10 * kMs, rank == 3 ? 2 * kMs : 32 * kMs);
  const std::vector<double> ms =
      predicted(job.build(), {{},
                              {balance()},
                              {network(kIdeal)},
                              {network(2)},
                              {speed(kBarrier, 2)},
                              {speed(kSend, 2)},
                              {balance(), network(kIdeal)},
                              {balance(), speed(kBarrier, 2), network(2)}});
  CHECK(ms == std::vector<double>{42, 42, 19.5, 40, 41, 22, 42, 17.5, 9.75});
}

TEST_CASE("balance makes what ranks compute in all equal, before different calls too") {
  Job job(2);
  for (const std::uint32_t rank : {0U, 1U}) {
    for (int step = 0; step < (rank == 0 ? 3 : 1); ++step)
      job.push(rank, kSend, {0, 1, kInt, job.rank_of(rank, 1 - rank), 9, 0}, 10 * kMs, 0);
    job.barrier(rank, 0, 20 * kMs);
  }
  Trace trace = job.build();
  const Result<WhatIf> found = what_if(trace, {{balance()}});
  REQUIRE(found);
  CHECK(found->run_ns / found->predicted_ns[0] == Approx(30.0 / 20).epsilon(0.4));
  CHECK(found->predicted_ns[0] < found->run_ns);
}

TEST_CASE("the chain of ranks that wait for each other goes as fast as its slowest link") {
  Job job(4);
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    // Ranks that computed alike would share their times in calls.
    const std::uint64_t before = rank * kMs / 10;
    if (rank > 0) job.receive(rank, rank - 1, before, 12 * rank * kMs - before);
    job.send(rank, (rank + 1) % 4, 10 * kMs, 1);
  }
  // Each message is there 2 ms after it was sent; the last one comes back to rank 0.
  job.receive(0, 3, 0, 38 * kMs);
  const std::vector<double> ms = predicted(
      job.build(), {{network(kIdeal)}, {speed(kSend, 2)}, {speed(kSend, 2), network(kIdeal)}});
  CHECK(ms[0] == Approx(48));
  CHECK(ms[1] == Approx(40));
  CHECK(ms[2] == Approx(28));
  CHECK(ms[3] == Approx(20));
}

TEST_CASE("what waits for the root, or for the ranks before, gains with those") {
  SECTION("the root of a broadcast is late") {
    Job job(3);
    for (std::uint32_t rank = 0; rank < 3; ++rank)
      job.push(rank, kBcast, {0, 1, kInt, job.rank_of(rank, 0), 0}, rank == 0 ? 30 * kMs : kMs,
               rank == 0 ? kMs : 31 * kMs);
    CHECK(predicted(job.build(), {{network(kIdeal)}, {speed(kBcast, 10)}})[2] == Approx(5));
  }
  SECTION("a later rank of a scan is late: nobody before waits for it") {
    Job job(3);
    for (std::uint32_t rank = 0; rank < 3; ++rank)
      job.push(rank, kScan, {0, 0, 1, kInt, 0, 0}, rank == 1 ? 30 * kMs : (1 + rank) * kMs,
               rank == 2 ? 29 * kMs : 2 * kMs);
    const std::vector<double> ms =
        predicted(job.build(), {{network(kIdeal)}, {speed(kScan, 10)}, {balance()}});
    CHECK(ms[0] == Approx(32));
    CHECK(ms[1] == Approx(30));
    CHECK(ms[2] == Approx(5));
    CHECK(ms[3] == Approx(34.0 / 3 + 2));
  }
}

TEST_CASE("the ideal network is that of the efficiencies") {
  Job job(2);
  job.send(0, 1, 10 * kMs, 2 * kMs);
  job.receive(0, 1, 0, 33 * kMs);
  job.barrier(0, 10 * kMs, 5 * kMs);
  job.receive(1, 0, 0, 12 * kMs);
  job.send(1, 0, 30 * kMs, 3 * kMs);
  job.barrier(1, 0, 15 * kMs);
  const Trace trace = job.build();
  const Result<Efficiency> efficiency = efficiency_of(trace);
  REQUIRE(efficiency);
  CHECK(predicted(trace, {{network(kIdeal)}})[1] == Approx(efficiency->ideal_ns / kMs));
}

TEST_CASE("many scenarios take several runs, an empty list none") {
  Job job(2);
  for (std::uint32_t rank = 0; rank < 2; ++rank) job.barrier(rank, 8 * kMs, 2 * kMs);
  const Trace trace = job.build();
  std::vector<Scenario> scenarios;
  for (int i = 1; i <= 17; ++i) scenarios.push_back({network(i)});
  const std::vector<double> ms = predicted(trace, scenarios);
  REQUIRE(ms.size() == 18);
  for (int i = 1; i <= 17; ++i)
    CHECK(ms[static_cast<std::size_t>(i)] == Approx(8 + 2.0 / i).epsilon(1e-6));
  CHECK(predicted(trace, {}) == std::vector<double>{10});
}

TEST_CASE("a stretch alone is balanced") {
  Job job(2);
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    job.barrier(rank, rank == 0 ? 10 * kMs : 30 * kMs, rank == 0 ? 22 * kMs : 2 * kMs);
    job.push(rank, kScan, {0, 0, 1, kInt, 0, 0}, rank == 0 ? 30 * kMs : 10 * kMs,
             rank == 0 ? 2 * kMs : 22 * kMs);
  }
  Assumption first = balance();
  first.within_ns = {0, 32 * kMs};
  const std::vector<double> ms = predicted(job.build(), {{first}});
  CHECK(ms[0] == Approx(64));
  CHECK(ms[1] == Approx(54));
}

TEST_CASE("ranks on other nodes have other neighbours") {
  // Ranks 0 and 1 are on one node, 2 and 3 on another. In each step 0 sends to 1 and 2 to 3, which
  // takes 1 ms, then 1 to 2 and 3 to 0, which takes 4.
  chameleon::testing::TimedJob job(4);
  for (int step = 0; step < 10; ++step) {
    for (const std::uint32_t rank : {0U, 2U}) {
      job.send(rank, rank + 1, 10, 1);
      job.receive(rank + 1, rank, 0, 11);
    }
    for (const std::uint32_t rank : {1U, 3U}) {
      job.send(rank, (rank + 1) % 4, 10, 4);
      job.receive((rank + 1) % 4, rank, 0, 14);
    }
  }
  Trace trace = job.full();
  for (std::uint32_t rank = 0; rank < 4; ++rank) trace.facts[rank].host = rank < 2 ? "a" : "b";
  const auto placed = [](double ranks) {
    return Assumption{Assumption::Kind::kRanksPerNode, ranks, {}, {}};
  };
  const Result<WhatIf> found = what_if(trace, {{placed(2)}, {placed(4)}, {placed(1)}});
  REQUIRE(found);
  CHECK(found->predicted_ns[0] == Approx(found->run_ns).epsilon(0.01));
  // On one node all take 1 ms, on four nodes all take 4.
  CHECK(found->run_ns - found->predicted_ns[1] == Approx(30 * kMs).epsilon(0.25));
  CHECK(found->predicted_ns[2] - found->run_ns == Approx(30 * kMs).epsilon(0.25));
  for (std::uint32_t rank = 0; rank < 4; ++rank) trace.facts[rank].host = "a";
  const Result<WhatIf> refused = what_if(trace, {{placed(2)}});
  REQUIRE(!refused);
  CHECK(refused.error().kind == ErrorKind::kUsage);
}
