// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/reissue.h"
#include "unit/check_job.h"

using namespace chameleon;
using namespace chameleon::analysis;
using namespace chameleon::testing;
using Job = CheckJob;

namespace {

/// Rank `rank` is inexact in everything, wherever it takes part.
void declare(Trace& trace, std::uint32_t rank) {
  for (Node& node : trace.nodes) node.inexact.push_back({RankList::single(rank), kInexactAll});
}

struct Checked {
  CheckReport report;
  Omissions omissions, unawaited;
};

Checked checked_with_omissions(const Trace& trace) {
  Checked checked;
  Result<CheckReport> report = check(trace, &checked.omissions);
  REQUIRE(report);
  checked.report = *report;
  // With sends that wait for their receives no more is left out.
  Omissions left_out;
  report = check(trace, &left_out, &checked.unawaited);
  REQUIRE(report);
  CHECK(report->problem_count == checked.report.problem_count);
  CHECK(left_out == checked.omissions);
  return checked;
}

}  // namespace

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
}

TEST_CASE("receives that declared parts give too little room are told the room") {
  Job job(3);
  job.send(0, 1, 7, 9);  // of ints
  job.recv(1, 0, 7, 2);
  job.push(1, kRecvInit, {0, 1, kInt, job.at(0, 1), 8, 0, 0});
  for (const int count : {3, 5, 1}) {
    job.send(0, 1, 8, count);
    job.push(1, kStartall, {1, job.array({0})});
    job.wait(1, 0);
  }
  job.send(0, 2, 7, 4);
  job.recv(2, 0, 7, 4);
  job.finalize();
  Trace trace = job.build();
  Omissions omissions, unawaited;
  Rooms rooms;
  REQUIRE(check(trace, &omissions, &unawaited, &rooms));
  CHECK(rooms[1].empty());  // the program's own faults
  declare(trace, 1);
  REQUIRE(check(trace, &omissions, &unawaited, &rooms));
  CHECK(rooms[1] == Rooms::value_type{{1, 36}, {2, 20}});
  CHECK((rooms[0].empty() && rooms[2].empty()));
  CHECK((omissions[0].empty() && omissions[1].empty() && omissions[2].empty()));
}
