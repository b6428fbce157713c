// SPDX-License-Identifier: BSD-3-Clause
// Sets of ranks that are one in memory: a change of one is no change of the others, and unions that
// are remembered are those that would be made.
#include <set>
#include <thread>
#include <vector>

#include "base/hash.h"
#include "format/codec.h"
#include "model/rank_unions.h"
#include "model/trace.h"
#include "unit/catch.h"

using namespace chameleon;

namespace {

using Ranks = std::set<std::uint32_t>;

Ranks ranks_of(const RankList& list) {
  Ranks ranks;
  list.for_each([&](std::uint32_t rank) { ranks.insert(rank); });
  return ranks;
}

RankList list_of(const Ranks& ranks) {
  RankList list;
  for (const std::uint32_t rank : ranks) list.insert(rank);
  return list;
}

/// Of `most` ranks one in three, of which few are alike.
Ranks scattered(std::uint64_t seed, std::uint32_t most) {
  Ranks ranks;
  for (std::uint32_t rank = 0; rank < most; ++rank)
    if (mix(seed * 1'000'003 + rank) % 3 == 0) ranks.insert(rank);
  return ranks;
}

bool is_one(const RankList& a, const RankList& b) { return a.runs().data() == b.runs().data(); }

}  // namespace

TEST_CASE("a copy of a set is the same in memory until one of them changes", "[rank sharing]") {
  const Ranks ranks = scattered(1, 300);
  const RankList list = list_of(ranks);
  REQUIRE(list.runs().size() > 20);
  const auto check = [&](const char* what, auto change, Ranks expected) {
    CAPTURE(what);
    RankList copy = list;
    REQUIRE(is_one(copy, list));
    change(copy);
    CHECK(ranks_of(copy) == expected);
    CHECK(copy == list_of(expected));
    CHECK(ranks_of(list) == ranks);
  };
  const auto with = [&](Ranks more) {
    more.insert(ranks.begin(), ranks.end());
    return more;
  };
  check(
      "nothing", [](RankList&) {}, ranks);
  check(
      "behind it", [](RankList& copy) { copy.insert(1000); }, with({1000}));
  check(
      "joined to its end", [&](RankList& copy) { copy.insert(*ranks.rbegin() + 1); },
      with({*ranks.rbegin() + 1}));
  check(
      "within", [](RankList& copy) { copy.merge(RankList::range(100, 120)); },
      [&] {
        Ranks more;
        for (std::uint32_t rank = 100; rank <= 120; ++rank) more.insert(rank);
        return with(more);
      }());
  check(
      "all", [](RankList& copy) { copy.merge(RankList::range(0, 299)); },
      [] {
        Ranks all;
        for (std::uint32_t rank = 0; rank < 300; ++rank) all.insert(rank);
        return all;
      }());
  check(
      "itself", [](RankList& copy) { copy.merge(copy); }, ranks);
  check(
      "its copy", [&](RankList& copy) { copy.merge(list); }, ranks);
  check("assigned", [&](RankList& copy) { copy = RankList::single(5); }, {5});
  RankList moved = list;
  const RankList target = std::move(moved);
  CHECK(is_one(target, list));
}

TEST_CASE("unions that are remembered are those that are made", "[rank sharing]") {
  std::vector<Ranks> sets;
  for (std::uint64_t seed = 0; seed < 20; ++seed)
    sets.push_back(scattered(seed, 40 + 40 * static_cast<std::uint32_t>(seed)));
  sets.push_back({3});
  sets.push_back({2000, 2001, 2002, 2004});
  std::vector<RankList> lists;
  for (const Ranks& set : sets) lists.push_back(list_of(set));
  const RankUnions unions;
  REQUIRE(RankUnions::present() == &unions);
  for (int round = 0; round < 2; ++round)  // more pairs than are remembered
    for (std::size_t a = 0; a < sets.size(); ++a)
      for (std::size_t b = 0; b < sets.size(); ++b) {
        Ranks expected = sets[a];
        expected.insert(sets[b].begin(), sets[b].end());
        RankList first = lists[a], second = lists[a];
        first.merge(lists[b]);
        second.merge(lists[b]);
        REQUIRE(ranks_of(first) == expected);
        REQUIRE(first == list_of(expected));
        REQUIRE(second == first);
        const bool appends = lists[a].runs().back().back().first <= lists[b].first();
        if (!appends && lists[a].runs().size() >= RankUnions::kFewestRuns)
          CHECK(is_one(first, second));
        REQUIRE(ranks_of(lists[a]) == sets[a]);
      }
}

TEST_CASE("one remembers at a time, for its own thread", "[rank sharing]") {
  CHECK(RankUnions::present() == nullptr);
  {
    const RankUnions unions;
    {
      const RankUnions inner;
      CHECK(RankUnions::present() == &unions);
    }
    CHECK(RankUnions::present() == &unions);
    bool none = false;
    std::thread([&] { none = RankUnions::present() == nullptr; }).join();
    CHECK(none);
  }
  CHECK(RankUnions::present() == nullptr);
}

TEST_CASE("sets that nodes have in common are one when they were read", "[rank sharing]") {
  Trace trace;
  trace.world_size = 400;
  trace.ranks = RankList::range(0, 399);
  trace.calls[1] = {"Call", {}};
  for (int i = 0; i < 6; ++i) {
    Node node;
    node.call = 1;
    node.path = static_cast<std::uint64_t>(i);
    node.ranks = list_of(scattered(static_cast<std::uint64_t>(i % 2), 400));
    trace.nodes.push_back(std::move(node));
  }
  const auto read = format::decode_trace(format::encode_trace(trace));
  REQUIRE(read);
  for (std::size_t i = 0; i < 6; ++i) {
    CHECK(read->nodes[i].ranks == trace.nodes[i].ranks);
    CHECK(is_one(read->nodes[i].ranks, read->nodes[i % 2].ranks));
  }
  CHECK_FALSE(is_one(read->nodes[0].ranks, read->nodes[1].ranks));
}
