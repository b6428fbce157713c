// SPDX-License-Identifier: BSD-3-Clause
/// Communicators with processes outside of the trace, and which calls a replay leaves out for them.

#include "analysis/reissue.h"
#include "analysis/timeline.h"
#include "unit/catch.h"
#include "unit/check_job.h"

using namespace chameleon;
using namespace chameleon::analysis;
using namespace chameleon::compress;
using namespace chameleon::testing;

namespace {

constexpr std::uint16_t kMerge = 100, kFree = 101, kParent = 102;
constexpr std::int64_t kOther = -2;  // instead of a world rank
const char* const kNeeds = "it needs other processes";
const char* const kMadeByIt = "it is on an object that the replay does not have";

/// Two ranks that join two other processes: communicator 2, and merged with them 3.
struct Joined : CheckJob {
  Joined() : CheckJob(2) {
    call(kMerge, "Intercomm_merge",
         {"intercomm:comm", "high:flag", "newintracomm:comm", "members:members:a"});
    call(kFree, "Comm_free", {"comm:comm"});
    call(kParent, "Comm_get_parent", {"parent:comm", "members:members:a"});
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
      push(rank, kSpawn, {3, 2, array({0, 1, -1, kOther, kOther})});
      push(rank, kMerge, {2, 0, 3, array({0, 1, kOther, kOther})});
    }
  }
  /// A rank of the merged communicator of four.
  static std::int64_t merged(int rank, int self) { return pack_rank(rank, self, 4); }
};

}  // namespace

TEST_CASE("collectives with processes outside of the trace wait for those in it") {
  Joined job;
  const bool wrong = GENERATE(false, true);
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    job.push(rank, kAllreduce, {0, 0, wrong ? 1 + rank : 1, kInt, kSum, 3});
    job.push(rank, kBcast, {0, 1, kInt, Joined::merged(2, static_cast<int>(rank)), 3});
    job.push(rank, kBarrier, {2});
  }
  job.finalize();
  const CheckReport report = job.checked();
  CHECK(report.ok == !wrong);
  if (wrong) CHECK(names(report, "collective", "8 bytes, but 4"));
}

TEST_CASE("on a timeline collectives wait for those in the trace") {
  Joined job;
  for (std::uint32_t rank = 0; rank < 2; ++rank)
    job.push(rank, kAllreduce, {0, 0, 1, kInt, kSum, 3});
  job.finalize();
  const Trace trace = job.build();
  const Result<TimelineFacts> facts =
      run_timeline(trace, trace.whole_ranks(), [](const TimedEvent&) {});
  REQUIRE(facts);
  CHECK(facts->unmatched == 0);
}

TEST_CASE("messages to and from processes outside of the trace are not judged") {
  Joined job;
  job.push(0, kSend, {0, 1, kInt, Joined::merged(2, 0), 7, 3});
  job.push(0, kRecv,
           {0, 1, kInt, Joined::merged(3, 0), 7, 3, Joined::none(), kNotRecorded, kNotRecorded});
  job.push(0, kIsend, {0, 1, kInt, Joined::merged(3, 0), 7, 3, 0});
  job.wait(0, 0);
  const bool wrong = GENERATE(false, true);
  if (wrong) job.push(0, kSend, {0, 1, kInt, Joined::merged(1, 0), 7, 3});
  job.finalize();
  const CheckReport report = job.checked();
  CHECK(report.ok == !wrong);
  if (wrong) CHECK(names(report, "unreceived", "1 message to world rank 1 with tag 7"));
}

TEST_CASE("a replay leaves out what is on communicators with other processes") {
  Joined job;
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    job.push(rank, kAllreduce, {0, 0, 1, kInt, kSum, 3});
    job.push(rank, kCommDup, {3, 4, job.array({0, 1, kOther, kOther})});
    job.push(rank, kFree, {3});
    // The same id, for what the replay has.
    job.push(rank, kCommDup, {0, 3, job.array({0, 1})});
    job.push(rank, kAllreduce, {0, 0, 1, kInt, kSum, 3});
  }
  job.finalize();
  const LeftOut left_out = find_left_out(job.checked(), false);
  CHECK(left_out.size() == 2);
  CHECK(left_out.at(kNeeds).at("Comm_join") == 2);
  CHECK(left_out.at(kMadeByIt) ==
        std::map<std::string, std::uint64_t>{
            {"Intercomm_merge", 2}, {"Allreduce", 2}, {"Comm_dup", 2}, {"Comm_free", 2}});
}

TEST_CASE("a replay has no parent, and whoever had none is not left out") {
  Joined job;
  const bool parent = GENERATE(false, true);
  job.push(0, kParent, {parent ? 5 : -1, job.array({})});
  job.finalize();
  const LeftOut left_out = find_left_out(job.checked(), false);
  CHECK(left_out.at(kNeeds).contains("Comm_get_parent") == parent);
}

TEST_CASE("what a replay leaves out of objects that were not recorded is said") {
  CheckJob job(1);
  job.push(0, kSend, {0, 1, 6, pack_special(SpecialRank::kProcNull), 7, 0});
  job.push(0, kContiguous, {2, kInt, 6});
  job.push(0, kSend, {0, 1, 6, pack_special(SpecialRank::kProcNull), 7, 0});
  job.finalize();
  const LeftOut left_out = find_left_out(job.checked(), false);
  CHECK(left_out.at(kMadeByIt).at("Send") == 1);
}

TEST_CASE("calls that failed without effect are left out") {
  CheckJob job(1);
  for (const std::int64_t error : {0, 5, 5})
    job.push_failed(0, kSend, error, {0, 1, kInt, pack_special(SpecialRank::kProcNull), 7, 0});
  job.finalize();
  const LeftOut left_out = find_left_out(job.checked(), false);
  CHECK(left_out.at("it failed in the traced run").at("Send") == 2);
}

TEST_CASE("a request that the program lost is its fault, and named with its call") {
  CheckJob job(2);
  for (int i = 0; i < 3; ++i) {
    job.push(0, kIsend, {0, 1, kInt, job.at(1, 0), 7, 0, i});
    job.recv(1, 0, 7);
  }
  job.finalize();
  const CheckReport report = job.checked();
  CHECK(report.problem_count == 3);
  CHECK(report.program_count == 3);
  CHECK(names(report, "incomplete_request", "rank 0 event 2 (Isend)"));
  for (const auto& problem : report.problems) CHECK((problem.program && problem.path != 0));
  CHECK(replay_refusal(job.build(), report).empty());
}
