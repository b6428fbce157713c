// SPDX-License-Identifier: BSD-3-Clause

#include "analysis/tool_work.h"
#include "unit/catch.h"

using namespace chameleon;
using analysis::tool_work;

namespace {

/// Four ranks, each idle for half of what it spends for the tool; rank r spends r + 1 times as
/// much.
Trace job() {
  Trace trace;
  trace.world_size = 4;
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    RankFacts& facts = trace.facts[rank];
    facts.run_ns = 1000;
    facts.tool_l_ns = 20 * (rank + 1);
    facts.idle_l_ns = 10 * (rank + 1);
    facts.tool_f_ns = 2 * (rank + 1);
    facts.idle_f_ns = rank + 1;
    facts.instructions = 100 * (rank + 1);
    facts.tool_instructions = 10 * (rank + 1);
    trace.ranks.insert(rank);
  }
  return trace;
}

}  // namespace

TEST_CASE("what leads and the other ranks did for the tracer") {
  Trace trace = job();
  trace.online.clusters = {{1, 0, RankList::range(0, 2)}, {1, 3, RankList::single(3)}};
  const auto work = tool_work(trace);
  CHECK(work.all.ranks == 4);
  CHECK(work.all.idle() == Approx(11 * 2.5));
  CHECK(work.all.tool() == Approx(22 * 2.5));
  CHECK(work.leads.ranks == 2);
  CHECK(work.leads.idle_ns[2] == Approx(25));
  CHECK(work.others.ranks == 2);
  CHECK(work.others.idle_ns[2] == Approx(25));
  CHECK(work.others.idle_ns[3] == Approx(2.5));
  CHECK(work.others.instructions == Approx(250));
  CHECK(work.leads.tool_instructions == Approx(25));
  CHECK(work.leads.run_ns == Approx(1000));
}

TEST_CASE("without an election no rank leads") {
  const auto work = tool_work(job());
  CHECK(work.all.ranks == 4);
  CHECK(work.leads.ranks == 0);
  CHECK(work.others.ranks == 0);
  CHECK(work.others.idle() == 0);
}

TEST_CASE("instructions that were not counted on all ranks are not compared") {
  Trace trace = job();
  trace.facts[1].instructions = trace.facts[1].tool_instructions = 0;
  trace.online.clusters = {{1, 0, RankList::range(0, 3)}};
  const auto work = tool_work(trace);
  CHECK(work.all.instructions == 0);
  CHECK(work.others.instructions == 0);
  CHECK(work.leads.instructions == Approx(100));
}

TEST_CASE("of several threads the first has what is the rank's") {
  Trace trace = job();
  trace.threads = 2;
  for (std::uint32_t rank = 0; rank < 4; ++rank) trace.facts[4 + rank] = RankFacts();
  CHECK(tool_work(trace).all.ranks == 4);
}
