// SPDX-License-Identifier: BSD-3-Clause
// The way of a marker with all ranks in one process and without MPI: ranks that follow a script,
// what state each marker leads to, and every event of every rank in the trace at the end.
#include <map>
#include <random>
#include <set>
#include <string>

#include "format/codec.h"
#include "format/commit.h"
#include "unit/catch.h"
#include "unit/scripted_job.h"

using namespace chameleon;
using namespace chameleon::testing;

namespace {

/// One that says what votes take.
class CountingWorld : public VirtualWorld {
 public:
  CountingWorld(std::uint32_t size, Traffic& votes) : VirtualWorld(size, true), votes_(&votes) {}

  template <class T, class C>
  void cast(const PerRank<T>& values, C combine, std::uint32_t sequence) {
    reset_traffic();
    VirtualWorld::cast(values, combine, sequence);
    *votes_ = traffic();
  }

 private:
  Traffic* votes_;
};

}  // namespace

TEST_CASE("a steady run is one AT, one C and then L; a change goes back to AT") {
  Job job(GENERATE(1, 2, 3, 7, 16));
  job.options.few = 0;  // one rank that changes concerns all
  CHECK(job.step({1, 2}) == State::kAllTracing);
  CHECK(job.step({1, 2}) == State::kClustering);
  for (int i = 0; i < 5; ++i) CHECK(job.step({1, 2}) == State::kLead);
  job.ranks.back()->call(9);
  CHECK(job.step({1, 2}) == State::kAllTracing);
  job.ranks.back()->call(9);
  CHECK(job.step({1, 2}) == State::kClustering);
  job.end();
  const OnlineFacts facts = job.online->facts();
  CHECK(facts.acted == 9);
  CHECK(facts.clusterings == 2);
  for (const auto& rank : job.ranks) {
    CHECK(rank->marker_log().elections == 2);
    CHECK(rank->comparisons() > 0);
    CHECK(rank->said.empty());
  }
}

TEST_CASE("the vote of a marker is two messages of 152 bytes on each edge, whatever it carries") {
  const auto size = static_cast<std::uint32_t>(GENERATE(2, 16, 64, 1024));
  Traffic vote;
  JobIn<CountingWorld> job(CountingWorld(size, vote), Fidelity::kExact);
  for (std::uint64_t step = 0; step < 6; ++step) {
    for (const auto& rank : job.ranks) rank->marker_log().computed = step << 40;
    job.step({1, 2});
    CHECK(vote.messages == 2 * (size - 1));
    CHECK(vote.bytes == 152 * vote.messages);
    CHECK(vote.largest == 152);
    CHECK(vote.depth == 2 * tree_depth(size));
  }
  job.end();
}

TEST_CASE("whoever keeps all ranks in AT knows it") {
  Job job(4);
  for (std::uint64_t i = 0; i < 6; ++i) {
    job.ranks[1]->call(10 + i);
    CHECK(job.step({1, 2}) == State::kAllTracing);
  }
  job.end();
  for (int rank = 0; rank < 4; ++rank)
    CHECK(job.ranks[static_cast<std::size_t>(rank)]->marker_log().changes == (rank == 1 ? 5 : 0));
}

TEST_CASE("in exact every event of every rank is in the trace, however often it is flushed") {
  const int size = GENERATE(1, 3, 4, 8);
  Job job(size, Fidelity::kExact, static_cast<std::uint64_t>(GENERATE(1, 3, 100)));
  for (int i = 0; i < 20; ++i) {
    if (i % 7 == 3)
      job.step({1, 3, 2});
    else
      job.step({1, 2, 2});
    if (i == 11) job.ranks.front()->call(5);
  }
  for (const auto& rank : job.ranks) rank->call(8);  // a tail behind the last marker
  job.end();
  REQUIRE(job.output.trace.complete);
  CHECK(job.output.writes > 0);
  CHECK_FALSE(job.output.last_words);
  for (int rank = 0; rank < size; ++rank) {
    const ScriptedRank& mine = *job.ranks[static_cast<std::size_t>(rank)];
    CHECK(mine.dropped() == 0);
    CHECK(same(expand(job.output.trace, rank), mine.whole()));
  }
}

TEST_CASE(
    "in lead only the leads keep what happens in L, and the nodes say of whom they are exact") {
  Job job(8, Fidelity::kLead);
  for (int i = 0; i < 10; ++i) job.step({1, 2});
  job.end();
  std::size_t keep = 0;
  for (const auto& rank : job.ranks) keep += rank->dropped() == 0 ? 1 : 0;
  CHECK(keep == job.online->facts().clusters.size());
  CHECK(keep < job.ranks.size());
  for (int rank = 0; rank < 8; ++rank) CHECK(expand(job.output.trace, rank).size() == 20);
}

TEST_CASE("markers stop where a rank fails, which is said once; what the others did stays") {
  Job job(4);
  for (int i = 0; i < 4; ++i) job.step({1, 2});
  job.ranks[2]->fail();
  job.step({1, 2});
  CHECK_FALSE(job.online->mark());
  for (const auto& rank : job.ranks) rank->call(1);
  job.end();
  const std::string& said = job.ranks.front()->said;
  CHECK(said.find("failed on 1 of 4 ranks") != std::string::npos);
  CHECK(std::count(said.begin(), said.end(), '\n') == 1);
  CHECK(same(expand(job.output.trace, 1), job.ranks[1]->whole()));
}

TEST_CASE("markers that stop in L: what leads held is merged for their clusters, the rest is own") {
  const int size = GENERATE(2, 3, 4, 8, 16);
  const Fidelity fidelity = GENERATE(Fidelity::kExact, Fidelity::kChecked, Fidelity::kLead);
  const int before = GENERATE(0, 1, 2, 5);  // in AT, C and L
  const char* const how = GENERATE("ends", "fails", "is lost");
  // A rank that failed has no signature, for which virtual ranks have no way.
  if (how == std::string("fails") && fidelity != Fidelity::kExact) return;
  const bool lost = how == std::string("is lost");
  INFO("" << size << " ranks, " << fidelity_name(fidelity) << ", after " << before << ", " << how);
  const LosingWorld world(static_cast<std::uint32_t>(size),
                          lost ? static_cast<std::uint32_t>(before) : UINT32_MAX);
  JobIn<LosingWorld> job(world, fidelity);
  for (int i = 0; i < before; ++i) job.step({1, 2});
  // The last rank has less to do than the others, and each has a tail of its own.
  ScriptedRank& odd = *job.ranks.back();
  if (how == std::string("ends")) odd.end();
  if (how == std::string("fails")) odd.fail();
  for (const auto& rank : job.ranks)
    if (rank.get() != &odd) rank->call(3);
  CHECK(job.online->mark());
  CHECK_FALSE(job.online->mark());
  const bool held = fidelity != Fidelity::kExact && before > 2;
  CHECK((job.online->aside(0) != nullptr) == held);
  for (const auto& rank : job.ranks)
    if (rank.get() != &odd)
      for (std::uint64_t i = 0; i < 5; ++i) rank->call(4 + i % 2);
  job.end();
  CHECK(job.online->aside(0) == nullptr);
  REQUIRE(job.output.trace.complete);
  CHECK(job.output.trace.declarations.empty());
  for (int rank = 0; rank < size; ++rank) {
    const Stream& whole = job.ranks[static_cast<std::size_t>(rank)]->whole();
    const Stream found = expand(job.output.trace, rank);
    if (fidelity == Fidelity::kExact) CHECK(same(found, whole));
    // As many calls as there were, and those of the tail.
    CHECK(found.size() == whole.size());
    CHECK(same_or_declared(job.output.trace, rank, whole));
    for (std::size_t at = static_cast<std::size_t>(2 * before); at < whole.size(); ++at)
      CHECK(found[at].path == whole[at].path);
  }
}

TEST_CASE("where the last flush is long ago by one rank's clock, all ranks flush") {
  const bool steady = GENERATE(true, false);
  Job job(4);
  std::vector<int> writes;
  for (int i = 0; i < 12; ++i) {
    job.ranks[2]->compute(8);
    steady ? job.step({1, 2}) : job.step({1, static_cast<std::uint64_t>(2 + i)});
    writes.push_back(job.output.writes);
  }
  // 32 s are the first beyond 30. In exact, C is no flush.
  CHECK(writes == std::vector<int>{0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3});
  job.end();
  for (int rank = 0; rank < 4; ++rank)
    CHECK(same(expand(job.output.trace, rank), job.ranks[static_cast<std::size_t>(rank)]->whole()));
}

TEST_CASE("flushes that nobody asked for so often take at most 0.1 % of the time") {
  Job job(3, Fidelity::kExact, 1);
  job.options.least_flush_seconds = 1;
  job.options.flush_seconds = 1e6;
  for (const auto& rank : job.ranks) rank->take_long(3);
  const int steps = 2000;
  int early = 0;  // flushes, before anybody knows what one takes
  for (int i = 0; i < steps; ++i) {
    if (i == 10) early = job.output.writes;
    for (const auto& rank : job.ranks) rank->compute(2);
    job.step({1, 2});
  }
  const double spent = 3.0 * (job.output.writes - early);
  CHECK(spent / (2 * steps) <= 0.001);
  CHECK(spent / (2 * steps) > 0.0005);
  job.end();
}

TEST_CASE("where a rank holds much, all ranks flush") {
  Job job(4);
  job.options.trace_limit = 32 << 20;  // of which a rank may hold 2 MiB
  std::vector<int> writes;
  for (int i = 0; i < 8; ++i) {
    job.ranks[3]->hold(600 << 10);
    job.step({1, static_cast<std::uint64_t>(2 + i)});
    writes.push_back(job.output.writes);
  }
  CHECK(writes == std::vector<int>{0, 0, 0, 0, 1, 1, 1, 1});
  job.end();
}

TEST_CASE("without markers there is one merge, at the end") {
  Job job(5);
  for (const auto& rank : job.ranks)
    for (int i = 0; i < 6; ++i) rank->call(1);
  job.end();
  CHECK(job.output.writes == 0);
  CHECK(job.online->facts().acted == 0);
  for (int rank = 0; rank < 5; ++rank)
    CHECK(same(expand(job.output.trace, rank), job.ranks[static_cast<std::size_t>(rank)]->whole()));
}

TEST_CASE("without markers all algorithms but Chameleon's cluster whole runs, at the end") {
  const Fidelity fidelity = GENERATE(Fidelity::kExact, Fidelity::kLead);
  const std::string algorithm = GENERATE("chameleon", "dynamic", "callpath+parameter");
  Job job(VirtualWorld(5), fidelity, 100, find_preset(algorithm)->options);
  for (int rank = 0; rank < 5; ++rank)
    for (int i = 0; i < 6; ++i) job.ranks[static_cast<std::size_t>(rank)]->call(rank < 2 ? 1 : 2);
  job.end();
  const bool clusters = algorithm != "chameleon";
  const OnlineFacts facts = job.online->facts();
  CHECK(facts.clusterings == (clusters ? 1 : 0));
  REQUIRE(facts.clusters.size() == (clusters ? 2 : 0));
  if (clusters) CHECK(facts.clusters[1].ranks == RankList::range(2, 4));
  for (int rank = 0; rank < 5; ++rank) {
    const ScriptedRank& one = *job.ranks[static_cast<std::size_t>(rank)];
    CHECK(one.scripted_log().elections == (clusters ? 1 : 0));
    CHECK(same(expand(job.output.trace, rank), one.whole()));  // relative partners
  }
  const bool represents = clusters && fidelity == Fidelity::kLead;
  CHECK(job.output.trace.nodes.front().inexact.empty() == !represents);
}

TEST_CASE("the series says which interval took longest, on which rank, and who waited for it") {
  const int size = 5;
  Job job(size, GENERATE(Fidelity::kExact, Fidelity::kLead),
          static_cast<std::uint64_t>(GENERATE(3, 100)));
  constexpr std::uint64_t kMs = 1'000'000, kVoting = 2'000;
  for (std::uint64_t step = 1; step <= 20; ++step) {
    for (int rank = 0; rank < size; ++rank) {
      ScriptedRank& one = *job.ranks[static_cast<std::size_t>(rank)];
      one.marker_log().computed = (step == 13 && rank == 3 ? 9 : 1) * kMs;
      one.marker_log().called = 100 * static_cast<std::uint64_t>(rank);
      // Of the marker before: all but rank 3 waited for it after interval 13.
      one.marker_log().voted = kVoting + (step == 14 && rank != 3 ? 8 * kMs : 0);
    }
    job.step({1, 2});
  }
  for (const auto& rank : job.ranks) rank->marker_log().voted = kVoting;
  job.end();
  const auto& spans = job.output.trace.series.spans();
  REQUIRE(spans.size() == 20);
  for (const SeriesSpan& span : spans) {
    CAPTURE(span.first);
    CHECK(span.intervals == 1);
    const bool slow = span.first == 13;
    CHECK(span.all.compute.most_ns == (slow ? 9 : 1) * kMs);
    CHECK(span.all.compute.most_rank == (slow ? 3 : 0));
    CHECK(span.all.compute.least_ns == kMs);
    CHECK(span.all.compute.sum_ns == (slow ? 13 : 5) * kMs);
    CHECK(span.all.communication.sum_ns == 1000);
    CHECK(span.all.communication.most_rank == 4);
    CHECK(span.all.waiting.sum_ns == (slow ? 4 * 8 * kMs : 0));
    CHECK(span.all.waiting.least_rank == (slow ? 3 : 0));
    CHECK(span.phase == 0);
    CHECK(span.slowest == span.first);
  }
  CHECK(spans.front().state == 0);
  CHECK(spans.back().state == 2);
  for (const auto& rank : job.ranks) {
    REQUIRE(rank->marker_log().beyond.size() == 21);  // 20 markers and the end
    CHECK(rank->marker_log().phases == std::vector<std::uint32_t>(20, 0));
    CHECK(rank->marker_log().beyond[13] == kVoting);
  }
}

TEST_CASE("a run of a million markers adds at most 8 KiB for its series, whoever is slow when") {
  constexpr int kSize = 4;
  constexpr std::uint64_t kMarkers = 1'000'000, kUs = 1000;
  Job job(kSize, Fidelity::kLead, 20'000);
  std::mt19937 random(7);
  std::uint64_t computed = 0;
  for (std::uint64_t step = 1; step <= kMarkers; ++step) {
    for (const auto& rank : job.ranks) {
      ScriptedLog& log = rank->marker_log();
      log.computed = (700 + random() % 400) * kUs;
      log.called = (200 + random() % 300) * kUs;
      log.voted = (1 + random() % 50) * kUs;
      computed += log.computed;
    }
    if (step == 765'432) job.ranks[3]->marker_log().computed += 9 * kMarkers * kUs;
    job.step({1, 2});
  }
  computed += 9 * kMarkers * kUs;
  job.end();
  Trace& trace = job.output.trace;
  REQUIRE(trace.series.spans().size() <= Series::kMost);
  std::uint64_t next = 1, sum = 0;
  for (const SeriesSpan& span : trace.series.spans()) {
    CHECK(span.first == next);
    if (span.first <= 765'432 && 765'432 < span.first + span.intervals) {
      CHECK(span.slowest == 765'432);
      CHECK(span.worst.compute.most_rank == 3);
    }
    next += span.intervals;
    sum += span.all.compute.sum_ns;
  }
  CHECK(next == kMarkers + 1);
  CHECK(sum == computed);
  const auto size = [](const Trace& one) {
    return format::commit::frame(format::commit::kWhole, format::encode_trace(one)).size();
  };
  const std::size_t with = size(trace);
  trace.series.clear();
  INFO(with << " bytes, without the series " << size(trace));
  CHECK(with - size(trace) <= (8U << 10) + 64);
}

TEST_CASE("an observer sees every interval of every rank, dropped ones too") {
  struct Counter final : IntervalObserver {
    void interval(const SeenInterval& seen) override {
      ++seen_by[seen.rank];
      last = seen.marker;
      computed += seen.times.compute;
      signed_all = signed_all && seen.closed.signature.call_path != 0;
    }
    std::map<std::uint32_t, int> seen_by;
    std::uint64_t last = 0, computed = 0;
    bool signed_all = true;
  } counter;
  Job job(6, Fidelity::kLead);
  job.online->observe(&counter);
  for (int step = 0; step < 10; ++step) {
    for (const auto& rank : job.ranks) rank->marker_log().computed = 7;
    job.step({1, 2});
  }
  CHECK(counter.seen_by.size() == 6);
  for (const auto& [rank, count] : counter.seen_by) CHECK(count == 10);
  CHECK(counter.last == 10);
  CHECK(counter.computed == 6 * 10 * 7);
  CHECK(counter.signed_all);
  job.end();
}

TEST_CASE("a rank that is found to differ from its lead becomes one at the next election") {
  const auto leads_after = [](Fidelity fidelity, SignatureFormat further) {
    ClusterOptions clusters;
    clusters.further = further;
    JobIn<VirtualWorld> job(VirtualWorld(6), fidelity, 100, clusters);
    job.step({1, 2});
    CHECK(job.step({1, 2}) == State::kClustering);
    CHECK(job.step({1, 2}) == State::kLead);
    CHECK(job.online->facts().clusters.size() == 1);
    for (const int rank : {3, 5}) job.ranks[static_cast<std::size_t>(rank)]->differ_by(77);
    CHECK(job.step({3, 4}) == State::kAllTracing);  // which flushes
    job.step({3, 4});
    CHECK(job.step({3, 4}) == State::kLead);
    std::vector<std::uint32_t> leads;
    for (const auto& one : job.online->facts().clusters) leads.push_back(one.lead);
    return leads;
  };
  using Leads = std::vector<std::uint32_t>;
  CHECK(leads_after(Fidelity::kChecked, kFurtherSignatures) == Leads{0, 3});
  CHECK(leads_after(Fidelity::kChecked, 0) == Leads{0});                // as published
  CHECK(leads_after(Fidelity::kLead, kFurtherSignatures) == Leads{0});  // nobody compares
}
