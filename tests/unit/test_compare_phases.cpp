// SPDX-License-Identifier: BSD-3-Clause
/// Families and phases of two runs, side by side.

#include "analysis/compare_phases.h"
#include "unit/catch.h"

using namespace chameleon;
using namespace chameleon::analysis;

namespace {

/// A run of two families, of all of 4 ranks and of pairs, in a phase of each.
ExecutionPhases run_of(double solve_ns) {
  ExecutionPhases run;
  run.ranks = 4;
  PatternFamily exchange, solve;
  exchange.paths = {1};
  exchange.most_processes = 2;
  exchange.sums.instances = 20;
  exchange.sums.bytes = 800;
  exchange.sums.ns = 200;
  solve.paths = {2};
  solve.most_processes = 4;
  solve.sums.instances = 10;
  solve.sums.ns = solve_ns;
  run.patterns.families = {exchange, solve};
  ExecutionPhase first, second;
  first.last = 20;
  first.end_ns = 200;
  first.compute_ns = 320;
  first.most_compute_ns = 100;
  first.families = {{0, 20}};
  second.first = 20;
  second.last = 30;
  second.begin_ns = 200;
  second.end_ns = 200 + static_cast<std::uint64_t>(solve_ns);
  second.families = {{1, 10}};
  run.phases = {first, second};
  return run;
}

std::string name(const PatternFamily& family) { return family.paths.front() == 1 ? "swap" : "sum"; }

PhaseTimes phase(std::map<std::string, double> shares) {
  PhaseTimes times;
  times.shares = std::move(shares);
  return times;
}

}  // namespace

TEST_CASE("a run's families and phases by name") {
  const RunShape shape = shape_of(run_of(100), name);
  CHECK(shape.ns == 300);
  REQUIRE(shape.families.size() == 2);
  CHECK(shape.families.at("swap").rank_ns == 100);  // half of the ranks take part
  CHECK(shape.families.at("sum").rank_ns == 100);
  REQUIRE(shape.phases.size() == 2);
  CHECK(shape.phases[0].load_balance == 0.8);
  CHECK(shape.phases[0].communication_efficiency == 0.5);
  CHECK(shape.phases[1].shares == std::map<std::string, double>{{"sum", 1}});
}

TEST_CASE("families of one name are compared together") {
  ExecutionPhases twice = run_of(100);
  twice.patterns.families.push_back(twice.patterns.families[0]);
  const RunShape shape = shape_of(twice, name);
  CHECK(shape.families.at("swap").instances == 40);
  CHECK(shape.families.at("swap").bytes == 1600);
}

TEST_CASE("a family changed if its time did, or what it does") {
  const RunShape before = shape_of(run_of(100), name);
  CHECK(compare_families(before, before, 0).empty());
  CHECK(compare_families(before, shape_of(run_of(110), name), 10).empty());
  const auto slower = compare_families(before, shape_of(run_of(111), name), 10);
  REQUIRE(slower.size() == 1);
  CHECK(slower[0].name == "sum");
  CHECK(slower[0].ns() == 11);
  RunShape other = before;
  other.families["swap"].bytes = 801;
  other.families.erase("sum");
  other.families["new"] = {5, 0, 1};
  const auto changes = compare_families(before, other, 1000);
  REQUIRE(changes.size() == 3);
  CHECK(changes[0].name == "sum");  // the largest change of time
  CHECK(changes[0].after.instances == 0);
  CHECK(changes[1].name == "new");
  CHECK(changes[1].before.instances == 0);
  CHECK(changes[2].name == "swap");
}

TEST_CASE("phases are aligned in order by what they have in common") {
  const PhaseTimes setup = phase({{"read", 1}}), solve = phase({{"swap", 0.6}, {"sum", 0.4}}),
                   solve_more = phase({{"swap", 0.5}, {"sum", 0.3}, {"check", 0.2}}),
                   write = phase({{"write", 1}}), nearly = phase({{"swap", 0.4}, {"write", 0.6}});
  const auto pairs = align_phases({setup, solve, write}, {solve_more, solve, write});
  REQUIRE(pairs.size() == 4);
  CHECK((pairs[0].before == 0U && !pairs[0].after));
  CHECK((!pairs[1].before && pairs[1].after == 0U));
  CHECK((pairs[2].before == 1U && pairs[2].after == 1U));
  CHECK((pairs[3].before == 2U && pairs[3].after == 2U));
  // 0.4 in common with `solve` is no pair.
  CHECK(align_phases({solve}, {nearly}).size() == 2);
  CHECK(align_phases({write}, {nearly}).size() == 1);
  CHECK(align_phases({}, {}).empty());
  CHECK(align_phases({}, {write}).size() == 1);
}
