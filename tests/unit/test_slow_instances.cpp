// SPDX-License-Identifier: BSD-3-Clause
/// Slow instances, whose fault they are, and what the run would gain, of hand-made traces in which
/// both are known.

#include "analysis/slow_instances.h"
#include "unit/catch.h"
#include "unit/timed_job.h"

using namespace chameleon;
using namespace chameleon::analysis;
using chameleon::testing::TimedJob;

namespace {

constexpr double kMs = TimedJob::kMs;
constexpr double kNear = 0.02;  // times are recorded within 1/128
constexpr std::int64_t kInt = TimedJob::kInt;
constexpr std::uint16_t kSend = TimedJob::kSend, kRecv = TimedJob::kRecv,
                        kAllreduce = TimedJob::kAllreduce, kBcast = TimedJob::kBcast,
                        kReduce = TimedJob::kReduce;

/// A trace with every rank's own times, in ms.
struct Job : TimedJob {
  using TimedJob::TimedJob;

  /// All compute for so long, and leave together 0.1 ms after the last.
  void allreduce(const std::vector<double>& compute) {
    const double most = *std::max_element(compute.begin(), compute.end());
    for (std::uint32_t rank = 0; rank < ranks; ++rank)
      at(rank, kAllreduce, {0, 0, 1, kInt, -2, 0}, compute[rank], most - compute[rank] + 0.1);
  }
  SlowReport slow(SlowOptions options = {}) {
    Result<SlowReport> found = find_slow(full(), options);
    REQUIRE(found);
    return std::move(*found);
  }
};

void check_one(const SlowReport& report, Delay::Kind kind, std::uint16_t call,
               const std::string& ranks) {
  REQUIRE(!report.findings.empty());
  const SlowFinding& found = report.findings.front();
  // Times are rounded: what others there are is not worth more.
  for (std::size_t i = 1; i < report.findings.size(); ++i)
    CHECK(report.gain(report.findings[i]) < 0.01);
  CHECK(found.delay.kind == kind);
  CHECK(found.delay.call == call);
  CHECK(found.delay.path == 100U + call);
  CHECK(found.ranks.to_string() == ranks);
}

}  // namespace

TEST_CASE("the last rank of a collective computed for too long, once") {
  Job job(4);
  for (int step = 1; step <= 10; ++step) job.allreduce({1, 1, step == 6 ? 9.0 : 1.0, 1});
  const SlowReport report = job.slow();
  check_one(report, Delay::Kind::kCompute, kAllreduce, "2");
  const SlowFinding& found = report.findings.front();
  CHECK(found.wait == WaitState::Kind::kLateMember);
  CHECK(found.wait_path == 100U + kAllreduce);
  CHECK(found.delay_ns == Approx(8 * kMs).epsilon(kNear));
  CHECK(found.waited_ns == Approx(24 * kMs).epsilon(kNear));
  CHECK(found.usual_ns == Approx(kMs).epsilon(0.1));
  CHECK(report.run_ns == Approx(19 * kMs).epsilon(kNear));
  REQUIRE(found.saving_ns);
  CHECK(*found.saving_ns == Approx(8 * kMs).epsilon(kNear));
  REQUIRE(report.slow.size() == 1);
  const SlowInstance& slow = report.slow.front();
  CHECK(slow.number == 6);
  CHECK(slow.processes == 4);
  CHECK(slow.ns() == Approx(8.1 * kMs).epsilon(kNear));
  CHECK(slow.usual_ns == Approx(0.1 * kMs).margin(0.02 * kMs));
  // Of one slow instance severity and complexity weigh alike.
  CHECK(slow.angle == Approx(45));
  CHECK(report.unexplained + report.within_error + report.unknown + report.at_markers == 0);
}

TEST_CASE("a run in which nothing is slow has no findings") {
  Job job(4);
  for (int step = 1; step <= 10; ++step) job.allreduce({1, 1.1, 0.9 + 0.01 * step, 1});
  const SlowReport report = job.slow();
  CHECK(report.slow.empty());
  CHECK(report.findings.empty());
}

TEST_CASE("a late sender that waited itself is not the one whose fault it is") {
  Job job(3);
  for (int step = 1; step <= 8; ++step) {
    // Rank 0 hands on to 1, and that to 2, who asks first.
    const double late = step == 5 ? 20 : 0;
    job.send(0, 1, 1 + late, 0.01);
    job.receive(1, 0, 0.9, 0.11 + late);
    job.send(1, 2, 0, 0.01);
    job.receive(2, 1, 0.1, 0.93 + late);
    job.allreduce({0.1, 0.09, 0.07});
  }
  const SlowReport report = job.slow();
  check_one(report, Delay::Kind::kCompute, kSend, "0");
  CHECK(report.findings.front().wait == WaitState::Kind::kLateSender);
  CHECK(*report.findings.front().saving_ns == Approx(20 * kMs).epsilon(kNear));
  for (const std::size_t i : report.findings.front().instances) CHECK(report.slow[i].number == 5);
}

TEST_CASE("a send that outlasts the post of its receive waited for the receiver") {
  Job job(2);
  for (int step = 1; step <= 8; ++step) {
    const double late = step == 3 ? 20 : 0;
    job.send(0, 1, 1, 0.15 + late);
    job.receive(1, 0, 1.1 + late, 0.05);
    job.allreduce({0.1, 0.1});
  }
  const SlowReport report = job.slow();
  check_one(report, Delay::Kind::kCompute, kRecv, "1");
  CHECK(report.findings.front().wait == WaitState::Kind::kLateReceiver);
  CHECK(report.findings.front().waited_ns == Approx(20.1 * kMs).epsilon(kNear));
  CHECK(*report.findings.front().saving_ns == Approx(20 * kMs).epsilon(kNear));
}

TEST_CASE("a send that was over before does not wait for the receiver") {
  Job job(2);
  for (int step = 1; step <= 8; ++step) {
    const double late = step == 3 ? 20 : 0;
    job.send(0, 1, 1, 0.05);
    job.receive(1, 0, 1.1 + late, 0.05);
    job.allreduce({0.1, 0.1});
    if (step == 3) job.allreduce({0, 0});
  }
  for (const SlowInstance& one : job.slow().slow)
    CHECK(one.wait.longest.kind != WaitState::Kind::kLateReceiver);
}

TEST_CASE("a root is waited for, and waits") {
  SECTION("late root") {
    Job job(3);
    for (int step = 1; step <= 8; ++step) {
      const double late = step == 4 ? 30 : 0;
      for (std::uint32_t rank = 0; rank < 3; ++rank)
        job.at(rank, kBcast, {0, 1, kInt, job.rank_of(rank, 1), 0}, rank == 1 ? 1 + late : 1,
               rank == 1 ? 0.1 : 0.1 + late);
      job.allreduce({0.1, 0.1, 0.1});
    }
    const SlowReport report = job.slow();
    check_one(report, Delay::Kind::kCompute, kBcast, "1");
    CHECK(report.findings.front().wait == WaitState::Kind::kLateRoot);
  }
  SECTION("the root waits for all") {
    Job job(3);
    for (int step = 1; step <= 8; ++step) {
      const double late = step == 4 ? 30 : 0;
      for (std::uint32_t rank = 0; rank < 3; ++rank)
        job.at(rank, kReduce, {0, 0, 1, kInt, -2, job.rank_of(rank, 0), 0}, 1 + late * rank / 2,
               rank == 0 ? 0.1 + late : 0.1);
      for (std::uint32_t rank = 0; rank < 3; ++rank)
        job.at(rank, kAllreduce, {0, 0, 1, kInt, -2, 0}, 0.1, rank == 1 ? 0.1 + late / 2 : 0.1);
    }
    const SlowReport report = job.slow();
    check_one(report, Delay::Kind::kCompute, kReduce, "2");
    CHECK(report.findings.front().wait == WaitState::Kind::kEarlyRoot);
  }
}

TEST_CASE("a rank that was in another call for long delays those who wait for it next") {
  Job job(4);
  for (int step = 1; step <= 9; ++step) {
    const double late = step == 7 ? 12 : 0;
    // The receiver is there early and has its message at once, but the send goes on.
    job.receive(3, 1, 0.1, 1);
    job.send(1, 3, 1, 0.1 + late);
    for (std::uint32_t rank = 0; rank < 4; ++rank)
      job.at(rank, kAllreduce, {0, 0, 1, kInt, -2, 0}, rank % 2 == 0 ? 1.3 : 0.2,
             rank == 1 ? 0.1 : 0.1 + late);
  }
  const SlowReport report = job.slow();
  check_one(report, Delay::Kind::kCall, kSend, "1");
  CHECK(report.findings.front().wait == WaitState::Kind::kLateMember);
  CHECK(*report.findings.front().saving_ns == Approx(12 * kMs).epsilon(kNear));
}

TEST_CASE("a delay that moves from rank to rank is one finding, two of one rank are another") {
  Job job(4);
  for (int step = 1; step <= 40; ++step) {
    std::vector<double> compute(4, 1);
    if (step >= 10 && step <= 13) compute[static_cast<std::size_t>(step) % 4] = 8;
    job.allreduce(compute);
  }
  const SlowReport moving = job.slow();
  check_one(moving, Delay::Kind::kCompute, kAllreduce, "0-3");
  CHECK(moving.findings.front().instances.size() == 4);
  CHECK(*moving.findings.front().saving_ns == Approx(28 * kMs).epsilon(kNear));

  Job two(4);
  for (int step = 1; step <= 40; ++step)
    two.allreduce({1, step == 9 ? 9.0 : 1.0, 1, step == 20 || step == 21 ? 9.0 : 1.0});
  const SlowReport report = two.slow();
  REQUIRE(report.findings.size() == 2);
  CHECK(report.findings[0].ranks.to_string() == "3");
  CHECK(report.findings[1].ranks.to_string() == "1");
  CHECK(*report.findings[0].saving_ns == Approx(16 * kMs).epsilon(kNear));
  CHECK(*report.findings[1].saving_ns == Approx(8 * kMs).epsilon(kNear));

  SlowOptions none;
  none.most = 0;
  const SlowReport unasked = two.slow(none);
  REQUIRE(unasked.findings.size() == 2);
  for (const SlowFinding& one : unasked.findings) CHECK(!one.saving_ns);
}

TEST_CASE("only what begins in a stretch is told, and ranked among itself") {
  Job job(4);
  for (int step = 1; step <= 40; ++step)
    job.allreduce({1, step == 9 ? 9.0 : 1.0, 1, step == 20 ? 17.0 : 1.0});
  SlowOptions options;
  const SlowReport whole = job.slow(options);
  REQUIRE(whole.slow.size() == 2);
  options.within_ns = {whole.slow[1].begin_ns, whole.slow[1].end_ns};
  const SlowReport second = job.slow(options);
  check_one(second, Delay::Kind::kCompute, kAllreduce, "3");
  CHECK(second.slow.size() == 1);
  CHECK(second.slow.front().angle == Approx(45));
  CHECK(whole.slow[1].angle > 45);
  options.within_ns = {0, whole.slow[0].begin_ns};
  CHECK(job.slow(options).slow.empty());
}

TEST_CASE("few instances are not judged, and waits below the clocks' error accuse nobody") {
  Job few(2);
  for (const double late : {0.0, 0.0, 9.0}) few.allreduce({1, 1 + late});
  CHECK(few.slow().unjudged == 3);
  CHECK(few.slow().slow.empty());

  Job job(2);
  for (int step = 1; step <= 10; ++step) job.allreduce({1, step == 6 ? 9.0 : 1.0});
  Trace trace = job.full();
  for (const std::uint32_t rank : {0U, 1U}) {
    trace.facts[rank].clock_samples = 4;
    trace.facts[rank].clock_error_ns = 20'000'000;
  }
  const Result<SlowReport> report = find_slow(trace, {});
  REQUIRE(report);
  CHECK(report->clock_error_ns == 20'000'000);
  CHECK(report->findings.empty());
  CHECK(report->within_error == 1);
}

TEST_CASE("what a trace must have is said") {
  Trace trace;
  trace.timing = "histogram";
  CHECK(lacks_own_times(trace).value().find("CHAMELEON_TIMING=full") != std::string::npos);
  trace.timing = "full";
  CHECK(!lacks_own_times(trace));
  trace.online.fidelity = "lead";
  CHECK(lacks_own_times(trace).value().find("CHAMELEON_FIDELITY=exact") != std::string::npos);
}
