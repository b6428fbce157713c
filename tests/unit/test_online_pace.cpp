// SPDX-License-Identifier: BSD-3-Clause
// CHAMELEON_CALL_FREQUENCY=auto with all ranks in one process: when they vote, and every event of
// every rank in the trace at the end.
#include <catch2/catch.hpp>
#include <random>

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
