// SPDX-License-Identifier: BSD-3-Clause
// Votes that are acted on a marker later, with all ranks in one process: the states they lead to,
// and every event of every rank in the trace at the end.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "unit/scripted_job.h"

using namespace chameleon;
using namespace chameleon::testing;

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

TEST_CASE("a deferred vote that is lost stops markers at the next one") {
  JobIn<LosingWorld> job(LosingWorld(4, 5), Fidelity::kExact);
  job.options.voting = Voting::kDeferred;
  for (int i = 0; i < 12; ++i) job.step({1, 2});
  job.end();
  CHECK(job.online->facts().acted == 5);
  CHECK(job.ranks.front()->said.find("did not answer") != std::string::npos);
  for (int rank = 0; rank < 4; ++rank)
    CHECK(same(expand(job.output.trace, rank), job.ranks[static_cast<std::size_t>(rank)]->whole()));
}
