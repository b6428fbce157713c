// SPDX-License-Identifier: BSD-3-Clause
// What `check` finds beside the order of calls: datatypes that differ, objects that are never
// freed, and what ranks say of their ends.
#include <algorithm>

#include "analysis/hang.h"
#include "analysis/type_elements.h"
#include "unit/check_job.h"

using namespace chameleon;
using namespace chameleon::analysis;
using namespace chameleon::testing;
using Job = CheckJob;

namespace {

// Places in the list of predefined datatypes that a trace has.
constexpr std::int64_t kFloatType = -4, kByteType = -2, kIntegerType = -5;

Trace with_types(Trace trace) {
  trace.predefined["datatype"] = {
      {"MPI_BYTE", 1}, {"MPI_INT", 4}, {"MPI_FLOAT", 4}, {"MPI_INTEGER", 4}};
  return trace;
}

CheckReport check_of(const Trace& trace) {
  Result<CheckReport> report = check(trace);
  REQUIRE(report);
  return *report;
}

}  // namespace

TEST_CASE("data is received as what it was sent as") {
  const auto [type, agrees] = GENERATE(std::pair(kInt, true), std::pair(kFloatType, false),
                                       std::pair(kByteType, true), std::pair(kIntegerType, true));
  Job job(2);
  job.push(0, kSend, {0, 4 / (type == kByteType ? 4 : 1), type, job.at(1, 0), 7, 0});
  job.recv(1, 0, 7, 4);
  job.finalize();
  const CheckReport report = check_of(with_types(job.build()));
  CHECK(report.ok == agrees);
  if (!agrees)
    CHECK(names(report, "type", "receives MPI_INT, but world rank 0 sends MPI_FLOAT with tag 7"));
}

TEST_CASE("derived datatypes are of their parts") {
  const std::int64_t part = GENERATE(kInt, kFloatType);
  Job job(2);
  job.push(0, kContiguous, {10, part, 0});
  job.push(0, kSend, {0, 2, 0, job.at(1, 0), 7, 0});
  job.recv(1, 0, 7, 20);
  job.finalize();
  const CheckReport report = check_of(with_types(job.build()));
  CHECK(report.ok == (part == kInt));
}

TEST_CASE("ranks of a collective agree on the datatype") {
  const std::int64_t type = GENERATE(kInt, kFloatType);
  Job job(2);
  for (std::uint32_t rank = 0; rank < 2; ++rank)
    job.push(rank, kBcast, {0, 5, rank == 0 ? kInt : type, job.at(0, static_cast<int>(rank)), 0});
  job.finalize();
  const CheckReport report = check_of(with_types(job.build()));
  CHECK(report.ok == (type == kInt));
  if (type != kInt) CHECK(names(report, "collective", "the datatype is MPI_"));
}

TEST_CASE("objects that are never freed are listed by where they were made") {
  Job job(2);
  for (std::uint32_t rank = 0; rank < 2; ++rank)
    for (std::int64_t id = 0; id < 3; ++id) job.push(rank, kContiguous, {10, kInt, id});
  job.finalize();
  const CheckReport report = job.checked();
  REQUIRE(report.leaks.size() == 1);
  CHECK(leak_text(report.leaks.front()) ==
        "6 datatypes made by Type_contiguous are never freed, on ranks 0-1");
  job.complete = false;
  CHECK(job.checked().leaks.empty());
}

TEST_CASE("who ended the job is known, and who waits for it") {
  const auto [why, fault] = GENERATE(std::pair("SIGSEGV", true), std::pair("MPI_Abort", false),
                                     std::pair(kFatalError, true));
  Job job(3);
  job.complete = false;
  job.tell_classes();
  for (const int rank : {0, 1, 2}) job.send(rank, rank, 1);
  for (const int rank : {0, 1, 2}) job.recv(rank, rank, 1);
  for (const std::uint32_t rank : {0U, 1U})
    job.push_failed(rank, kRecv, kInProgress,
                    {0, 1, kInt, job.at(2, static_cast<int>(rank)), 5, 0, Job::none(), kNotRecorded,
                     kNotRecorded});
  Trace trace = job.build();
  trace.ends = {{0, kOtherEnded}, {1, kNoProgress}, {2, why}};
  const CheckReport report = check_of(trace);
  REQUIRE(report.ends.size() == 1);
  CHECK(report.ends.front().rank == 2);
  CHECK(report.ends.front().last.call == "Recv");
  const Hang hang = hang_of(trace, report);
  REQUIRE(hang.causes.size() == 1);
  CHECK(hang.causes.front().kind == Hang::Kind::kEnded);
  CHECK(hang.causes.front().waiting.to_string() == "0-1");
  CHECK(hang.is_fault == fault);

  // Ranks that ended alike are one cause: the first two inside of a call, the third one outside.
  trace.ends[0] = trace.ends[1] = why;
  const CheckReport all = check_of(trace);
  CHECK(all.ends.size() == 3);
  const Hang of_all = hang_of(trace, all);
  REQUIRE(of_all.causes.size() == 2);
  std::vector<std::string> ended;
  for (const Hang::Cause& cause : of_all.causes) ended.push_back(cause.ranks.to_string());
  std::sort(ended.begin(), ended.end());
  CHECK(ended == std::vector<std::string>{"0-1", "2"});
}
