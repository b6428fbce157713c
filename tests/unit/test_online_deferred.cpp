// SPDX-License-Identifier: BSD-3-Clause
// Votes that are acted on a marker later, with all ranks in one process: the states they lead to,
// and every event of every rank in the trace at the end.
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "unit/catch.h"
#include "unit/scripted_job.h"

using namespace chameleon;
using namespace chameleon::testing;

namespace {

/// What a random program does: the same in two jobs, of which one waits for votes.
struct Script {
  explicit Script(std::uint32_t seed) : random(seed) {
    size = static_cast<int>(1 + below(9));
    constexpr Fidelity kAll[] = {Fidelity::kExact, Fidelity::kChecked, Fidelity::kLead};
    fidelity = kAll[below(3)];
    flush_every = 1 + below(12);
  }
  std::uint32_t below(std::uint32_t end) { return static_cast<std::uint32_t>(random() % end); }

  std::mt19937 random;
  int size = 1;
  Fidelity fidelity = Fidelity::kExact;
  std::uint64_t flush_every = 1;
};

/// What ranks do in an interval: phases that come and go, and ranks of two kinds.
void work(Job& job, std::uint32_t phase, bool apart) {
  for (std::size_t rank = 0; rank < job.ranks.size(); ++rank) {
    job.ranks[rank]->call(10 + phase);
    job.ranks[rank]->call(20 + (apart ? rank % 3 : 0));
  }
}

}  // namespace

TEST_CASE("in all fidelities deferred votes come to what waiting votes come to", "[property]") {
  const auto seed = static_cast<std::uint32_t>(GENERATE(range(1, 120)));
  CAPTURE(seed);
  Script script(seed);
  Job waits(script.size, script.fidelity, script.flush_every);
  Job goes(script.size, script.fidelity, script.flush_every);
  goes.options.voting = Voting::kDeferred;
  std::vector<State> waited;
  const std::uint32_t waits_from = script.below(2) == 0 ? script.below(60) : UINT32_MAX;
  std::uint32_t phase = 0;
  const bool apart = script.below(2) == 0;
  const std::uint32_t markers = script.below(60);
  std::uint32_t steady = 0;
  bool asks = false;  // some rank for a flush, about which a deferred vote decides later
  for (std::uint32_t i = 0; i < markers; ++i) {
    const std::uint32_t before =
        std::exchange(phase, script.below(5) == 0 ? script.below(4) : phase);
    steady = before == phase ? steady + 1 : 0;
    const std::uint32_t rank = script.below(4 * static_cast<std::uint32_t>(script.size));
    // Not where virtual ranks, whose memory is one, would elect leads.
    const bool fails = script.below(60) == 0 && script.fidelity == Fidelity::kExact && steady > 1 &&
                       waited.back() == State::kLead,
               holds = script.below(20) == 0, late = script.below(20) == 0;
    asks = asks || (rank < waits.ranks.size() && (holds || late));
    for (Job* job : {&waits, &goes}) {
      work(*job, phase, apart);
      if (rank < job->ranks.size()) {
        if (fails) job->ranks[rank]->fail();
        if (holds) job->ranks[rank]->hold(3U << 20);
        if (late) job->ranks[rank]->compute(40);
      }
      if (i == waits_from) job->ranks.back()->wait_often();
      job->online->mark();
    }
    waited.push_back(waits.online->state());
    // Where a rank failed, markers stop at the next one; the interval up to there is not parted.
    const OnlineFacts facts = goes.online->facts();
    if (facts.acted > 0) CHECK(goes.online->state() == waited[facts.acted - 1]);
    const bool twice = script.fidelity == Fidelity::kExact && i > waits_from;
    if (waits.online->facts().acted == i + 1) CHECK(facts.acted + (twice ? 3 : 1) > i);
  }
  for (Job* job : {&waits, &goes}) {
    work(*job, 9, false);
    job->end();
    REQUIRE(job->output.trace.complete);
  }
  for (std::size_t rank = 0; rank < waits.ranks.size(); ++rank) {
    CHECK(same(waits.ranks[rank]->whole(), goes.ranks[rank]->whole()));
    if (!asks) CHECK(waits.ranks[rank]->dropped() == goes.ranks[rank]->dropped());
    const auto one = static_cast<int>(rank);
    CHECK(same(expand(waits.output.trace, one), expand(goes.output.trace, one)));
    if (script.fidelity == Fidelity::kExact && !waits.ranks[rank]->failed())
      CHECK(same(expand(goes.output.trace, one), goes.ranks[rank]->whole()));
  }
  const OnlineFacts one = waits.online->facts(), other = goes.online->facts();
  CHECK(one.acted == other.acted);
  CHECK(one.clusterings == other.clusterings);
  CHECK(one.doubled == 0);
  if (script.fidelity != Fidelity::kExact) CHECK(other.doubled == 0);
  for (std::size_t state = 0; state < 4; ++state)
    CHECK(OnlineFacts(one).count(state) == OnlineFacts(other).count(state));
}

TEST_CASE("a rank that ends early, or does not come, loses nothing that was recorded",
          "[property]") {
  const auto seed = static_cast<std::uint32_t>(GENERATE(range(1, 120)));
  CAPTURE(seed);
  Script script(seed);
  const bool loses = script.below(2) == 0;
  const std::uint32_t markers = 1 + script.below(30), last = script.below(markers);
  JobIn<LosingWorld> job(
      LosingWorld(static_cast<std::uint32_t>(script.size), loses ? last : UINT32_MAX),
      script.fidelity, script.flush_every);
  job.options.voting = Voting::kDeferred;
  const auto early = script.below(static_cast<std::uint32_t>(script.size));
  const std::uint32_t waits_from = script.below(2) == 0 ? script.below(markers) : UINT32_MAX;
  for (std::uint32_t i = 0; i < markers; ++i) {
    if (i == waits_from) job.ranks.back()->wait_often();
    if (!loses && i == last && script.size > 1) job.ranks[early]->end();
    job.step({script.below(6) == 0 ? 1U : 2U, 3});
  }
  for (const auto& rank : job.ranks)
    if (!rank->ends()) rank->call(8);
  job.end();
  REQUIRE(job.output.trace.complete);
  for (int rank = 0; rank < script.size; ++rank) {
    const ScriptedRank& mine = *job.ranks[static_cast<std::size_t>(rank)];
    const Stream found = expand(job.output.trace, rank);
    // All ranks did the same, so who stands for another has what that one did.
    if (script.fidelity == Fidelity::kExact || mine.dropped() == 0)
      CHECK(same(found, mine.whole()));
    else
      CHECK(found.size() <= mine.whole().size());
  }
}

TEST_CASE("deferred votes lead to the same states a marker later, and keep all that happened") {
  const int size = GENERATE(1, 3, 8);
  Job waits(size, Fidelity::kExact, 3), goes(size, Fidelity::kExact, 3);
  goes.options.voting = Voting::kDeferred;
  std::vector<State> waited, gone;
  for (std::uint64_t i = 0; i < 30; ++i) {
    const std::uint64_t path = i < 9 || i % 11 == 4 ? 1 : 2;
    waited.push_back(waits.step({path, 3}));
    gone.push_back(goes.step({path, 3}));
  }
  for (std::size_t i = 1; i < gone.size(); ++i) CHECK(gone[i] == waited[i - 1]);
  for (Job* job : {&waits, &goes}) {
    for (const auto& rank : job->ranks) rank->call(8);  // a tail behind the last marker
    job->end();
    REQUIRE(job->output.trace.complete);
    for (int rank = 0; rank < size; ++rank) {
      const ScriptedRank& mine = *job->ranks[static_cast<std::size_t>(rank)];
      CHECK(same(expand(job->output.trace, rank), mine.whole()));
      CHECK(mine.said.empty());
    }
  }
  OnlineFacts one = waits.online->facts(), other = goes.online->facts();
  CHECK(one.acted == other.acted);
  CHECK(one.clusterings == other.clusterings);
  CHECK(one.flushes == other.flushes);
  CHECK(one.count(0) == other.count(0));
}

/// Of each span: its end, and the lengths of the interval over ranks.
static std::vector<std::pair<std::uint64_t, IntervalTally>> times_of(const Series& series) {
  std::vector<std::pair<std::uint64_t, IntervalTally>> times;
  for (const SeriesSpan& span : series.spans()) times.emplace_back(span.end_ns, span.all);
  return times;
}

TEST_CASE("votes stay about one interval where a count depends on each") {
  const bool effort = GENERATE(false, true);
  Job goes(3, Fidelity::kExact);
  goes.options.voting = Voting::kDeferred;
  if (effort)
    goes.options.effort.of = cluster::EffortOf::kCompute;
  else
    goes.options.budget = 0.5;
  goes.ranks.front()->wait_often();
  for (int i = 0; i < 40; ++i) goes.step({1, 3});
  goes.end();
  CHECK(goes.online->facts().acted > 0);
  CHECK(goes.online->facts().doubled == 0);
}

TEST_CASE("where ranks wait for votes, a vote is about two intervals") {
  const int size = GENERATE(1, 3, 8);
  const std::uint64_t markers = GENERATE(6U, 7U, 40U, 41U, 42U, 43U);
  Job waits(size), goes(size);
  goes.options.voting = Voting::kDeferred;
  for (std::uint64_t i = 0; i < markers; ++i) {
    if (i == 4) goes.ranks.front()->wait_often();
    const std::uint64_t path = i < 9 || i % 11 == 4 ? 1 : 2;
    for (Job* job : {&waits, &goes}) {
      for (std::size_t r = 0; r < job->ranks.size(); ++r) {
        ScriptedRank* const rank = job->ranks[r].get();
        ScriptedLog& log = rank->marker_log();
        log.computed = 100 * (i + 1) + r;
        log.called = 7 * (i + 1);
        log.voted = 10 * (i + 1) + 3 * r;
        rank->compute(1);
      }
      job->step({path, 3});
    }
  }
  for (Job* job : {&waits, &goes}) job->end();
  const OnlineFacts one = waits.online->facts(), other = goes.online->facts();
  // The vote about interval 5 tells the others; the one about 6 is cast before that is known, and
  // in MPI_Finalize no vote is about two markers.
  CHECK(other.doubled == (markers < 8 ? 0 : 7));
  CHECK(one.acted == markers);
  CHECK(other.acted == markers);
  CHECK(one.clusterings == other.clusterings);
  for (std::size_t state = 0; state < 4; ++state)
    CHECK(OnlineFacts(one).count(state) == OnlineFacts(other).count(state));
  // Phases of intervals, and their times, are those of each.
  CHECK(waits.ranks.back()->scripted_log().phases == goes.ranks.back()->scripted_log().phases);
  CHECK(waits.ranks.back()->scripted_log().beyond == goes.ranks.back()->scripted_log().beyond);
  CHECK(times_of(waits.output.trace.series) == times_of(goes.output.trace.series));
  // A marker with two decisions tells to which state the first led.
  const std::size_t twice = markers < 8 ? 0 : (markers - 6) / 2;
  CHECK(goes.ranks.back()->scripted_log().led.size() >= std::max<std::size_t>(twice, 1) - 1);
  CHECK(waits.ranks.back()->scripted_log().led.empty());
  for (int rank = 0; rank < size; ++rank) {
    const ScriptedRank& mine = *goes.ranks[static_cast<std::size_t>(rank)];
    CHECK(same(expand(goes.output.trace, rank), mine.whole()));
    CHECK(mine.said.empty());
  }
}

TEST_CASE("a flush is asked for once, also where votes are about two intervals") {
  Job goes(2, Fidelity::kExact, 1000);
  goes.options.voting = Voting::kDeferred;
  goes.options.flush_seconds = 30;
  goes.ranks.front()->wait_often();
  int before = 0;
  for (int i = 0; i < 400; ++i) {
    for (const auto& rank : goes.ranks) rank->compute(1);
    goes.step({1, 3});
    if (i == 9) before = goes.output.writes;
  }
  CHECK(goes.online->facts().doubled > 0);
  CHECK(goes.output.writes - before <= 390 / 30);
  CHECK(goes.output.writes - before >= 390 / 35);
  goes.end();
}

TEST_CASE("a deferred vote that is lost stops markers at the next one") {
  // The third vote asks whether all ranks are where they are clustered.
  const std::uint32_t lost = GENERATE(0U, 1U, 2U, 3U, 4U, 5U);
  JobIn<LosingWorld> job(LosingWorld(4, lost), Fidelity::kExact);
  job.options.voting = Voting::kDeferred;
  for (int i = 0; i < 12; ++i) job.step({1, 2});
  job.end();
  CHECK(job.online->facts().acted == (lost <= 2 ? lost : lost - 1));
  CHECK(job.ranks.front()->said.find("did not answer") != std::string::npos);
  for (int rank = 0; rank < 4; ++rank)
    CHECK(same(expand(job.output.trace, rank), job.ranks[static_cast<std::size_t>(rank)]->whole()));
}
