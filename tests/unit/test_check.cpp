// SPDX-License-Identifier: BSD-3-Clause
#include "unit/check_job.h"

using namespace chameleon;
using namespace chameleon::analysis;
using namespace chameleon::testing;
using Job = CheckJob;

TEST_CASE("a ring in a loop is consistent") {
  Job job(5);
  for (int i = 0; i < 100; ++i)
    for (int rank = 0; rank < 5; ++rank) {
      job.send(rank, (rank + 1) % 5, 7);
      job.recv(rank, (rank + 4) % 5, 7);
    }
  job.finalize();
  const CheckReport report = job.checked();
  CHECK(report.ok);
  CHECK(report.events == 1005);
  CHECK(report.messages == 500);
  CHECK(report.bytes == 2000);
}

TEST_CASE("receives that wait for each other are a deadlock, all of it named") {
  Job job(2);
  job.recv(0, 1, 0);
  job.recv(1, 0, 0);
  job.send(0, 1, 0);
  job.send(1, 0, 0);
  job.finalize();
  const CheckReport report = job.checked();
  CHECK_FALSE(report.ok);
  CHECK(report.problem_count == 2);
  CHECK(names(report, "deadlock", "rank 0 event 1 (Recv)"));
  CHECK(names(report, "deadlock", "rank 1 event 1 (Recv)"));
}

TEST_CASE("a message nobody receives is named; a cut trace only lists it") {
  Job job(2);
  job.complete = GENERATE(true, false);
  job.send(0, 1, 3);
  job.send(0, 1, 3);
  job.finalize();
  const CheckReport report = job.checked();
  CHECK(report.ok == !job.complete);
  const auto& list = job.complete ? report.problems : report.cut;
  REQUIRE(list.size() == 1);
  CHECK(list[0].kind == "unreceived");
  CHECK(list[0].text.find("2 messages to world rank 1 with tag 3") != std::string::npos);
}

TEST_CASE("a message longer than its receive is named") {
  Job job(2);
  job.send(0, 1, 0, 3);
  job.recv(1, 0, 0, 2);
  job.finalize();
  CHECK(names(job.checked(), "truncation", "at most 8 bytes, but world rank 0 sends 12"));
}

TEST_CASE("derived datatypes have the size of their data") {
  Job job(2);
  for (std::uint32_t rank = 0; rank < 2; ++rank) job.push(rank, kContiguous, {10, kInt, 0});
  job.push(0, kSend, {0, 2, 0, job.at(1, 0), 0, 0});
  job.recv(1, 0, 0, 20);
  job.finalize();
  const CheckReport report = job.checked();
  CHECK(report.ok);
  CHECK(report.bytes == 80);
}

TEST_CASE("wildcards take what the run matched, before receives posted later") {
  Job job(2);
  job.irecv(1, Job::any(), 0, 0, 1);
  job.irecv(1, job.at(0, 1), 0, 1, 1);
  // The second message is sent only in answer to the first.
  job.send(0, 1, 0);
  job.recv(0, 1, 9);
  job.send(0, 1, 0);
  job.wait(1, 0, job.at(0, 1));
  job.send(1, 0, 9);
  job.wait(1, 1);
  job.finalize();
  CHECK(job.checked().ok);
}

TEST_CASE("persistent requests, sendrecv, nonblocking collectives") {
  Job job(2);
  for (int rank = 0; rank < 2; ++rank) {
    const auto self = static_cast<std::uint32_t>(rank);
    const std::int64_t other = job.at(1 - rank, rank);
    job.push(self, kSendInit, {0, 1, kInt, other, 0, 0, 0});
    job.push(self, kRecvInit, {0, 1, kInt, other, 0, 0, 1});
    for (int i = 0; i < 3; ++i) {
      const std::int64_t empty = job.array({});
      job.push(self, kIbarrier, {0, 2});
      job.push(self, kStartall, {2, job.array({0, 1})});
      job.push(self, kWaitall, {3, job.array({0, 1, 2}), empty, empty, empty});
      job.push(
          self, kSendrecv,
          {0, 1, kInt, other, 5, 0, 1, kInt, other, 5, 0, Job::none(), kNotRecorded, kNotRecorded});
    }
  }
  job.finalize();
  const CheckReport report = job.checked();
  CHECK(report.ok);
  CHECK(report.messages == 12);
}

TEST_CASE("a request nobody completes is named, a cancelled one is not") {
  Job job(2);
  const bool cancelled = GENERATE(false, true);
  job.irecv(0, job.at(1, 0), 0, 0);
  if (cancelled) {
    job.push(0, kCancel, {0});
    job.wait(0, 0);
  }
  job.finalize();
  const CheckReport report = job.checked();
  CHECK(report.ok == cancelled);
  if (!cancelled) CHECK(names(report, "incomplete_request", "rank 0 event 1 (Irecv)"));
  CHECK(report.open_requests == 0);
}

TEST_CASE("a request of nobody else's may stay open") {
  Job job(2);
  job.irecv(0, pack_special(SpecialRank::kProcNull), 0, 0);
  job.finalize();
  const CheckReport report = job.checked();
  CHECK(report.ok);
  CHECK(report.open_requests == 1);
}

TEST_CASE("calls without a model are listed") {
  Job job(1);
  job.push(0, kPut, {0, 0});
  job.push(0, kPut, {0, 0});
  job.finalize();
  const CheckReport report = job.checked();
  CHECK(report.ok);
  CHECK(report.unchecked.at("Put") == 2);
}

TEST_CASE("ping-pong over many iterations runs in bounded memory", "[.speed]") {
  Job job(2);
  for (int i = 0; i < 2500000; ++i) {
    job.send(0, 1, 0);
    job.recv(0, 1, 0);
    job.recv(1, 0, 0);
    job.send(1, 0, 0);
  }
  job.finalize();
  const CheckReport report = job.checked();
  CHECK(report.ok);
  CHECK(report.events == 10000002);
}

namespace {

/// Rank 0 sends `sent` partitions of one int, twice; rank 1 receives `received` of two.
CheckReport partitioned(int sent, int received) {
  Job job(2);
  job.push(0, kPsendInit, {0, sent, 1, kInt, job.at(1, 0), 5, 0, -1, 0});
  job.push(1, kPrecvInit, {0, received, 2, kInt, job.at(0, 1), 5, 0, -1, 0});
  for (int round = 0; round < 2; ++round)
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
      job.push(rank, kStartall, {1, job.array({0})});
      job.push(rank, kWaitall, {1, job.array({0}), job.array({}), job.array({}), job.array({})});
    }
  job.finalize();
  return job.checked();
}

}  // namespace

TEST_CASE("partitioned messages are of all their partitions") {
  const CheckReport report = partitioned(4, 2);
  CHECK(report.ok);
  CHECK(report.messages == 2);
  CHECK(report.bytes == 32);
  CHECK(names(partitioned(6, 2), "truncation", "receives at most 16 bytes"));
}

TEST_CASE("a partitioned message is no ordinary one's") {
  Job job(2);
  job.push(0, kPsendInit, {0, 1, 1, kInt, job.at(1, 0), 5, 0, -1, 0});
  job.push(0, kStartall, {1, job.array({0})});
  job.recv(1, 0, 5);
  CHECK(names(job.checked(), "deadlock", "no message from world rank 0"));
}
