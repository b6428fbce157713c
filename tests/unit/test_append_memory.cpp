// SPDX-License-Identifier: BSD-3-Clause
// What joining in time and encoding allocate at once: nothing for each interval of ranks, and no
// columns twice.
#include <cstdint>
#include <random>
#include <vector>

#include "format/codec.h"
#include "format/column.h"
#include "model/param.h"
#include "model/trace.h"
#include "tools/allocation_count.h"
#include "unit/catch.h"

using namespace chameleon;

namespace {

constexpr std::uint32_t kGroups = 64, kEach = 4096;

RankList every(std::uint32_t stride, std::uint32_t first) {
  RankList ranks;
  for (std::uint32_t i = 0; i < kEach; ++i) ranks.insert(first + i * stride);
  return ranks;
}

/// The columns of a grid, each with a value of its own.
Param columns(EndPointForm form) {
  std::vector<ParamGroup> groups;
  for (std::uint32_t column = 0; column < kGroups; ++column)
    groups.push_back({every(kGroups, column), form, ValueSequence(column)});
  Param param;
  param.set_groups(std::move(groups));
  return param;
}

}  // namespace

TEST_CASE("values of the same groups are appended without their intervals") {
  const RankList all = RankList::range(0, kGroups * kEach - 1);
  Param values = columns(EndPointForm::kRelative);
  Param later = columns(EndPointForm::kRelative);
  {
    tools::AllocationCount allocated;
    allocated.begin();
    REQUIRE(values.can_append(later, all, all));
    values.append(std::move(later), all, all);
    CHECK(allocated.most() < 64 << 10);
  }
  REQUIRE(values.groups().size() == kGroups);
  std::uint32_t column = 0;
  for (const ParamGroup& group : values.groups()) {
    CHECK(group.ranks == every(kGroups, column));
    CHECK(group.values == ValueSequence(column, 2));
    ++column;
  }
  CHECK_FALSE(values.can_append(columns(EndPointForm::kAbsolute), all, all));
}

TEST_CASE("values of groups that overlap are not appended, though the groups are the same") {
  const RankList all = RankList::range(0, 9);
  Param values;
  const RankList::Rank second = GENERATE(5U, 6U);
  values.set_groups(
      std::vector<ParamGroup>{{RankList::range(0, 5), EndPointForm::kBoth, ValueSequence(1)},
                              {RankList::range(second, 9), EndPointForm::kBoth, ValueSequence(2)}});
  const bool apart = second == 6;
  CHECK(values.can_append(Param(values), all, all) == apart);
}

TEST_CASE("a column of numbers by chance takes little more to encode than its bytes") {
  std::mt19937 random(3);
  std::vector<std::int64_t> numbers;
  for (int i = 0; i < 1 << 18; ++i)
    numbers.push_back(static_cast<std::int64_t>(random() % (1 << 20)));
  tools::AllocationCount allocated;
  const auto column = format::column::encode(numbers);
  CHECK(column.packed);
  CHECK(allocated.most() < 4 << 20);
}

TEST_CASE("an encoded trace holds the facts of many ranks once") {
  std::mt19937_64 random(3);
  Trace run;
  run.world_size = 1 << 15;
  run.ranks = RankList::range(0, run.world_size - 1);
  FactsOfRanks facts;
  for (std::uint32_t rank = 0; rank < run.world_size; ++rank) {
    RankFacts& mine = facts[rank];
    mine.events = 1000;
    for (std::uint64_t RankFacts::*fact :
         {&RankFacts::run_ns, &RankFacts::call_ns, &RankFacts::tool_ns, &RankFacts::waiting_ns})
      mine.*fact = random() % (1 << 20);
  }
  const format::PackedFacts packed(facts);
  Bytes encoded;
  {
    tools::AllocationCount allocated;
    allocated.begin();
    encoded = format::encode_trace(run, packed);
    CHECK(allocated.most() < static_cast<std::int64_t>(encoded.size() + encoded.size() / 3));
  }
  const Result<Trace> read = format::decode_trace(encoded);
  REQUIRE(read);
  CHECK(read->facts == facts);
}
