// SPDX-License-Identifier: BSD-3-Clause
#include <catch2/catch.hpp>

#include "analysis/check.h"
#include "analysis/communicators.h"
#include "analysis/datatype_size.h"
#include "analysis/reissue.h"
#include "unit/trace_builder.h"

using namespace chameleon;
using namespace chameleon::analysis;
using namespace chameleon::compress;
using namespace chameleon::mpi;
using chameleon::testing::TraceBuilder;

namespace {

constexpr std::int64_t kInt = -3, kSum = -2, kMax = -3;
enum : std::uint16_t {
  kSend = 1,
  kRecv,
  kIrecv,
  kIsend,
  kWaitall,
  kBarrier,
  kBcast,
  kAllreduce,
  kFinalize,
  kCommSplit,
  kWait,
  kRecvInit,
  kSendInit,
  kStartall,
  kAlltoallv,
  kCommDup,
  kContiguous,
  kPut,
  kCancel,
  kSendrecv,
  kIbarrier,
  kPsendInit,
  kPrecvInit,
  kFileOpen,
  kSpawn,
};

/// Two or more ranks and the calls used here.
struct Job : TraceBuilder {
  explicit Job(std::uint32_t ranks) : TraceBuilder(ranks), size(ranks) {
    call(kSend, "Send",
         {"buf:buffer", "count:count", "datatype:datatype", "dest:dest:e", "tag:tag", "comm:comm"});
    call(kRecv, "Recv",
         {"buf:buffer", "count:count", "datatype:datatype", "source:source:e", "tag:tag",
          "comm:comm", "status.source:source:e", "status.tag:tag", "status.bytes:bytes"});
    call(kIsend, "Isend",
         {"buf:buffer", "count:count", "datatype:datatype", "dest:dest:e", "tag:tag", "comm:comm",
          "request:request"});
    call(kIrecv, "Irecv",
         {"buf:buffer", "count:count", "datatype:datatype", "source:source:e", "tag:tag",
          "comm:comm", "request:request"});
    call(kSendInit, "Send_init",
         {"buf:buffer", "count:count", "datatype:datatype", "dest:dest:e", "tag:tag", "comm:comm",
          "request:request"});
    call(kRecvInit, "Recv_init",
         {"buf:buffer", "count:count", "datatype:datatype", "source:source:e", "tag:tag",
          "comm:comm", "request:request"});
    call(kStartall, "Startall", {"count:count", "array_of_requests:request:a"});
    call(kWaitall, "Waitall",
         {"count:count", "array_of_requests:request:a", "array_of_statuses.source:source:a",
          "array_of_statuses.tag:tag:a", "array_of_statuses.bytes:bytes:a"});
    call(kWait, "Wait",
         {"request:request", "status.source:source:e", "status.tag:tag", "status.bytes:bytes"});
    call(kCancel, "Cancel", {"request:request"});
    call(kBarrier, "Barrier", {"comm:comm"});
    call(kIbarrier, "Ibarrier", {"comm:comm", "request:request"});
    call(kBcast, "Bcast",
         {"buffer:buffer", "count:count", "datatype:datatype", "root:root:e", "comm:comm"});
    call(kAllreduce, "Allreduce",
         {"sendbuf:buffer", "recvbuf:buffer", "count:count", "datatype:datatype", "op:op",
          "comm:comm"});
    call(kAlltoallv, "Alltoallv",
         {"sendbuf:buffer", "sendcounts:count:a", "sdispls:displacement:a", "sendtype:datatype",
          "recvbuf:buffer", "recvcounts:count:a", "rdispls:displacement:a", "recvtype:datatype",
          "comm:comm"});
    call(kCommSplit, "Comm_split",
         {"comm:comm", "color:color", "key:key", "newcomm:comm", "members:members:a"});
    call(kCommDup, "Comm_dup", {"comm:comm", "newcomm:comm", "members:members:a"});
    call(kContiguous, "Type_contiguous", {"count:count", "oldtype:datatype", "newtype:datatype"});
    call(kPut, "Put", {"origin_addr:buffer", "win:win"});
    call(
        kSendrecv, "Sendrecv",
        {"sendbuf:buffer", "sendcount:count", "sendtype:datatype", "dest:dest:e", "sendtag:tag",
         "recvbuf:buffer", "recvcount:count", "recvtype:datatype", "source:source:e", "recvtag:tag",
         "comm:comm", "status.source:source:e", "status.tag:tag", "status.bytes:bytes"});
    call(kPsendInit, "Psend_init",
         {"buf:buffer", "partitions:int", "count:count", "datatype:datatype", "dest:dest:e",
          "tag:tag", "comm:comm", "info:info", "request:request"});
    call(kPrecvInit, "Precv_init",
         {"buf:buffer", "partitions:int", "count:count", "datatype:datatype", "source:source:e",
          "tag:tag", "comm:comm", "info:info", "request:request"});
    call(kFileOpen, "File_open",
         {"comm:comm", "filename:string:a", "amode:int", "info:info", "fh:file"});
    call(kSpawn, "Comm_join", {"fd:int", "intercomm:comm", "members:members:a"});
    call(kFinalize, "Finalize", {});
  }
  std::int64_t at(int rank, int self) const {
    return pack_rank(rank, self, static_cast<std::int32_t>(size));
  }
  static std::int64_t none() { return pack_special(SpecialRank::kNone); }
  static std::int64_t any() { return pack_special(SpecialRank::kAnySource); }
  void send(int self, int dest, int tag, int count = 1, std::int64_t comm = 0) {
    push(static_cast<std::uint32_t>(self), kSend, {0, count, kInt, at(dest, self), tag, comm});
  }
  void recv(int self, int source, int tag, int count = 1) {
    push(static_cast<std::uint32_t>(self), kRecv,
         {0, count, kInt, at(source, self), tag, 0, none(), kNotRecorded, kNotRecorded});
  }
  void irecv(int self, std::int64_t source, int tag, std::int64_t slot, int count = 1) {
    push(static_cast<std::uint32_t>(self), kIrecv, {0, count, kInt, source, tag, 0, slot});
  }
  void wait(int self, std::int64_t slot, std::int64_t source = none()) {
    push(static_cast<std::uint32_t>(self), kWait, {slot, source, kNotRecorded, kNotRecorded});
  }
  void finalize() {
    for (std::uint32_t rank = 0; rank < size; ++rank) push(rank, kFinalize, {});
  }
  CheckReport checked() {
    const Trace trace = build();
    Result<CheckReport> report = check(trace);
    REQUIRE(report);
    for (const auto& problem : report->problems)
      UNSCOPED_INFO(problem.kind << ": " << problem.text);
    return *report;
  }
  std::uint32_t size;
};

/// Rank `rank` is inexact in everything, wherever it takes part.
void declare(Trace& trace, std::uint32_t rank) {
  for (Node& node : trace.nodes) node.inexact.push_back({RankList::single(rank), kInexactAll});
}

struct Checked {
  CheckReport report;
  Omissions omissions;
};

Checked checked_with_omissions(const Trace& trace) {
  Checked checked;
  Result<CheckReport> report = check(trace, &checked.omissions);
  REQUIRE(report);
  checked.report = *report;
  return checked;
}

bool names(const CheckReport& report, const std::string& kind, const std::string& text) {
  for (const auto& problem : report.problems)
    if (problem.kind == kind && problem.text.find(text) != std::string::npos) return true;
  return false;
}

}  // namespace

TEST_CASE("a ring in a loop hangs together") {
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

TEST_CASE("what declared parts leave unmatched is counted apart, and left out") {
  Job job(3);
  // Rank 1 takes one of rank 0's three messages, and expects one of rank 2.
  for (int i = 0; i < 3; ++i) job.send(0, 1, 7);
  job.recv(1, 0, 7);
  job.recv(1, 2, 4);
  for (std::uint32_t rank = 0; rank < 3; ++rank) job.push(rank, kBarrier, {0});
  job.send(0, 2, 1);
  job.recv(2, 0, 1);
  job.finalize();
  Trace trace = job.build();
  CHECK_FALSE(check(trace)->ok);
  declare(trace, 1);
  const Checked now = checked_with_omissions(trace);
  CHECK(now.report.ok);
  CHECK(now.report.problem_count == 0);
  CHECK(now.report.declared_unmatched.sends == 2);
  CHECK(now.report.declared_unmatched.receives == 1);
  CHECK(now.report.declared_unmatched.collectives == 0);
  CHECK(now.omissions[0] == std::vector<Omission>{{2, 0}, {3, 0}});
  CHECK(now.omissions[1] == std::vector<Omission>{{2, 0}});
  CHECK(now.omissions[2].empty());
  CHECK(replay_refusal(trace, now.report).find("2 sends, 1 receive, 0 collectives") !=
        std::string::npos);
}

TEST_CASE("an undeclared fault is found beside declared ranks") {
  Job job(4);
  job.send(0, 1, 7);
  job.recv(2, 3, 4);
  job.finalize();
  Trace trace = job.build();
  declare(trace, 1);
  const CheckReport report = *check(trace);
  CHECK_FALSE(report.ok);
  CHECK(report.declared_unmatched.sends == 1);
  CHECK(names(report, "deadlock", "rank 2 event 1"));
}

TEST_CASE("a collective that a declared rank does not make is left out by all") {
  Job job(3);
  for (std::uint32_t rank = 0; rank < 3; ++rank)
    for (int i = 0; i < (rank == 2 ? 1 : 2); ++i)
      job.push(rank, kAllreduce, {0, 0, 1, kInt, kSum, 0});
  Trace trace = job.build();
  declare(trace, 2);
  const Checked now = checked_with_omissions(trace);
  CHECK(now.report.ok);
  CHECK(now.report.declared_unmatched.collectives >= 1);
  CHECK(now.omissions[0] == std::vector<Omission>{{2, 0}});
  CHECK(now.omissions[1] == std::vector<Omission>{{2, 0}});
  CHECK(now.omissions[2].empty());
}

TEST_CASE("a collective in which declared ranks disagree is left out by all") {
  Job job(2);
  job.push(0, kAllreduce, {0, 0, 1, kInt, kSum, 0});
  job.push(1, kBarrier, {0});
  job.finalize();
  Trace trace = job.build();
  declare(trace, 1);
  const Checked now = checked_with_omissions(trace);
  CHECK(now.report.ok);
  CHECK(now.omissions[0] == std::vector<Omission>{{1, 0}});
  CHECK(now.omissions[1] == std::vector<Omission>{{1, 0}});
}

TEST_CASE("receives in a circle: one of a declared rank gives way") {
  Job job(2);
  job.recv(0, 1, 1);
  job.send(0, 1, 2);
  job.recv(1, 0, 2);
  job.send(1, 0, 1);
  job.finalize();
  Trace trace = job.build();
  declare(trace, 1);
  const Checked now = checked_with_omissions(trace);
  CHECK(now.report.ok);
  CHECK(now.report.declared_unmatched.receives == 1);
  CHECK(now.report.declared_unmatched.sends == 1);
  CHECK(now.omissions[0].size() + now.omissions[1].size() == 2);
}

TEST_CASE("what is in flight across the cut is counted, by its parts") {
  Job job(2);
  job.complete = false;
  job.send(0, 1, 3);                 // received after the cut
  job.irecv(0, job.at(1, 0), 9, 0);  // sent after the cut
  job.irecv(1, job.at(0, 1), 5, 0);  // completed after the cut
  job.send(0, 1, 5);
  job.push(0, kIbarrier, {0, 1});  // begun by one
  job.push(1, kSendInit, {0, 1, kInt, job.at(0, 1), 8, 0, 1});
  job.push(1, kSendInit, {0, 1, kInt, job.at(0, 1), 6, 0, 2});
  job.push(1, kStartall, {2, job.array({1, 2})});  // the second is received
  job.recv(0, 1, 6);
  const Trace trace = job.build();
  const Checked now = checked_with_omissions(trace);
  CHECK(now.report.ok);
  CHECK(now.report.in_flight.sends == 2);
  CHECK(now.report.in_flight.receives == 1);
  CHECK(now.report.in_flight.collectives == 1);
  CHECK(now.omissions[0] == std::vector<Omission>{{1, 0}, {2, 0}, {4, 0}});
  CHECK(now.omissions[1] == std::vector<Omission>{{4, 0}});
  CHECK(replay_refusal(trace, now.report).empty());
}

TEST_CASE("half of an exchange can be left out") {
  Job job(2);
  const auto exchange = [&](std::uint32_t self, std::int64_t dest, std::int64_t source) {
    job.push(
        self, kSendrecv,
        {0, 1, kInt, dest, 1, 0, 1, kInt, source, 1, 0, Job::none(), kNotRecorded, kNotRecorded});
  };
  exchange(0, job.at(1, 0), job.at(1, 0));
  exchange(1, pack_special(SpecialRank::kProcNull), job.at(0, 1));
  job.finalize();
  Trace trace = job.build();
  declare(trace, 1);
  const Checked now = checked_with_omissions(trace);
  CHECK(now.report.ok);
  CHECK(now.omissions[0] == std::vector<Omission>{{1, 1}});
  CHECK(now.omissions[1].empty());
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

TEST_CASE("what a replay leaves out is told with its reason") {
  Job job(1);
  job.push(0, kFileOpen, {0, job.array({'f'}), 1, -1, 0});
  job.push(0, kSpawn, {3, 2, job.array({0, -1, 0})});
  job.finalize();
  const CheckReport report = job.checked();
  const LeftOut without = find_left_out(report, false);
  CHECK(without.size() == 2);
  CHECK(without.at("it is on a file, and needs --scratch").at("File_open") == 1);
  CHECK(without.at("it needs other processes").at("Comm_join") == 1);
  CHECK(find_left_out(report, true).size() == 1);

  CheckReport failing;
  failing.calls["Send"] = 5;
  failing.failed["Send"] = 2;
  CHECK(find_left_out(failing, false).at("it failed in the traced run").at("Send") == 2);
}
