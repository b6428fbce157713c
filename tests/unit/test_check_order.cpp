// SPDX-License-Identifier: BSD-3-Clause
// Orders in which a program may call collectives on its ranks, and `check` finds nothing wrong.

#include "analysis/check.h"
#include "analysis/timeline.h"
#include "unit/catch.h"
#include "unit/trace_builder.h"

using namespace chameleon;
using namespace chameleon::analysis;
using namespace chameleon::testing;

namespace {

constexpr std::int64_t kInt = -2;
enum Call : std::uint16_t { kSend = 1, kRecv, kScan, kBarrier, kIdup, kGroup, kWait, kFinalize };

struct Job : TraceBuilder {
  explicit Job(std::uint32_t ranks) : TraceBuilder(ranks), size(ranks) {
    call(kSend, "Send");
    call(kRecv, "Recv");
    call(kScan, "Scan");
    call(kBarrier, "Barrier");
    call(kIdup, "Comm_idup", {"comm:comm", "newcomm:comm", "request:request", "members:members:a"});
    call(kGroup, "Comm_create_group");
    call(kWait, "Wait");
    call(kFinalize, "Finalize", {});
  }
  std::int64_t at(std::uint32_t rank, std::uint32_t self) const {
    return pack_rank(static_cast<std::int32_t>(rank), static_cast<std::int32_t>(self),
                     static_cast<std::int32_t>(size));
  }
  static std::int64_t none() { return pack_special(SpecialRank::kNone); }
  void send(std::uint32_t self, std::uint32_t to) {
    push(self, kSend, {0, 1, kInt, at(to, self), 5, 0});
  }
  void receive(std::uint32_t self, std::uint32_t from) {
    push(self, kRecv, {0, 1, kInt, at(from, self), 5, 0, none(), kNotRecorded, kNotRecorded});
  }
  void scan(std::uint32_t self) { push(self, kScan, {0, 0, 1, kInt, -4, 0}); }
  CheckReport checked() {
    for (std::uint32_t rank = 0; rank < size; ++rank) push(rank, kFinalize, {});
    const Trace trace = build();
    Result<CheckReport> report = check(trace);
    REQUIRE(report);
    const Result<TimelineFacts> facts = run_timeline(
        trace, trace.whole_ranks(), [](const TimedEvent&) {}, true);
    REQUIRE(facts);
    CHECK((facts->unmatched == 0) == report->ok);
    return *report;
  }

  std::uint32_t size;
};

}  // namespace

TEST_CASE("in a scan a rank waits for those before it only") {
  Job job(4);
  // Each rank but the first comes when the one before it is through.
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    if (rank > 0) job.receive(rank, rank - 1);
    job.scan(rank);
    if (rank < 3) job.send(rank, rank + 1);
  }
  CHECK(job.checked().ok);
}

TEST_CASE("in a scan a rank does wait for those before it") {
  Job job(3);
  // Rank 1 is to hear from rank 2, which is in the scan and waits for rank 1.
  job.scan(0);
  job.receive(1, 2);
  job.scan(1);
  job.scan(2);
  job.send(2, 1);
  CHECK_FALSE(job.checked().ok);
}

TEST_CASE("communicators made by groups are in no order with those that all make") {
  Job job(2);
  const std::int64_t all = job.array({0, 1});
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    const std::int64_t dup = rank == 0 ? 2 : 3, group = rank == 0 ? 3 : 2;
    if (rank == 0) job.push(rank, kIdup, {0, dup, 0, all});
    job.push(rank, kGroup, {0, 0, 7, group, all});
    if (rank == 1) job.push(rank, kIdup, {0, dup, 0, all});
    job.push(rank, kWait, {0, Job::none(), kNotRecorded, kNotRecorded});
    // On rank 0 in this order, on rank 1 too: they are the same communicators.
    job.push(rank, kBarrier, {dup});
    job.push(rank, kScan, {0, 0, 1, kInt, -4, group});
  }
  CHECK(job.checked().ok);
}
