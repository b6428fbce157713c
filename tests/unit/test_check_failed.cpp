// SPDX-License-Identifier: BSD-3-Clause
/// What `check` says of messages whose receive MPI failed.

#include "analysis/check_threads.h"
#include "mpi/error_class.h"
#include "unit/check_job.h"

using namespace chameleon;
using namespace chameleon::analysis;
using namespace chameleon::mpi;
using namespace chameleon::testing;

namespace {

constexpr std::int64_t kErrRequest = error_of_name("MPI_ERR_REQUEST");
constexpr std::int64_t kErrType = error_of_name("MPI_ERR_TYPE");
constexpr std::int64_t kErrOther = error_of_name("MPI_ERR_OTHER");
constexpr std::int64_t kNull = -1;

struct FailingJob : CheckJob {
  FailingJob() : CheckJob(2) { tell_classes(); }

  void recv_failed(std::int64_t error, std::int64_t source, int tag, int count = 1) {
    push_failed(1, kRecv, error,
                {0, count, kInt, source, tag, 0, none(), kNotRecorded, kNotRecorded});
  }
  std::int64_t from_0() const { return at(0, 1); }

  /// By the check of programs with one thread a rank, and by that of others.
  std::vector<CheckReport> reports() {
    const Trace trace = build();
    const Result<CheckReport> one = check(trace), other = check_threads(trace);
    REQUIRE(one);
    REQUIRE(other);
    return {*one, *other};
  }
};

}  // namespace

TEST_CASE("a message whose receive could not be started is a finding of the program") {
  FailingJob job;
  const bool known = GENERATE(true, false);  // the MPI may have freed the request
  const int more = GENERATE(0, 1);
  job.push(1, kRecvInit, {0, 1, kInt, job.from_0(), 3, 0, 0});
  job.push(1, kStart, {0});
  job.wait(1, 0);
  job.push_failed(1, kStart, kErrRequest, {known ? 0 : kNull});
  for (int i = 0; i < 2 + more; ++i) job.send(0, 1, 3);
  job.finalize();
  for (const CheckReport& report : job.reports()) {
    CHECK(report.program_count == 1);
    CHECK(report.problem_count == 1 + static_cast<unsigned>(more));
    REQUIRE(!report.problems.empty());
    CHECK(report.problems[0].program);
    CHECK(names(report, "unreceived",
                "1 message to world rank 1 with tag 3 is never received (the first named): rank 1 "
                "event 4 (Start) failed; MPI returned MPI_ERR_REQUEST"));
    // A message beyond those that the failed receives account for.
    if (more == 1) CHECK_FALSE(report.problems[1].program);
  }
}

TEST_CASE("a failed receive accounts for messages that it could have matched only") {
  FailingJob job;
  const bool any = GENERATE(true, false);
  job.recv_failed(kErrType, any ? FailingJob::any() : job.from_0(), 4);
  const int tag = GENERATE(4, 5);
  job.send(0, 1, tag);
  job.finalize();
  for (const CheckReport& report : job.reports()) {
    CHECK(report.problem_count == 1);
    CHECK(report.program_count == (tag == 4 ? 1 : 0));
  }
}

TEST_CASE("a message that a failed receive may have taken is not unreceived") {
  FailingJob job;
  const int messages = GENERATE(1, 2);
  job.recv_failed(kErrOther, job.from_0(), 4);
  for (int i = 0; i < messages; ++i) job.send(0, 1, 4);
  job.finalize();
  for (const CheckReport& report : job.reports()) {
    CHECK(report.problem_count == static_cast<unsigned>(messages) - 1);
    CHECK(report.program_count == 0);
    CHECK(report.errors.at("Recv").at("MPI_ERR_OTHER") == 1);
  }
}

TEST_CASE("after a receive that may have taken a message, sizes are not compared") {
  FailingJob job;
  job.recv_failed(kErrOther, job.from_0(), 4, 2);
  job.send(0, 1, 4, 2);
  job.send(0, 1, 4, 1);
  job.recv(1, 0, 4, 1);
  job.finalize();
  for (const CheckReport& report : job.reports()) CHECK(report.ok);
}

TEST_CASE("a receive that is too short has taken its message") {
  FailingJob job;
  job.send(0, 1, 4, 2);
  job.recv_failed(kErrTruncate, job.from_0(), 4);
  job.finalize();
  const CheckReport report = job.checked();
  CHECK(report.problem_count == 1);
  CHECK(names(report, "truncation", "MPI returned MPI_ERR_TRUNCATE"));
}

TEST_CASE("a request that ended with an error has a message or none") {
  FailingJob job;
  const bool sent = GENERATE(false, true);
  job.irecv(1, job.from_0(), 4, 0);
  job.wait(1, 0, FailingJob::none(), kErrOther);
  if (sent) job.send(0, 1, 4);
  job.finalize();
  CHECK(job.checked().ok);
}

TEST_CASE("of an incomplete trace, a failed receive accounts for nothing") {
  FailingJob job;
  job.complete = false;
  job.recv_failed(kErrType, job.from_0(), 4);
  job.send(0, 1, 4);
  const CheckReport report = job.checked();
  CHECK(report.ok);
  CHECK(report.cut_count == 1);
  CHECK(report.in_flight.sends == 1);
}
