// SPDX-License-Identifier: BSD-3-Clause
// Values in progression over ranks, held as one: what each rank has is what it would have in a
// group of its own.
#include <map>
#include <vector>

#include "base/hash.h"
#include "compress/pieces.h"
#include "format/codec.h"
#include "unit/catch.h"

using namespace chameleon;
using namespace chameleon::format;

namespace {

using Values = std::map<std::uint32_t, std::vector<std::int64_t>>;

RankList ranks_of(const Values& values) {
  RankList ranks;
  for (const auto& [rank, own] : values) ranks.insert(rank);
  return ranks;
}

Param param_of(const std::vector<std::int64_t>& values) {
  ValueSequence sequence;
  for (const std::int64_t value : values) sequence.append(value);
  return Param(std::move(sequence));
}

/// As ranks are merged up a tree.
Param merged(const Values& values, FieldKind kind = FieldKind::kPlain) {
  struct Part {
    RankList ranks;
    Param param;
  };
  std::vector<Part> parts;
  for (const auto& [rank, own] : values) parts.push_back({RankList::single(rank), param_of(own)});
  for (std::size_t step = 1; step < parts.size(); step *= 2)
    for (std::size_t i = 0; i + step < parts.size(); i += 2 * step) {
      Part& other = parts[i + step];
      parts[i].param.merge(std::move(other.param), parts[i].ranks, other.ranks, kind);
      parts[i].ranks.merge(other.ranks);
    }
  return std::move(parts.front().param);
}

Values found_in(const Param& param, const RankList& ranks) {
  Values found;
  ranks.for_each([&](std::uint32_t rank) {
    EndPointForm form{};
    ValueSequence own;
    const ValueSequence* values = param.find(rank, form, own);
    REQUIRE(values != nullptr);
    for (ValueSequence::Cursor cursor(*values); !cursor.done();)
      found[rank].push_back(cursor.next());
  });
  return found;
}

/// By groups, in each of which ranks have the same.
Values grouped_in(const Param& param, const RankList& ranks) {
  Values found;
  param.for_each_group(ranks, [&](const RankList& of, EndPointForm, const ValueSequence& values) {
    of.for_each([&](std::uint32_t rank) {
      CHECK(found[rank].empty());
      for (ValueSequence::Cursor cursor(values); !cursor.done();)
        found[rank].push_back(cursor.next());
    });
  });
  return found;
}

void check(const Param& param, const Values& values) {
  CHECK(found_in(param, ranks_of(values)) == values);
  CHECK(grouped_in(param, ranks_of(values)) == values);
}

/// `count` ranks, `apart` from each other, with `first`, `first` + `stride` and so on.
Values line(std::uint32_t count, std::int64_t first, std::int64_t stride, std::uint32_t from = 0,
            std::uint32_t apart = 1, std::size_t times = 1) {
  Values values;
  for (std::uint32_t i = 0; i < count; ++i)
    values[from + i * apart] = std::vector<std::int64_t>(times, first + stride * i);
  return values;
}

Trace trace_of(const Param& param, const Values& values) {
  Trace trace;
  trace.world_size = 4096;
  trace.ranks = ranks_of(values);
  trace.calls[1] = {"Call", {{"a", "INT", FieldKind::kPlain}}};
  Node node;
  node.call = 1;
  node.params.push_back(param);
  trace.nodes.push_back(std::move(node));
  return trace;
}

}  // namespace

TEST_CASE("values in progression are one spread, however many ranks", "[spread]") {
  for (const std::uint32_t count : {16U, 17U, 48U, 1000U, 4096U})
    for (const std::int64_t stride : {1, -3, 70'000})
      for (const std::uint32_t apart : {1U, 2U}) {
        CAPTURE(count, stride, apart);
        const Values values = line(count, 5, stride, 0, apart);
        if (count * apart > 4096) continue;
        const Param param = merged(values);
        REQUIRE(param.spread() != nullptr);
        check(param, values);
        const Trace trace = trace_of(param, values);
        CHECK(compress::memory_bytes(trace.nodes) < 500);
        const auto read = decode_trace(encode_trace(trace));
        REQUIRE(read);
        REQUIRE(read->nodes[0].params[0].spread() != nullptr);
        check(read->nodes[0].params[0], values);
        CHECK(encode_trace(*read) == encode_trace(trace));
      }
}

TEST_CASE("a spread has no value for other ranks", "[spread]") {
  Values values = line(40, 0, 1, 10, 4);
  values.merge(line(40, 40, 1, 400, 1));
  const Param param = merged(values);
  REQUIRE(param.spread() != nullptr);
  for (std::uint32_t rank = 0; rank < 500; ++rank) {
    EndPointForm form{};
    ValueSequence own;
    CHECK((param.find(rank, form, own) != nullptr) == values.contains(rank));
  }
}

TEST_CASE("what is no progression stays in groups", "[spread]") {
  Values few = line(15, 0, 1), equal = line(40, 7, 0), broken = line(40, 0, 1),
         huge = line(40, 0, std::int64_t{1} << 32), longer = line(40, 0, 1), twice = line(40, 0, 1);
  broken[23] = {1000};
  longer[39] = {39, 39};
  for (auto& [rank, own] : twice) own.push_back(own.front() + 1);
  for (const Values& values : {few, equal, broken, huge, longer, twice}) {
    const Param param = merged(values);
    CHECK(param.spread() == nullptr);
    check(param, values);
  }
}

TEST_CASE("a spread that is not continued is taken apart", "[spread]") {
  const Values before = line(32, 0, 1);
  for (Values after : {line(32, 40, 1, 32), line(32, 32, 2, 32), line(3, 0, 1, 32),
                       line(3, 31, 1, 32), line(32, 32, 1, 32, 1, 2), line(20, 0, 0, 32)}) {
    Param param = merged(before);
    REQUIRE(param.spread() != nullptr);
    param.merge(merged(after), ranks_of(before), ranks_of(after), FieldKind::kPlain);
    CHECK(param.spread() == nullptr);
    after.insert(before.begin(), before.end());
    check(param, after);
  }
  // Few that continue it, and those that come below it.
  for (Values after : {line(3, 132, 1, 132), line(1, 132, 1, 132), line(32, 68, 1, 68)}) {
    const Values middle = line(32, 100, 1, 100);
    Param param = merged(middle);
    param.merge(merged(after), ranks_of(middle), ranks_of(after), FieldKind::kPlain);
    CHECK(param.spread() != nullptr);
    after.insert(middle.begin(), middle.end());
    check(param, after);
  }
}

TEST_CASE("a spread is followed in time", "[spread]") {
  const Values before = line(64, 3, 2);
  const RankList ranks = ranks_of(before);
  for (const Values& after :
       {line(64, 3, 2, 0, 1, 4), line(64, 3, 3), line(64, 9, 0), line(64, 3, 2)}) {
    Param param = merged(before);
    REQUIRE(param.can_append(merged(after), ranks, ranks));
    param.append(merged(after), ranks, ranks);
    Values all = before;
    for (auto& [rank, own] : all)
      own.insert(own.end(), after.at(rank).begin(), after.at(rank).end());
    CHECK((param.spread() != nullptr) == (after.at(1) == std::vector(after.at(1).size(), 5L)));
    check(param, all);
  }
  // One sequence, and then a spread.
  Values same = line(64, 8, 0);
  Param param = merged(same);
  REQUIRE(param.can_append(merged(before), ranks, ranks));
  param.append(merged(before), ranks, ranks);
  for (auto& [rank, own] : same) own.push_back(before.at(rank).front());
  check(param, same);
}

TEST_CASE("counts in a spread are used as those in groups", "[spread]") {
  const Values counts = line(32, 1, 1, 0, 1, 3);
  const RankList ranks = ranks_of(counts);
  const RankCounts one{{ranks, 1}};
  Param param = merged(counts);
  REQUIRE(param.spread() != nullptr);
  CHECK(param.each_has(ranks, {{ranks, 3}}));
  CHECK_FALSE(param.each_has(ranks, {{ranks, 4}}));
  check(param.ones(), line(32, 1, 0, 0, 1, 3));
  check(param.take_last(ranks, one), line(32, 1, 1));
  check(param, line(32, 1, 1, 0, 1, 2));
  const Param more = merged(line(32, 10, 1));
  REQUIRE(param.can_extend_last(more, ranks, ranks));
  param.extend_last(more, ranks, ranks);
  Values extended = line(32, 1, 1, 0, 1, 2);
  for (auto& [rank, own] : extended) own.back() += 10 + rank;
  check(param, extended);
}

TEST_CASE("whatever ranks have, parameters keep it", "[spread]") {
  const auto seed = std::uint64_t{testing::seed()};
  CAPTURE(seed);
  std::uint64_t state = seed;
  const auto random = [&](std::uint64_t most) { return mix(state++) % most; };
  for (int round = 0; round < 300; ++round) {
    Values values;
    std::uint32_t rank = 0;
    while (values.size() < 100) {  // stretches in progression
      const auto first = static_cast<std::int64_t>(random(3) == 0 ? rank : random(50));
      const auto stride = static_cast<std::int64_t>(random(3)) - 1;
      const auto apart = static_cast<std::uint32_t>(1 + random(2));
      values.merge(line(1 + static_cast<std::uint32_t>(random(60)), first, stride, rank, apart,
                        1 + random(2)));
      rank = values.rbegin()->first + apart;
    }
    const Param param = merged(values);
    check(param, values);
    const Trace trace = trace_of(param, values);
    const auto read = decode_trace(encode_trace(trace));
    REQUIRE(read);
    check(read->nodes[0].params[0], values);
    REQUIRE(encode_trace(*read) == encode_trace(trace));
  }
}
