// SPDX-License-Identifier: BSD-3-Clause
// Many groups of a parameter, which are kept encoded: they are what a vector of them is, whatever
// their values; and what joins in time or across ranks allocates little for each.
#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "format/codec.h"
#include "model/param.h"
#include "model/view.h"
#include "property/streams.h"
#include "tools/allocation_count.h"
#include "unit/catch.h"

using namespace chameleon;

namespace {

using Random = std::mt19937_64;

std::uint64_t below(Random& random, std::uint64_t end) { return random() % end; }

ValueSequence some_values(Random& random, std::int32_t rank, std::int32_t size) {
  constexpr std::int64_t kSome[] = {
      0, -1, INT64_MAX, INT64_MIN, INT64_C(1) << 62, INT64_C(1) << 32};
  const auto value = [&]() -> std::int64_t {
    switch (below(random, 5)) {
      case 0: return kSome[below(random, std::size(kSome))];
      case 1: return pack_special(SpecialRank::kProcNull);
      case 2: return static_cast<std::int64_t>(below(random, 3));
      default:
        return pack_rank(static_cast<std::int32_t>(below(random, static_cast<std::uint64_t>(size))),
                         rank, size);
    }
  };
  ValueSequence values;
  for (std::uint64_t left = below(random, 5); left != 0; --left) {
    if (below(random, 2) == 0) {
      values.append(ValueSequence::Segment{value(), value(), 1 + below(random, 5)});
    } else {
      ValueSequence body;
      for (std::uint64_t i = below(random, 4); i != 0; --i) body.append(value());
      values.append_times(body, 1 + below(random, 3));
    }
  }
  if (below(random, 50) == 0)
    for (int i = 0; i < 300; ++i) values.append(static_cast<std::int64_t>(random()));
  return values;
}

std::vector<ParamGroup> some_groups(Random& random, std::size_t count) {
  std::vector<ParamGroup> groups;
  const bool few_runs = below(random, 2) == 0;
  RankList::Rank rank = 0;
  for (std::size_t i = 0; i < count; ++i) {
    ParamGroup& group = groups.emplace_back();
    for (std::uint64_t runs = few_runs ? 1 : 1 + below(random, 6); runs != 0; --runs) {
      const auto ranks = static_cast<RankList::Rank>(below(random, 3));
      group.ranks.merge(RankList::range(rank, rank + ranks));
      rank += ranks + 2 + static_cast<RankList::Rank>(below(random, 9));
    }
    group.form = static_cast<EndPointForm>(below(random, 3));
    group.values = some_values(random, static_cast<std::int32_t>(rank), 1 << 20);
  }
  if (below(random, 3) == 0) std::shuffle(groups.begin(), groups.end(), random);
  return groups;
}

bool same(const ParamGroup& a, const ParamGroup& b) {
  return a.ranks == b.ranks && a.form == b.form && a.values == b.values;
}

void require_same(const ParamGroups& groups, const std::vector<ParamGroup>& expected) {
  REQUIRE(groups.size() == expected.size());
  std::size_t place = 0;
  for (const ParamGroup& group : groups) REQUIRE(same(group, expected[place++]));
  const bool ascending = std::is_sorted(
      expected.begin(), expected.end(),
      [](const auto& a, const auto& b) { return a.ranks.first() < b.ranks.first(); });
  REQUIRE((!groups.ascending() || ascending));
}

/// Partners by chance of a rank among `kRanks`, as they are recorded.
constexpr std::uint32_t kRanks = 1U << 14;
ValueSequence partners(std::uint32_t rank, int calls) {
  Random random(rank);
  ValueSequence values;
  for (int i = 0; i < calls; ++i)
    values.append(pack_rank(static_cast<std::int32_t>(below(random, kRanks)),
                            static_cast<std::int32_t>(rank), kRanks));
  return values;
}

struct Part {
  RankList ranks;
  Param param;
};

/// Up a tree, as ranks are merged.
Part merged(std::uint32_t begin, std::uint32_t end) {
  if (end - begin == 1) return {RankList::single(begin), Param(partners(begin, 4))};
  const std::uint32_t half = begin + (end - begin) / 2;
  Part mine = merged(begin, half), theirs = merged(half, end);
  mine.param.merge(std::move(theirs.param), mine.ranks, theirs.ranks, FieldKind::kEndPoint);
  mine.ranks.merge(theirs.ranks);
  return mine;
}

void require_partners(const Param& param, int times) {
  for (std::uint32_t rank = 0; rank < kRanks; rank += 97) {
    EndPointForm form{};
    ValueSequence own;
    const ValueSequence* values = param.find(rank, form, own);
    REQUIRE(values != nullptr);
    REQUIRE(values->size() == 4U * static_cast<unsigned>(times));
    const ValueSequence expected = partners(rank, 4);
    ValueSequence::Cursor found(*values);
    for (int i = 0; i < times; ++i)
      for (ValueSequence::Cursor each(expected); !each.done();)
        REQUIRE(EndPoint{form, found.next()}.rank(static_cast<std::int32_t>(rank), kRanks) ==
                packed_absolute(each.next()));
  }
}

}  // namespace

TEST_CASE("groups are what a vector of them is") {
  for (std::uint64_t i = 0; i < 60; ++i) {
    const std::uint64_t seed = testing::base_seed() + i;
    INFO("CHAMELEON_TEST_SEED=" << seed);
    Random random(seed);
    const std::size_t count = below(random, 3) == 0 ? 255 + below(random, 3) : below(random, 700);
    std::vector<ParamGroup> expected = some_groups(random, count);
    const auto sort = [&] {
      std::stable_sort(expected.begin(), expected.end(), [](const auto& a, const auto& b) {
        return a.ranks.first() < b.ranks.first();
      });
    };
    ParamGroups groups;
    if (below(random, 2) == 0) {
      groups = ParamGroups(expected);
      if (count >= ParamGroups::kFewestPacked) sort();
    } else {
      for (const ParamGroup& group : expected) groups.push(group);
    }
    require_same(groups, expected);
    for (int changes = 0; count > 0 && changes < 5; ++changes) {
      const std::size_t place = below(random, count);
      REQUIRE(same(groups.open(place), expected[place]));
      groups.open(place).values.append(7);
      expected[place].values.append(7);
      const RankList more = RankList::single(expected[place].ranks.runs().back().last() + 1);
      groups.add_ranks(place, more);
      expected[place].ranks.merge(more);
      require_same(groups, expected);
    }
    groups.settle();
    require_same(groups, expected);
    const auto lengthen = [](ParamGroup& group) {
      for (std::int64_t value = 0; value < 30; ++value) group.values.append(value * value);
    };
    groups.change_each(lengthen);
    for (ParamGroup& group : expected) lengthen(group);
    require_same(groups, expected);
    for (const ParamGroup& group : expected) {
      ParamGroup own;
      const RankList::Rank last = group.ranks.runs().back().last();
      const ParamGroup* found = groups.find(last, own);
      REQUIRE(found != nullptr);
      REQUIRE(found->ranks.contains(last));
    }
    ParamGroup own;
    REQUIRE(groups.find(RankList::kMaxRanks, own) == nullptr);
    const ParamGroups copy = groups;
    const std::vector<ParamGroup> taken = std::move(groups).take();
    require_same(copy, taken);
    require_same(copy, expected);
    sort();
    const ParamGroups sorted = ParamGroups(copy).by_rank();
    require_same(sorted, expected);
    REQUIRE(sorted.ascending());
  }
}

TEST_CASE("partners by chance take few bytes a rank, merged and appended") {
  Part all = merged(0, kRanks);
  REQUIRE(all.param.groups().size() > kRanks * 9 / 10);
  CHECK(all.param.groups().memory_bytes() < 32 * kRanks);
  require_partners(all.param, 1);

  Part low = merged(0, kRanks / 2), high = merged(kRanks / 2, kRanks);
  {
    tools::AllocationCount allocated;
    low.param.merge(std::move(high.param), low.ranks, high.ranks, FieldKind::kEndPoint);
    CHECK(allocated.most() < 80 * std::int64_t{kRanks});
  }
  low.ranks.merge(high.ranks);
  require_partners(low.param, 1);

  for (int times = 2; times < 5; ++times) {
    Param later = all.param;
    tools::AllocationCount allocated;
    REQUIRE(low.param.can_append(later, low.ranks, all.ranks));
    low.param.append(std::move(later), low.ranks, all.ranks);
    CHECK(allocated.most() < 40 * std::int64_t{kRanks});
    require_partners(low.param, times);
  }
  CHECK(low.param.groups().memory_bytes() < 40 * kRanks);

  Param last = low.param;
  last.canonicalize(true);
  require_partners(last, 4);
  const RankCounts counts{{all.ranks, 12}};
  REQUIRE(last.each_has(all.ranks, counts));
  require_partners(last.take_last(all.ranks, counts), 3);
  require_partners(last, 1);
}

TEST_CASE("groups stay in the order of ranks, and may be appended, whoever joins them") {
  Param even, odd;
  std::vector<ParamGroup> of_even, of_odd;
  for (std::uint32_t i = 0; i < 600; ++i) {
    of_even.push_back({RankList::single(2 * i), EndPointForm::kRelative, partners(i, 3)});
    const std::uint32_t like = i + 5 < 600 && i % 2 == 0 ? i + 5 : 1000 + i;  // which comes later
    of_odd.push_back({RankList::single(2 * i + 1), EndPointForm::kRelative, partners(like, 3)});
  }
  even.set_groups(of_even);
  odd.set_groups(of_odd);
  const RankList all = RankList::range(0, 1199);
  RankList mine, theirs;
  for (std::uint32_t i = 0; i < 600; ++i) {
    mine.insert(2 * i);
    theirs.insert(2 * i + 1);
  }
  even.merge(std::move(odd), mine, theirs, FieldKind::kEndPoint);
  CHECK(even.groups().size() == 1200 - 298);
  CHECK(even.groups().ascending());
  std::int64_t before = -1;
  for (const ParamGroup& group : even.groups()) {
    CHECK(before < std::int64_t{group.ranks.first()});
    before = group.ranks.first();
  }
  CHECK(even.can_append(Param(even), all, all));
}

TEST_CASE("groups of more ranks than a reader takes are kept as they are") {
  std::vector<ParamGroup> groups(1);
  for (std::uint32_t i = 0; i <= RankList::kMaxIntervals; ++i) groups[0].ranks.insert(2 * i);
  groups[0].values = ValueSequence(7);
  for (std::uint32_t i = 0; i < 300; ++i)
    groups.push_back({RankList::single(2 * i + 1), EndPointForm::kBoth, ValueSequence(i)});
  groups.push_back({RankList::single(RankList::kMaxRanks + 7), EndPointForm::kBoth, {}});
  require_same(ParamGroups(groups), groups);
}

TEST_CASE("progressions are found value by value in groups that are packed") {
  ParamGroups groups;
  for (std::uint32_t rank = 0; rank < 300; ++rank)
    groups.push({RankList::single(rank), EndPointForm::kBoth, ValueSequence(rank * rank * 1000)});
  for (std::int64_t step = 1; step < 12; ++step)
    groups.change_each([&](ParamGroup& group) {
      group.values.append(std::int64_t{group.ranks.first()} * group.ranks.first() * 1000 +
                          8 * step);
    });
  for (const ParamGroup& group : groups) CHECK(group.values.term_count() == 1);
}

TEST_CASE("a rank's events are read from groups that are packed, written and read back") {
  constexpr std::uint32_t kFew = 1000;
  Node call;
  call.call = 1;
  call.path = 7;
  call.shape = Shape::of(call.symbol());
  call.params.emplace_back(merged(0, kFew).param);
  Node loop;
  loop.iterations = Param(ValueSequence(4));
  loop.body.push_back(std::move(call));
  loop.shape = shape_of(loop.body);
  Trace trace;
  trace.world_size = kRanks;
  trace.ranks = RankList::range(0, kFew - 1);
  trace.calls[1] = {"Send", {{"dest", "dest", FieldKind::kEndPoint}}};
  trace.nodes.push_back(std::move(loop));
  const auto read = format::decode_trace(format::encode_trace(trace));
  REQUIRE(read);
  CHECK(read->nodes[0].body[0].params[0].groups().memory_bytes() < 40 * kFew);
  for (const Trace* source : {static_cast<const Trace*>(&trace), &*read})
    for (std::uint32_t rank = 0; rank < kFew; ++rank) {
      auto view = RankView::make(*source, rank);
      REQUIRE(view);
      RankView copy = *view;
      EventView event;
      const ValueSequence expected = partners(rank, 4);
      for (ValueSequence::Cursor each(expected); !each.done();) {
        REQUIRE(copy.next(event));
        REQUIRE(event.end_point(0).rank(static_cast<std::int32_t>(rank), kRanks) ==
                packed_absolute(each.next()));
      }
      REQUIRE_FALSE(copy.next(event));
    }
}

TEST_CASE("groups that differ in time are split where they differ") {
  // Of ranks in pairs, then each of its own.
  Param pairs, singles;
  std::vector<ParamGroup> of_pairs, of_singles;
  for (std::uint32_t rank = 0; rank < 1200; ++rank) {
    if (rank % 2 == 0)
      of_pairs.push_back(
          {RankList::range(rank, rank + 1), EndPointForm::kRelative, partners(rank, 3)});
    of_singles.push_back({RankList::single(rank), EndPointForm::kRelative, partners(rank, 2)});
  }
  const RankList all = RankList::range(0, 1199);
  pairs.set_groups(of_pairs);
  singles.set_groups(of_singles);
  REQUIRE(pairs.can_append(singles, all, all));
  pairs.append(std::move(singles), all, all);
  REQUIRE(pairs.groups().size() == 1200);
  for (std::uint32_t rank = 0; rank < 1200; ++rank) {
    ValueSequence expected = partners(rank / 2 * 2, 3), own;
    expected.append(partners(rank, 2));
    EndPointForm form{};
    REQUIRE(*pairs.find(rank, form, own) == expected);
  }
}
