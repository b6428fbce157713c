// SPDX-License-Identifier: BSD-3-Clause
// CHAMELEON_CALL_FREQUENCY=auto with all ranks in one process: when they vote, and every event of
// every rank in the trace at the end.
#include <random>

#include "unit/catch.h"
#include "unit/scripted_job.h"

using namespace chameleon;
using namespace chameleon::testing;

TEST_CASE("by itself, votes are a tenth of a second apart, whoever is slow when; nothing is lost") {
  constexpr std::uint64_t kMs = 1'000'000;
  const auto seed = GENERATE(range(0U, 40U));
  const Fidelity fidelity = seed % 2 == 0 ? Fidelity::kExact : Fidelity::kLead;
  std::mt19937 random(seed);
  const int size = 1 + static_cast<int>(random() % 8);
  Job job(VirtualWorld(static_cast<std::uint32_t>(size)), fidelity, 20, {}, {}, Pace::kAuto);
  std::uint64_t votes = 0, elapsed = 0, interval = 0;
  for (int part = 0; part < 4; ++part) {
    const std::uint64_t length = std::uint64_t{1} << random() % 31;  // of a step, up to a second
    for (int step = 0; step < 400; ++step) {
      std::uint64_t slowest = 0;
      for (const auto& rank : job.ranks) {
        const std::uint64_t took = length * (1 + random() % 3) / 2;
        rank->marker_log().computed += took;
        slowest = std::max(slowest, rank->marker_log().computed);
      }
      interval = slowest;
      const std::uint64_t path = 1 + static_cast<std::uint64_t>(part) % 3;
      if (!job.mark({path, path + 1})) continue;
      ++votes;
      elapsed += interval;
      for (const auto& rank : job.ranks) rank->marker_log().computed = 0;
    }
  }
  // Each part may begin with intervals that are too short, as many as it takes to find out.
  CHECK(votes <= elapsed / (100 * kMs) + 4 * 8 + 2);
  CHECK(votes >= 2);
  CHECK(job.online->facts().acted == votes);
  CHECK(job.online->facts().markers == 1600);
  job.end();
  REQUIRE(job.online->facts().acted == votes);
  for (int rank = 0; rank < size && fidelity == Fidelity::kExact; ++rank) {
    const auto& whole = job.ranks[static_cast<std::size_t>(rank)]->whole();
    CHECK(same(expand(job.output.trace, rank), whole));
  }
}

TEST_CASE("with a lost vote, or a rank that ends, the pace goes nowhere") {
  const std::uint32_t lost = GENERATE(0U, 1U, 2U, 3U);
  JobIn<LosingWorld> job(LosingWorld(4, lost), Fidelity::kExact, 100, {}, {}, Pace::kAuto);
  for (int step = 0; step < 100; ++step) job.mark({1, 2});
  CHECK(job.online->facts().acted == lost);
  job.end();
  for (int rank = 0; rank < 4; ++rank)
    CHECK(same(expand(job.output.trace, rank), job.ranks[static_cast<std::size_t>(rank)]->whole()));
}

TEST_CASE("every step is in the series by itself, although intervals have many") {
  constexpr std::uint64_t kMs = 1'000'000;
  const auto seed = GENERATE(range(0U, 20U));
  std::mt19937 random(seed);
  const int size = 1 + static_cast<int>(random() % 5);
  const std::uint64_t every = seed % 3 == 0 ? 1 + random() % 9 : Pace::kAuto;
  Job job(VirtualWorld(static_cast<std::uint32_t>(size)),
          seed % 2 == 0 ? Fidelity::kExact : Fidelity::kLead, 2 + random() % 20, {}, {}, every);
  const std::size_t count = 1 + random() % 400;
  job.options.series_limit = 1U << 20;
  std::vector<IntervalTally> steps(count);
  for (std::size_t step = 0; step < count; ++step) {
    for (int rank = 0; rank < size; ++rank) {
      ScriptedLog& log = job.ranks[static_cast<std::size_t>(rank)]->marker_log();
      const std::uint64_t computes = kMs * (1 + random() % 3 + (random() % 50 == 0 ? 40 : 0));
      const std::uint64_t calls = random() % kMs;
      log.computed += computes;
      log.called += calls;
      const auto number = static_cast<std::uint32_t>(rank);
      const IntervalTally one{RankExtent::of(number, computes),
                              RankExtent::of(number, calls),
                              RankExtent::of(number, computes + calls),
                              {}};
      if (rank == 0)
        steps[step] = one;
      else
        steps[step].add(one);
    }
    if (!job.mark({1 + step / 100 % 3, 7})) continue;
    for (const auto& rank : job.ranks) {
      ScriptedLog& log = rank->marker_log();
      log.computed = log.called = log.computed_before = log.called_before = 0;
    }
  }
  job.end();
  const auto& spans = job.output.trace.series.spans();
  // With each marker acted on what ranks do behind the last one is no step.
  REQUIRE(spans.size() == count);
  for (std::size_t i = 0; i < count; ++i) {
    CAPTURE(seed, every, i);
    CHECK(spans[i].first == i + 1);
    CHECK(spans[i].intervals == 1);
    CHECK(spans[i].slowest == i + 1);
    CHECK(spans[i].all.compute == steps[i].compute);
    CHECK(spans[i].all.communication == steps[i].communication);
    CHECK(spans[i].all.busy == steps[i].busy);
    CHECK(spans[i].worst == spans[i].all);
  }
}

TEST_CASE("of more steps than a rank keeps apart, sums are exact, and so is the slowest") {
  constexpr std::uint64_t kUs = 1000;
  Job job(VirtualWorld(3), Fidelity::kExact, 1'000'000, {}, {}, Pace::kAuto);
  const std::uint64_t count = 10 * StepLog::kMost + 77;
  const std::uint64_t slow = GENERATE(1UL, 700UL, 5000UL, 5190UL);
  std::uint64_t computed = 0;
  for (std::uint64_t step = 1; step <= count; ++step) {
    for (const auto& rank : job.ranks) {
      const bool slowest = step == slow && rank == job.ranks[2];
      rank->marker_log().computed += (slowest ? 900 : 100) * kUs;
      // The others wait for it, and are busy a little longer.
      rank->marker_log().called += (step == slow && !slowest ? 850 : 0) * kUs;
      computed += (slowest ? 900 : 100) * kUs;
    }
    if (!job.mark({1})) continue;
    for (const auto& rank : job.ranks)
      for (std::uint64_t ScriptedLog::*const one :
           {&ScriptedLog::computed, &ScriptedLog::called, &ScriptedLog::computed_before,
            &ScriptedLog::called_before})
        rank->marker_log().*one = 0;
  }
  job.end();
  std::uint64_t next = 1, sum = 0;
  for (const SeriesSpan& span : job.output.trace.series.spans()) {
    CHECK(span.first == next);
    next += span.intervals;
    sum += span.all.compute.sum_ns;
    const bool here = span.first <= slow && slow < next;
    CHECK(span.worst.compute.most_ns == (here ? 900 : 100) * kUs);
    if (!here) continue;
    CHECK(span.slowest == slow);
    CHECK(span.worst.compute.most_rank == 2);
    CHECK(span.worst.compute.sum_ns == 1100 * kUs);
    CHECK(span.worst.busy.most_ns == 950 * kUs);
    CHECK(span.worst.busy.most_rank == 0);
  }
  CHECK(next == count + 1);
  CHECK(sum == computed);
}
