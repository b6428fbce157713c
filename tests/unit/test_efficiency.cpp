// SPDX-License-Identifier: BSD-3-Clause
/// POP's efficiencies of timelines whose answers are known.

#include "analysis/efficiency.h"
#include "unit/catch.h"
#include "unit/trace_builder.h"

using namespace chameleon;
using namespace chameleon::analysis;
using chameleon::testing::TraceBuilder;

namespace {

enum : std::uint16_t { kSend = 1, kRecv, kBarrier };
constexpr std::int64_t kInt = -3;
constexpr std::uint64_t kMs = 1'000'000;

struct Job : TraceBuilder {
  explicit Job(std::uint32_t ranks_) : TraceBuilder(ranks_), ranks(ranks_) {
    call(kSend, "Send");
    call(kRecv, "Recv");
    call(kBarrier, "Barrier");
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
  Efficiency efficiency() {
    const Trace trace = build();
    const Result<Efficiency> found = efficiency_of(trace);
    REQUIRE(found);
    return *found;
  }
  std::uint32_t ranks;
};

}  // namespace

TEST_CASE("a run that only waits for its slowest rank loses by load balance alone") {
  Job job(4);
  // Rank 3 computes for 40 ms, the others for 10; each waits for it.
  for (std::uint32_t rank = 0; rank < 4; ++rank)
    job.barrier(rank, rank == 3 ? 40 * kMs : 10 * kMs, rank == 3 ? 1 : 30 * kMs);
  const Efficiency found = job.efficiency();
  CHECK(found.ranks == 4);
  CHECK(found.load_balance() == 17.5 / 40);
  CHECK(found.communication() == Approx(1).epsilon(1e-6));
  CHECK(found.serialisation() == 1);
  CHECK(found.parallel() == Approx(17.5 / 40).epsilon(1e-6));
}

TEST_CASE("a chain of ranks that wait for each other loses by serialisation alone") {
  Job job(4);
  // Each computes for 10 ms once the rank before it has.
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    if (rank > 0) job.receive(rank, rank - 1, 0, 1);
    if (rank < 3)
      job.send(rank, rank + 1, 10 * kMs, 1);
    else
      job.push(rank, kSend, {0, 1, kInt, job.rank_of(3, 0), 9, 0}, 10 * kMs, 1);
  }
  const Efficiency found = job.efficiency();
  CHECK(found.load_balance() == 1);
  CHECK(found.ideal_ns == 40.0 * kMs);
  CHECK(found.serialisation() == 0.25);
  CHECK(found.transfer() == Approx(1).epsilon(1e-6));
  CHECK(found.parallel() == Approx(0.25).epsilon(1e-6));
}

TEST_CASE("calls that take their time with nobody late lose by transfer alone") {
  Job job(2);
  for (int step = 0; step < 3; ++step)
    for (std::uint32_t rank = 0; rank < 2; ++rank) job.barrier(rank, 6 * kMs, 4 * kMs);
  const Efficiency found = job.efficiency();
  CHECK(found.run_ns == 30.0 * kMs);
  CHECK(found.ideal_ns == 18.0 * kMs);
  CHECK(found.load_balance() == 1);
  CHECK(found.serialisation() == 1);
  CHECK(found.transfer() == 0.6);
  CHECK(found.communication() == 0.6);
}

TEST_CASE("all losses at once multiply to the whole") {
  Job job(2);
  // Rank 0: 10 ms, then 2 ms in the send. Rank 1 waits for it, computes 30 ms, sends back in 3 ms;
  // rank 0 has waited and computes for another 10 ms.
  job.send(0, 1, 10 * kMs, 2 * kMs);
  job.receive(0, 1, 0, 33 * kMs);
  job.barrier(0, 10 * kMs, 5 * kMs);
  job.receive(1, 0, 0, 12 * kMs);
  job.send(1, 0, 30 * kMs, 3 * kMs);
  job.barrier(1, 0, 15 * kMs);
  const Efficiency found = job.efficiency();
  CHECK(found.run_ns == 60.0 * kMs);
  CHECK(found.ideal_ns == 50.0 * kMs);
  CHECK(found.most_compute_ns == 30.0 * kMs);
  CHECK(found.load_balance() == Approx(25.0 / 30));
  CHECK(found.serialisation() == Approx(30.0 / 50));
  CHECK(found.transfer() == Approx(50.0 / 60));
  CHECK(found.communication() == Approx(0.5));
  CHECK(found.parallel() == Approx(25.0 / 60));
  CHECK(found.serialisation() * found.transfer() == Approx(found.communication()));
}

TEST_CASE("computing of several runs scales") {
  Efficiency small, large;
  small.ranks = 4;
  small.compute_ns = 400;
  large.ranks = 16;
  large.compute_ns = 500;
  CHECK(computation_scalability(small, large, false) == 0.8);
  CHECK(computation_scalability(small, small, false) == 1);
  large.compute_ns = 2000;
  CHECK(computation_scalability(small, large, true) == 0.8);
  CHECK(Efficiency().parallel() == 0);
}
