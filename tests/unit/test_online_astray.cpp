// SPDX-License-Identifier: BSD-3-Clause
// Ranks that stray from what they were clustered by: what state each marker leads to, who keeps
// what, and every event of every rank in the trace at the end.
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "unit/catch.h"
#include "unit/scripted_job.h"

using namespace chameleon;
using namespace chameleon::testing;

namespace {

const std::vector<Fidelity> kAll = {Fidelity::kExact, Fidelity::kChecked, Fidelity::kLead};
const std::vector<Voting> kBoth = {Voting::kBlocking, Voting::kDeferred};

/// A job in which each rank does one thing, but for those that stray.
struct Straying {
  Straying(int size, Fidelity fidelity, Voting voting, std::uint64_t flush_every = 100)
      : job(size, fidelity, flush_every) {
    job.options.voting = voting;
  }

  /// An interval, in which these ranks do something else.
  void step(const std::set<std::size_t>& astray = {}, std::uint64_t other = 7) {
    for (std::size_t rank = 0; rank < job.ranks.size(); ++rank) {
      job.ranks[rank]->call(1);
      if (astray.count(rank) > 0) job.ranks[rank]->call(other);
      job.ranks[rank]->call(2);
    }
    job.online->mark();
    if (const OnlineFacts facts = job.online->facts(); facts.acted > known) note();
  }
  void note() {
    known = job.online->facts().acted;
    states += std::string(states.empty() ? "" : " ") + state_name(job.online->state());
  }
  void end() {
    job.end();
    REQUIRE(job.output.trace.complete);
    CHECK(job.output.trace.declarations.empty());
    if (job.options.voting == Voting::kDeferred && known > 0) {
      // The last interval was decided about on the way to the end.
      const OnlineFacts facts = job.online->facts();
      CHECK(facts.acted == known + 1);
    }
    for (std::size_t rank = 0; rank < job.ranks.size(); ++rank) {
      INFO("rank " << rank);
      const Stream& whole = job.ranks[rank]->whole();
      const Stream found = expand(job.output.trace, static_cast<int>(rank));
      REQUIRE(found.size() == whole.size());
      std::size_t other = 0;
      for (std::size_t at = 0; at < found.size(); ++at) other += found[at].path != whole[at].path;
      CHECK(other == 0);
      if (job.ranks[rank]->dropped() == 0) CHECK(same(found, whole));
      if (job.options.fidelity == Fidelity::kExact) CHECK(job.ranks[rank]->dropped() == 0);
    }
  }
  std::size_t dropped(std::size_t rank) const { return job.ranks[rank]->dropped(); }

  Job job;
  std::string states;
  std::uint64_t known = 0;
};

}  // namespace

TEST_CASE("a rank that strays for an interval stands alone, and the others stay in L", "[astray]") {
  const int size = GENERATE(4, 5, 8, 16);
  const Fidelity fidelity = GENERATE(from_range(kAll));
  const Voting voting = GENERATE(from_range(kBoth));
  const std::size_t who = GENERATE(0U, 3U);  // the lead of all, and one that it leads
  INFO(size << " ranks, " << fidelity_name(fidelity) << ", rank " << who);
  Straying run(size, fidelity, voting);
  for (int i = 0; i < 4; ++i) run.step();
  run.step({who});
  for (int i = 0; i < 4; ++i) run.step();
  // With deferred votes nothing is decided yet about the last interval.
  CHECK(run.states == (voting == Voting::kBlocking ? "AT C L L L L L L L" : "AT C L L L L L L"));
  CHECK(run.job.online->facts().clusterings == 1);
  // In C, and before the rank stands alone; in exact none is due.
  CHECK(run.job.output.writes == (fidelity == Fidelity::kExact ? 0 : 2));
  run.end();
  if (fidelity == Fidelity::kExact) return;
  // Two intervals of L were over before; the rest is the rank's own, and also that of whom it
  // leads.
  CHECK(run.dropped(3) == 4);
  CHECK(run.dropped(2) == (who == 0 ? 4 : 14));
}

TEST_CASE("it is represented again from the next flush on that is due", "[astray]") {
  const Fidelity fidelity = GENERATE(Fidelity::kChecked, Fidelity::kLead);
  const Voting voting = GENERATE(from_range(kBoth));
  Straying run(8, fidelity, voting, 6);
  for (int i = 0; i < 20; ++i)
    run.step(i == 5 || i == 7 ? std::set<std::size_t>{0, 3} : std::set<std::size_t>{});
  CHECK(run.states.find("AT", 1) == std::string::npos);
  run.end();
  // Of 18 intervals in L they keep those from the sixth to the next flush that is due, of two calls
  // each, whether or not they stray in them.
  CHECK(run.dropped(3) == run.dropped(2));
  CHECK(run.dropped(3) == 2 * 12);
  CHECK(run.dropped(0) == 0);
}

TEST_CASE("who strays for good is clustered anew, where nobody changes beside it", "[astray]") {
  const int size = GENERATE(4, 8, 16);
  const Fidelity fidelity = GENERATE(from_range(kAll));
  const Voting voting = GENERATE(from_range(kBoth));
  const std::size_t who = GENERATE(0U, 2U);
  Straying run(size, fidelity, voting);
  for (int i = 0; i < 4; ++i) run.step();
  for (int i = 0; i < 5; ++i) run.step({who});
  run.step();
  run.step();
  run.step();
  // Back in the former phase, its clusters are known.
  const std::string states = "AT C L L L C L L L L L L";
  CHECK(states.find(run.states) == 0);
  CHECK(run.known + (voting == Voting::kDeferred) == 12);
  CHECK(run.job.online->facts().clusterings == 2);
  CHECK(run.job.online->facts().clusters.size() == 2);
  run.end();
}

TEST_CASE("where another rank strays at each marker, one that strays for good stands alone") {
  const Fidelity fidelity = GENERATE(from_range(kAll));
  const Voting voting = GENERATE(from_range(kBoth));
  Straying run(16, fidelity, voting);
  for (std::size_t i = 0; i < 40; ++i) {
    std::set<std::size_t> astray;
    if (i > 4) astray = {5, i % 2 == 0 ? 6 : 6 + i % 8};
    run.step(astray, 7);
  }
  CHECK(run.states.find("AT", 1) == std::string::npos);
  run.end();
}

TEST_CASE("many ranks that stray are a change for all", "[astray]") {
  const int size = GENERATE(1, 2, 3, 4, 8, 16);
  const Fidelity fidelity = GENERATE(from_range(kAll));
  const Voting voting = GENERATE(from_range(kBoth));
  std::set<std::size_t> many;
  for (int i = 0; i < size / 4 + 1; ++i) many.insert(static_cast<std::size_t>(size - 1 - i));
  Straying run(size, fidelity, voting);
  for (int i = 0; i < 4; ++i) run.step();
  for (int i = 0; i < 4; ++i) run.step(many);
  const std::string states = "AT C L L AT C L L";
  CHECK(states.find(run.states) == 0);
  CHECK(run.job.online->facts().clusterings == 2);
  run.end();
}

TEST_CASE("without few, one rank that changes is a change for all: as published", "[astray]") {
  const int size = GENERATE(4, 8, 16);
  const Fidelity fidelity = GENERATE(from_range(kAll));
  const Voting voting = GENERATE(from_range(kBoth));
  Straying run(size, fidelity, voting);
  run.job.options.few = 0;
  for (int i = 0; i < 9; ++i)
    run.step(i == 4 || i == 6 ? std::set<std::size_t>{3} : std::set<std::size_t>{});
  const std::string states = "AT C L L AT L C L L";
  CHECK(states.find(run.states) == 0);
  run.end();
}

namespace {

/// Ranks stray independently of each other, in a share of their intervals.
class Noise {
 public:
  Noise(std::uint32_t seed, double share) : random_(seed), share_(share) {}
  std::set<std::size_t> next(std::size_t ranks) {
    std::set<std::size_t> astray;
    for (std::size_t rank = 0; rank < ranks; ++rank)
      if (static_cast<double>(random_() % 1'000'000) < 1e6 * share_) astray.insert(rank);
    return astray;
  }
  std::uint32_t below(std::uint32_t end) { return static_cast<std::uint32_t>(random_() % end); }

 private:
  std::mt19937 random_;
  double share_;
};

}  // namespace

TEST_CASE("where each rank strays in 5 % of its intervals, nearly all markers lead to L",
          "[astray]") {
  const int size = GENERATE(4, 8, 16, 64, 256, 1024);
  const Fidelity fidelity = size > 256 ? Fidelity::kExact : GENERATE(from_range(kAll));
  const std::uint32_t seed = GENERATE(1U, 2U, 3U);
  INFO(size << " ranks, " << fidelity_name(fidelity) << ", seed " << seed);
  Straying run(size, fidelity, Voting::kBlocking);
  Noise noise(seed, 0.05);
  for (int i = 0; i < 60; ++i) run.step(noise.next(run.job.ranks.size()), 7 + noise.below(8));
  OnlineFacts facts = run.job.online->facts();
  CHECK(facts.count(2) >= 50);
  CHECK(facts.clusterings <= 4);
  if (fidelity != Fidelity::kExact)
    CHECK(run.job.output.writes <= 8 + 2 * static_cast<int>(facts.clusterings));
  run.end();
}

TEST_CASE("ranks that stray as they like: deferred votes come to the same, and nothing is lost",
          "[property][astray]") {
  const auto seed = static_cast<std::uint32_t>(GENERATE(range(1, 200)));
  CAPTURE(seed);
  Noise noise(seed, 0.02);
  const auto size = static_cast<int>(1 + noise.below(20));
  const Fidelity fidelity = kAll[noise.below(3)];
  const std::uint64_t flush_every = 2 + noise.below(15);
  Straying waits(size, fidelity, Voting::kBlocking, flush_every);
  Straying goes(size, fidelity, Voting::kDeferred, flush_every);
  const std::uint32_t markers = noise.below(60), waits_from = noise.below(80);
  std::set<std::size_t> lasting;
  for (std::uint32_t i = 0; i < markers; ++i) {
    std::set<std::size_t> astray = noise.next(static_cast<std::size_t>(size));
    if (noise.below(15) == 0) lasting = noise.next(static_cast<std::size_t>(size));
    if (noise.below(25) == 0) lasting = {noise.below(static_cast<std::uint32_t>(size))};
    if (noise.below(30) == 0)
      for (std::size_t rank = 0; rank < static_cast<std::size_t>(size); ++rank)
        if (rank % 3 != 0) lasting.insert(rank);
    astray.insert(lasting.begin(), lasting.end());
    const std::uint64_t other = 7 + i / 10 % 2;
    for (Straying* run : {&waits, &goes}) {
      if (i == waits_from) run->job.ranks.back()->wait_often();
      run->step(astray, other);
    }
  }
  waits.job.end();
  goes.job.end();
  OnlineFacts one = waits.job.online->facts(), other = goes.job.online->facts();
  CHECK(one.acted == other.acted);
  CHECK(one.clusterings == other.clusterings);
  CHECK(one.flushes == other.flushes);
  for (std::size_t state = 0; state < 4; ++state) CHECK(one.count(state) == other.count(state));
  for (Straying* run : {&waits, &goes})
    for (std::size_t rank = 0; rank < run->job.ranks.size(); ++rank) {
      const Stream& whole = run->job.ranks[rank]->whole();
      const Stream found = expand(run->job.output.trace, static_cast<int>(rank));
      REQUIRE(found.size() == whole.size());
      for (std::size_t at = 0; at < found.size(); ++at) REQUIRE(found[at].path == whole[at].path);
      if (fidelity == Fidelity::kExact || run->dropped(rank) == 0) CHECK(same(found, whole));
      CHECK(waits.dropped(rank) == goes.dropped(rank));
    }
}
