// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/communicators.h"
#include "analysis/datatype_size.h"
#include "unit/check_job.h"

using namespace chameleon;
using namespace chameleon::analysis;
using namespace chameleon::testing;
using Job = CheckJob;

TEST_CASE("collectives must agree in call, root, op and amount") {
  Job job(3);
  const int wrong = GENERATE(0, 1, 2, 3, 4);
  for (std::uint32_t rank = 0; rank < 3; ++rank) {
    const bool other = rank == 2;
    const auto self = static_cast<int>(rank);
    job.push(rank, kBcast,
             {0, other && wrong == 1 ? 5 : 4, kInt, job.at(other && wrong == 2 ? 1 : 0, self), 0});
    job.push(rank, kAllreduce, {0, 0, 1, kInt, other && wrong == 3 ? kMax : kSum, 0});
    if (other && wrong == 4)
      job.push(rank, kAllreduce, {0, 0, 1, kInt, kSum, 0});
    else
      job.push(rank, kBarrier, {0});
  }
  job.finalize();
  const CheckReport report = job.checked();
  CHECK(report.ok == (wrong == 0));
  if (wrong == 1) CHECK(names(report, "collective", "bytes"));
  if (wrong == 2) CHECK(names(report, "collective", "the root is world rank 1"));
  if (wrong == 3) CHECK(names(report, "collective", "operation"));
  if (wrong == 4) CHECK(names(report, "collective", "another call"));
}

TEST_CASE("a collective one rank never reaches is a deadlock") {
  Job job(3);
  job.push(0, kBarrier, {0});
  job.push(1, kBarrier, {0});
  job.finalize();
  CHECK_FALSE(job.checked().ok);
}

TEST_CASE("alltoallv amounts agree pair by pair") {
  Job job(2);
  const bool wrong = GENERATE(false, true);
  const std::int64_t none = job.array({0, 0});
  job.push(0, kAlltoallv, {0, job.array({1, 2}), none, kInt, 0, job.array({1, 3}), none, kInt, 0});
  job.push(1, kAlltoallv,
           {0, job.array({3, 4}), none, kInt, 0, job.array({wrong ? 3 : 2, wrong ? 3 : 4}), none,
            kInt, 0});
  job.finalize();
  CHECK(job.checked().ok == !wrong);
}

TEST_CASE("what is exchanged with ranks that the trace does not have is not compared") {
  Job job(2);
  const std::int64_t none = job.array({0, 0}), some = job.array({1, 2});
  for (std::uint32_t rank = 0; rank < 2; ++rank)
    job.push(rank, kAlltoallv, {0, some, none, kInt, 0, none, none, kInt, 0});
  Trace trace = job.build();
  CHECK_FALSE(check(trace)->ok);
  trace.ranks = RankList::single(0);
  CHECK(check(trace)->ok);
}

TEST_CASE("an amount beyond 64 bits is not known") {
  Job job(2);
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    job.push(rank, kContiguous, {INT64_MAX / 8, kInt, 0});
    job.push(rank, kAllreduce, {0, 0, 1000 + rank, 0, kSum, 0});
  }
  job.push(0, kSend, {0, 1000, 0, job.at(1, 0), 0, 0});
  job.recv(1, 0, 0);
  job.finalize();
  const CheckReport report = job.checked();
  CHECK(report.ok);
  CHECK(report.bytes == 0);
}

TEST_CASE("communicators are known by their members on every rank") {
  Job job(4);
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    const std::int64_t members = rank % 2 == 0 ? job.array({0, 2}) : job.array({1, 3});
    job.push(rank, kCommSplit, {0, rank % 2, 0, 2, members});
    job.push(rank, kCommDup, {2, 3, members});
    const int self = static_cast<int>(rank) / 2;
    const std::int64_t other = pack_rank(1 - self, self, 2);
    job.push(rank, kIsend, {0, 1, kInt, other, 0, 3, 0});
    job.push(rank, kIrecv, {0, 1, kInt, other, 0, 3, 1});
    const std::int64_t empty = job.array({});
    job.push(rank, kWaitall, {2, job.array({0, 1}), empty, empty, empty});
    job.push(rank, kBarrier, {3});
  }
  job.finalize();
  const CheckReport report = job.checked();
  CHECK(report.ok);
  CHECK(report.messages == 4);
}

TEST_CASE("an intercommunicator has one identity on both sides") {
  Trace trace;
  CallDescription create{"Intercomm_create",
                         {{"return", "int", FieldKind::kPlain},
                          {"local_comm", "comm", FieldKind::kPlain},
                          {"newintercomm", "comm", FieldKind::kPlain},
                          {"members", "members", FieldKind::kArray}}};
  const auto left = static_cast<std::int64_t>(trace.intern({0, 1, -1, 2, 3, 4}));
  const auto right = static_cast<std::int64_t>(trace.intern({2, 3, 4, -1, 0, 1}));
  Communicators a(1, 5), b(3, 5);
  EventView event;
  event.values = {0, 0, 2, left};
  a.apply(trace, create, event);
  event.values = {0, 0, 2, right};
  b.apply(trace, create, event);
  REQUIRE(a.find(2) != nullptr);
  REQUIRE(b.find(2) != nullptr);
  CHECK(a.find(2)->context == b.find(2)->context);
  CHECK(a.find(2)->is_inter);
  CHECK(a.find(2)->self == 1);
  CHECK(a.find(2)->remote_size() == 3);
  CHECK(a.find(2)->peers()[1] == 3);
  CHECK(a.find(0)->context != a.find(1)->context);
  CHECK(a.find(1)->context != b.find(1)->context);
}
