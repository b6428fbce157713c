// SPDX-License-Identifier: BSD-3-Clause
#include <cstring>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "statemachine/state_machine.h"
#include "unit/catch.h"

using namespace chameleon;
using namespace chameleon::statemachine;

namespace {

constexpr State AT = State::kAllTracing, C = State::kClustering, L = State::kLead,
                F = State::kFinalize;
const Vote kSame(0, 0, 0);
const Vote kChanged(3, 0, 0);

/// Votes as a run of intervals gives them: the letter of each is what its ranks do; a flush is due
/// after `flush_every` markers without one, never for 0. With a dictionary, phases that return are
/// recalled.
struct Sequence {
  explicit Sequence(const std::string& intervals, unsigned flush_every = 0, bool recalls = false) {
    char before = '\0';
    unsigned since = 0;
    for (const char now : intervals) {
      const bool due = flush_every > 0 && ++since >= flush_every;
      const auto hash = static_cast<std::uint64_t>(now);
      const Recall recall = recalls ? phases.recall(hash) : Recall::kNew;
      decisions.push_back(machine.step(Vote(now == before ? 0 : 4, 0, 0), due, recall));
      if (decisions.back().state == C) phases.keep(hash, std::make_shared<const char>(now));
      if (merges(decisions.back().action)) since = 0;
      before = now;
      states += state_name(decisions.back().state);
      states += ' ';
    }
  }
  std::uint64_t of(State state) const { return machine.count(state); }

  StateMachine machine;
  PhaseDictionary<std::shared_ptr<const char>> phases;
  std::vector<Decision> decisions;
  std::string states;
};

/// A machine with the memory that a cell asks for, by a way that leads there; none for those that
/// cannot be.
std::optional<StateMachine> machine_in(const Cell& cell) {
  StateMachine machine;
  if (cell.first && !cell.recluster) return std::nullopt;  // clusters before any marker
  if (!cell.first) {
    machine.step(kChanged, false);
    if (!cell.recluster) machine.step(kSame, false);
  }
  if (cell.stopped) machine.stop();
  return machine;
}

/// The table of the design, written a second time as plainly as can be.
Decision expected(const Cell& cell) {
  if (cell.finalize) return {F, Action::kFinish};
  if (cell.stopped || cell.halt) return {AT, Action::kStop};
  if (cell.first) return {AT, cell.flush_due ? Action::kFlushHistory : Action::kRemember};
  const bool due = cell.flush_due, many = cell.astray == Astray::kMany;
  if (cell.astray == Astray::kNone && !cell.recluster)
    return {L, due ? Action::kJoinAndFlush : Action::kJoin};
  if (!many && cell.changed && !cell.recluster)
    return {L, due ? Action::kStandAloneAndFlush : Action::kStandAlone};
  if (cell.known && cell.recluster) return {L, due ? Action::kTakeAndFlush : Action::kTake};
  if (cell.known) return {L, due ? Action::kSwitchAndFlush : Action::kSwitch};
  if (cell.recluster && (cell.seen || !many)) return {C, Action::kClusterAndElect};
  if (cell.seen || !many) return {C, Action::kFlushAndElect};
  if (!cell.recluster) return {AT, Action::kFlushAndKeep};
  return {AT, due ? Action::kFlushHistory : Action::kKeep};
}

}  // namespace

TEST_CASE("every cell of the state table, impossible ones included", "[statemachine]") {
  std::set<std::size_t> rows;
  for (unsigned number = 0; number < kCells; ++number) {
    const Cell cell = cell_of(number);
    INFO("cell " << number);
    const std::size_t row = row_of(cell);
    REQUIRE(row < kStateTable.size());
    rows.insert(row);
    CHECK(Decision{kStateTable[row].state, kStateTable[row].action} == expected(cell));
  }
  CHECK(rows.size() == kStateTable.size());
}

TEST_CASE("step and finalize decide as the table in every state that can be", "[statemachine]") {
  for (unsigned number = 0; number < kCells; ++number) {
    const Cell cell = cell_of(number);
    const auto start = machine_in(cell);
    if (!start) continue;
    INFO("cell " << number);
    for (const Vote& halt : {Vote(0, 1, 0), Vote(0, 0, 1), Vote(0, 2, 5)}) {
      StateMachine machine = *start;
      Vote vote(cell.changed ? 2 : 0, 0, 0, 99);
      if (cell.halt) combine(vote, halt);
      const Recall recall = cell.known  ? Recall::kClustered
                            : cell.seen ? Recall::kSeen
                                        : Recall::kNew;
      const Decision decision = cell.finalize
                                    ? machine.finalize()
                                    : machine.step(vote, cell.flush_due, recall, cell.astray);
      CHECK(decision == expected(cell));
      StateMachine published = *start;
      if (!cell.finalize && cell.astray == (cell.changed ? Astray::kMany : Astray::kNone))
        CHECK(published.step(vote, cell.flush_due, recall) == decision);

      const bool votes = !cell.finalize && !cell.stopped;
      CHECK(machine.acted() == start->acted() + votes);
      const bool counts = votes || cell.finalize;
      CHECK(machine.count(decision.state) == start->count(decision.state) + counts);
      CHECK(machine.stopped() == (cell.stopped || cell.halt || cell.finalize));
      const bool clusters = decision.state == C || decision.state == L ||
                            (!start->recluster() && decision.action != Action::kFlushAndKeep);
      CHECK(machine.recluster() == !clusters);
    }
  }
}

TEST_CASE("single steps by name", "[statemachine]") {
  using Row = std::tuple<std::string, bool, bool, std::string, Action>;
  // Intervals before; the last changed; flush due; state; action.
  const auto [before, changed, due, state, action] =
      GENERATE(table<std::string, bool, bool, std::string, Action>({
          Row{"", true, false, "AT", Action::kRemember},
          Row{"", false, false, "AT", Action::kRemember},
          Row{"", false, true, "AT", Action::kFlushHistory},
          Row{"A", false, false, "C", Action::kClusterAndElect},
          Row{"A", false, true, "C", Action::kClusterAndElect},
          Row{"A", true, false, "AT", Action::kKeep},
          Row{"A", true, true, "AT", Action::kFlushHistory},
          Row{"AA", false, false, "L", Action::kJoin},
          Row{"AA", false, true, "L", Action::kJoinAndFlush},
          Row{"AA", true, false, "AT", Action::kFlushAndKeep},
          Row{"AA", true, true, "AT", Action::kFlushAndKeep},
          Row{"AAA", true, false, "AT", Action::kFlushAndKeep},
          Row{"AAAB", false, false, "C", Action::kClusterAndElect},
          Row{"AAAB", true, false, "AT", Action::kKeep},
          Row{"AAABB", false, false, "L", Action::kJoin},
      }));
  INFO('"' << before << "\" changed " << changed << " due " << due);
  Sequence sequence(before);
  const Decision decision = sequence.machine.step(changed ? kChanged : kSame, due);
  CHECK(state_name(decision.state) == state);
  CHECK(decision.action == action);
}

TEST_CASE("a steady run of n markers gives 1 AT, 1 C, n-2 L", "[statemachine]") {
  const unsigned n = GENERATE(2u, 3u, 20u, 1000u);
  const Sequence run(std::string(n, 'A'));
  CHECK(run.of(AT) == 1);
  CHECK(run.of(C) == 1);
  CHECK(run.of(L) == n - 2);
  CHECK(run.machine.flushes() == 0);
  CHECK(run.machine.acted() == n);
}

TEST_CASE("start-up in the first interval costs one more AT: S3D of Table 5.2", "[statemachine]") {
  const Sequence run("S" + std::string(9, 'A'));
  CHECK(run.of(AT) == 2);
  CHECK(run.of(C) == 1);
  CHECK(run.of(L) == 7);
}

TEST_CASE("a lasting switch costs one AT and one C", "[statemachine]") {
  const Sequence run("AAAAABBBBB");
  CHECK(run.states == "AT C L L L AT C L L L ");
  CHECK(run.decisions[5].action == Action::kFlushAndKeep);
  CHECK(run.machine.flushes() == 1);
}

TEST_CASE("an excursion of one interval costs two AT and one C", "[statemachine]") {
  const Sequence run("AAAABAAAA");
  CHECK(run.states == "AT C L L AT AT C L L ");
}

TEST_CASE("a switch straight after C flushes what little there is", "[statemachine]") {
  const Sequence run("AABB");
  CHECK(run.states == "AT C AT C ");
  CHECK(run.machine.flushes() == 1);
}

TEST_CASE("changes at every marker stay in AT and are flushed when it is due", "[statemachine]") {
  std::string intervals;
  for (int i = 0; i < 500; ++i) intervals += "AB";
  const Sequence never(intervals);
  CHECK(never.of(AT) == 1000);
  CHECK(never.machine.flushes() == 0);

  const Sequence due(intervals, 100);
  CHECK(due.of(AT) == 1000);
  CHECK(due.machine.flushes() == 10);
  for (std::size_t i = 0; i < due.decisions.size(); ++i)
    CHECK((due.decisions[i].action == Action::kFlushHistory) == (i % 100 == 99));
  CHECK(due.machine.recluster());
}

TEST_CASE("a phase seen before goes to C once, and to L from then on", "[statemachine]") {
  const auto states = [](const std::string& intervals) {
    return Sequence(intervals, 0, true).states;
  };
  CHECK(states("ABABAB") == "AT AT C C L L ");
  CHECK(states("AABAABAAB") == "AT C AT L L C L L L ");
  CHECK(states("AAAABAAA") == "AT C L L AT L L L ");
  CHECK(states("AAAABBBBAA") == "AT C L L AT C L L L L ");
  CHECK(states("ABCABCABC") == "AT AT AT C C C L L L ");
  CHECK(states("SAAAAA") == "AT AT C L L L ");

  const Sequence back("AABA", 0, true);
  CHECK(back.decisions[2].action == Action::kFlushAndKeep);
  CHECK(back.decisions[3].action == Action::kTake);
  const Sequence turns("ABABAB", 0, true);
  CHECK(turns.decisions[2].action == Action::kClusterAndElect);
  CHECK(turns.decisions[3].action == Action::kFlushAndElect);
  CHECK(turns.decisions[4].action == Action::kSwitch);
}

TEST_CASE("phases in any order are clustered once each; what is due is flushed", "[statemachine]") {
  std::uint64_t seed = GENERATE(1, 2, 3);
  std::string intervals;
  for (int i = 0; i < 300; ++i) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    intervals += static_cast<char>('A' + (seed >> 40) % 3);
  }
  const Sequence run(intervals, 10, true);
  CHECK(run.of(C) == 3);
  CHECK(run.of(AT) <= 3);
  CHECK(run.of(L) >= 294);
  unsigned since = 0;
  for (const Decision& decision : run.decisions) {
    since = merges(decision.action) ? 0 : since + 1;
    CHECK(since < 10);
  }
}

TEST_CASE("the dictionary of phases is bounded, and who was not seen for longest goes") {
  using Clusters = std::shared_ptr<const int>;
  PhaseDictionary<Clusters> phases;
  const auto most = PhaseDictionary<Clusters>::kMost;
  CHECK(phases.recall(PhaseDictionary<Clusters>::kNone) == Recall::kNew);
  CHECK(phases.size() == 0);
  CHECK_FALSE(phases.awaits());
  for (std::uint64_t hash = 1; hash <= most; ++hash) {
    CHECK(phases.recall(hash) == Recall::kNew);
    CHECK(phases.awaits());
    phases.keep(hash, std::make_shared<const int>(static_cast<int>(hash)));
    CHECK_FALSE(phases.awaits());
  }
  for (std::uint64_t hash = 1; hash <= most; ++hash) {
    REQUIRE(phases.recall(hash) == Recall::kClustered);
    CHECK(*phases.clusters(hash) == static_cast<int>(hash));
  }
  phases.recall(1);
  CHECK(phases.recall(1000) == Recall::kNew);  // 2 goes
  CHECK(phases.size() == most);
  CHECK(phases.clusters(2) == nullptr);
  CHECK(phases.recall(1000) == Recall::kSeen);
  CHECK(phases.recall(1) == Recall::kClustered);
  CHECK(phases.recall(3) == Recall::kClustered);
  CHECK(phases.recall(2) == Recall::kNew);  // 4 goes
  CHECK(phases.recall(4) == Recall::kNew);

  phases.keep(5000, std::make_shared<const int>(1));  // of none that is in it
  CHECK(phases.clusters(5000) == nullptr);
  phases.replace(phases.clusters(1), nullptr);
  CHECK(phases.recall(1) == Recall::kSeen);
  CHECK(phases.recall(3) == Recall::kClustered);
}

TEST_CASE("a steady run is flushed when it is due and keeps its clusters", "[statemachine]") {
  const Sequence run(std::string(1000, 'A'), 100);
  CHECK(run.of(C) == 1);
  CHECK(run.of(L) == 998);
  CHECK(run.machine.flushes() == 9);  // at 102, 202, …: C was a flush
  CHECK_FALSE(run.machine.recluster());
}

TEST_CASE("a flush due at every marker does not keep a steady run from L", "[statemachine]") {
  const Sequence run(std::string(20, 'A'), 1);
  CHECK(run.of(AT) == 1);
  CHECK(run.of(C) == 1);
  CHECK(run.of(L) == 18);
  for (const Decision& decision : run.decisions) CHECK(merges(decision.action));
}

TEST_CASE("a finalizing or faulty rank stops markers for good", "[statemachine]") {
  Sequence run("AAAA");
  StateMachine& machine = run.machine;
  const Vote vote = GENERATE(Vote(0, 1, 0), Vote(0, 0, 1), Vote(5, 2, 1));
  CHECK(machine.step(vote, true) == Decision{AT, Action::kStop});
  CHECK(machine.stopped());
  CHECK(machine.acted() == 5);
  CHECK(machine.step(kSame, true) == Decision{AT, Action::kStop});
  CHECK(machine.step(kChanged, false) == Decision{AT, Action::kStop});
  CHECK(machine.acted() == 5);
  CHECK(machine.count(AT) == 2);
  CHECK(machine.finalize() == Decision{F, Action::kFinish});
  CHECK(machine.flushes() == 1);
}

TEST_CASE("a vote given up stops markers and counts as none", "[statemachine]") {
  Sequence run("AAAA");
  CHECK(run.machine.stop() == Decision{AT, Action::kStop});
  CHECK(run.machine.stopped());
  CHECK(run.machine.acted() == 4);
  CHECK(run.machine.count(AT) == 1);
  CHECK(run.machine.finalize().state == F);
}

TEST_CASE("finalize is reachable from every state and is not counted in C", "[statemachine]") {
  const std::string before = GENERATE("", "A", "AB", "AA", "AAA", "AAAB");
  Sequence run(before);
  const std::uint64_t clusterings = run.of(C);
  CHECK(run.machine.finalize() == Decision{F, Action::kFinish});
  CHECK(run.of(C) == clusterings);
  CHECK(run.of(F) == 1);
  CHECK(run.machine.acted() == before.size());
  CHECK(run.of(AT) + run.of(C) + run.of(L) == run.machine.acted());

  SECTION("what comes after it is answered and changes nothing") {
    CHECK(run.machine.finalize() == Decision{F, Action::kFinish});
    CHECK(run.machine.step(kChanged, true) == Decision{F, Action::kStop});
    CHECK(run.machine.stop() == Decision{F, Action::kStop});
    CHECK(run.of(F) == 1);
    CHECK(run.machine.acted() == before.size());
    CHECK(run.machine.flushes() == (before == "AAAB" ? 2 : 1));
  }
}

TEST_CASE("ranks given the same votes decide alike", "[statemachine]") {
  std::uint64_t seed = 20170601;
  StateMachine one, two;
  for (int i = 0; i < 1000; ++i) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    const Vote vote((seed >> 40) % 3 == 0, 0, 0);
    const bool due = (seed >> 50) % 7 == 0;
    REQUIRE(one.step(vote, due) == two.step(vote, due));
  }
  CHECK(one.count(AT) + one.count(C) + one.count(L) == 1000);
}

TEST_CASE("votes add up in any order, and saturate", "[statemachine][vote]") {
  const std::vector<Vote> votes = {
      Vote(0, 0, 0, 7),
      Vote(1, 0, 1, ~0ull),
      Vote(0, 1, 0, 1),
      Vote(Vote::kMostRanks, 2, Vote::kMostFaults, 5),
      Vote(Vote::kMostRanks - 1, Vote::kMostRanks, 3),
      Vote(12345, 0, Vote::kMostFaults - 1, 1ull << 63, 1, 0),
      Vote(3, 0, 0, 9, Vote::kMostCosts, 1),
      Vote(0, 0, 0, 0, 1, Vote::kMostCosts, 1),
      Vote(0, 0, 0, 0, 0, 0, Vote::kMostDue),
      Vote(0, 0, 0, 0, 0, 0, 1, 1),
      Vote(0, 0, 0, 0, 0, 0, 0, Vote::kMostLate),
  };
  const auto sum = [](Vote a, const Vote& b) {
    combine(a, b);
    return a;
  };
  for (const Vote& a : votes) {
    CHECK(sum(a, Vote()) == a);
    for (const Vote& b : votes) {
      CHECK(sum(a, b) == sum(b, a));
      for (const Vote& c : votes) CHECK(sum(sum(a, b), c) == sum(a, sum(b, c)));
      if (a.changed() > 0) CHECK(sum(a, b).changed() > 0);
      if (a.faults() > 0) CHECK(sum(a, b).faults() > 0);
      if (a.events_over_budget() > 0) CHECK(sum(a, b).events_over_budget() > 0);
      if (a.markers_within_budget() > 0) CHECK(sum(a, b).markers_within_budget() > 0);
      if (a.finalizing() > 0) CHECK(sum(a, b).finalizing() > 0);
      if (a.due() > 0) CHECK(sum(a, b).due() > 0);
      if (a.late() > 0) CHECK(sum(a, b).late() > 0);
    }
  }
  const Vote most = sum(votes[3], votes[4]);
  CHECK(most.changed() == Vote::kMostRanks);
  CHECK(most.finalizing() == Vote::kMostRanks);
  CHECK(most.faults() == Vote::kMostFaults);
}

TEST_CASE("a million ranks' votes are counted, one by one", "[statemachine][vote]") {
  Vote sum;
  for (std::uint32_t rank = 0; rank < 1u << 20; ++rank) combine(sum, Vote(rank % 2, 0, 0, rank));
  CHECK(sum.changed() == 1u << 19);
  CHECK(sum.finalizing() == 0);
  CHECK(sum.faults() == 0);
  CHECK(sum.phase() == ((1ull << 20) * ((1ull << 20) - 1)) / 2);
}

TEST_CASE("a vote is two 64-bit words on the wire", "[statemachine][vote]") {
  const Vote vote(0x123456, 0x789abc, 0xde, 42, 1, 2, 2, 1);
  std::uint64_t words[2];
  std::memcpy(words, &vote, sizeof vote);
  CHECK(words[0] == 0x69de789abc123456u);
  CHECK(words[1] == 42);
}
