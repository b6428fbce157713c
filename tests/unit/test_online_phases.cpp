// SPDX-License-Identifier: BSD-3-Clause
// Phases that come and go, with all ranks in one process: which clusters they take, what they cost
// in flushes, and what is in the trace at the end.
#include <random>
#include <set>
#include <string>

#include "unit/catch.h"
#include "unit/scripted_job.h"

using namespace chameleon;
using namespace chameleon::testing;

namespace {

/// What the ranks of a phase do: 'D' differs between them, so its clusters are others.
void play(Job& job, char phase) {
  for (std::size_t rank = 0; rank < job.ranks.size(); ++rank)
    for (int i = 0; i < 2; ++i)
      job.ranks[rank]->call(10 * static_cast<std::uint64_t>(phase) +
                            (phase == 'D' && rank % 2 == 1 ? 5 : 0));
  job.online->mark();
}

std::string some_order(std::string phases, std::size_t markers, unsigned seed) {
  std::mt19937 random(seed);
  std::string order;
  while (order.size() < markers) order += phases[random() % phases.size()];
  return order;
}

}  // namespace

TEST_CASE("phases that return take their clusters with them: one clustering a phase, then L") {
  const int size = GENERATE(1, 2, 3, 7, 8);
  const Fidelity fidelity = GENERATE(Fidelity::kExact, Fidelity::kChecked, Fidelity::kLead);
  const auto flush_every = static_cast<std::uint64_t>(GENERATE(3, 100));
  const std::string order = GENERATE(std::string("AABAABAABAABAABAABAAB"),
                                     std::string("ADADADADADADADADADADADADADADADAD"),
                                     some_order("ABD", 60, 1), some_order("ABCD", 60, 2));
  INFO(size << " ranks, " << fidelity_name(fidelity) << ", " << order);
  Job job(size, fidelity, flush_every);
  for (const char phase : order) play(job, phase);
  OnlineFacts facts = job.online->facts();
  const std::set<char> distinct(order.begin(), order.end());
  CHECK(facts.clusterings == distinct.size());
  CHECK(facts.count(1) == distinct.size());
  CHECK(facts.count(2) >= order.size() - 2 * distinct.size());
  job.end();
  REQUIRE(job.output.trace.complete);
  std::size_t keep = 0;
  for (int rank = 0; rank < size; ++rank) {
    const ScriptedRank& mine = *job.ranks[static_cast<std::size_t>(rank)];
    keep += mine.dropped() == 0 ? 1 : 0;
    const Stream found = expand(job.output.trace, rank);
    // Whom a lead represents makes the same calls in the same order, whatever phases came between.
    REQUIRE(found.size() == mine.whole().size());
    for (std::size_t at = 0; at < found.size(); ++at)
      CHECK(found[at].path == mine.whole()[at].path);
    if (fidelity == Fidelity::kExact) CHECK(same(found, mine.whole()));
    CHECK(same_or_declared(job.output.trace, rank, mine.whole()));
  }
  if (fidelity == Fidelity::kExact) CHECK(keep == job.ranks.size());
  if (fidelity != Fidelity::kExact && size > 2) CHECK(keep < job.ranks.size());
}

TEST_CASE("ranks that change places are another phase: its clusters are of ranks") {
  Job job(4, Fidelity::kLead);
  const auto step = [&](std::size_t other) {
    for (std::size_t rank = 0; rank < 4; ++rank) job.ranks[rank]->call(rank == other ? 2 : 1);
    job.online->mark();
  };
  for (int i = 0; i < 5; ++i)
    for (const std::size_t other : {3U, 1U}) step(other);
  CHECK(job.online->facts().clusterings == 2);
  job.end();
  for (int rank = 0; rank < 4; ++rank) {
    const Stream found = expand(job.output.trace, rank);
    const Stream& whole = job.ranks[static_cast<std::size_t>(rank)]->whole();
    REQUIRE(found.size() == whole.size());
    for (std::size_t at = 0; at < found.size(); ++at) CHECK(found[at].path == whole[at].path);
  }
}

TEST_CASE("phases that take turns cost a flush each, and none at a switch") {
  const Fidelity fidelity = GENERATE(Fidelity::kExact, Fidelity::kChecked, Fidelity::kLead);
  const Voting voting = GENERATE(Voting::kBlocking, Voting::kDeferred);
  const auto flush_every = static_cast<std::uint64_t>(GENERATE(50, 1000));
  const std::string order =
      GENERATE(std::string("AB"), std::string("AAB"), std::string("ABCD"), std::string("AAAABBBB"),
               some_order("ABC", 200, 3), some_order("ABCD", 200, 4));
  INFO(fidelity_name(fidelity) << ", " << order << ", every " << flush_every);
  Job job(8, fidelity, flush_every);
  job.options.voting = voting;
  for (std::size_t i = 0; i < 200; ++i) play(job, order[i % order.size()]);
  const std::size_t phases = std::set<char>(order.begin(), order.end()).size();
  const std::size_t due = 200 / flush_every;
  CHECK(static_cast<std::size_t>(job.output.writes) <=
        due + (fidelity == Fidelity::kExact ? 0 : phases));
  job.end();
  std::size_t dropped = 0;
  for (int rank = 0; rank < 8; ++rank) {
    const ScriptedRank& mine = *job.ranks[static_cast<std::size_t>(rank)];
    dropped += mine.dropped();
    const Stream found = expand(job.output.trace, rank);
    REQUIRE(found.size() == mine.whole().size());
    for (std::size_t at = 0; at < found.size(); ++at)
      CHECK(found[at].path == mine.whole()[at].path);
    CHECK(same_or_declared(job.output.trace, rank, mine.whole()));
  }
  CHECK((dropped > 0) == (fidelity != Fidelity::kExact));
}

TEST_CASE("phases with too many joint clusters flush no more often than twice what is due") {
  // Who is with whom differs from phase to phase: no two ranks are together in all of them.
  const Fidelity fidelity = GENERATE(Fidelity::kChecked, Fidelity::kLead);
  ClusterOptions clusters;
  clusters.k = 2;
  Job job(VirtualWorld(64), fidelity, 20, clusters);
  const auto step = [&](std::size_t phase) {
    for (std::size_t rank = 0; rank < 64; ++rank)
      job.ranks[rank]->call(10 * (phase + 1) + (rank >> (2 * phase) & 3));
    job.online->mark();
  };
  for (std::size_t i = 0; i < 120; ++i) step(i % 3);
  CHECK(job.output.writes <= 3 + 2 * 120 / 20);
  job.end();
  for (int rank = 0; rank < 64; ++rank) {
    const Stream found = expand(job.output.trace, rank);
    const Stream& whole = job.ranks[static_cast<std::size_t>(rank)]->whole();
    REQUIRE(found.size() == whole.size());
    for (std::size_t at = 0; at < found.size(); ++at) CHECK(found[at].path == whole[at].path);
  }
}

TEST_CASE("clusters in which ranks were found to differ are made anew when the phase returns") {
  ClusterOptions clusters;
  clusters.further = kFurtherSignatures;
  Job job(VirtualWorld(6), Fidelity::kChecked, 6, clusters);
  for (const char phase : std::string("AABBAA")) play(job, phase);
  CHECK(job.online->facts().clusterings == 2);
  for (const int rank : {3, 5}) job.ranks[static_cast<std::size_t>(rank)]->differ_by(77);
  for (const char phase : std::string("BABA")) play(job, phase);  // and a flush
  CHECK(job.online->facts().clusterings == 2);
  for (const char phase : std::string("BABA")) play(job, phase);
  CHECK(job.online->facts().clusterings == 4);  // of each phase
  CHECK(job.online->facts().clusters.size() == 2);
  for (const int rank : {3, 5}) job.ranks[static_cast<std::size_t>(rank)]->differ_by(77);
  for (const char phase : std::string("BABABABABABA")) play(job, phase);
  CHECK(job.online->facts().clusterings == 4);  // those ranks were known to differ
  job.end();
}
