// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <iterator>
#include <random>
#include <set>
#include <vector>

#include "model/rank_list.h"
#include "unit/catch.h"

using chameleon::ByteReader;
using chameleon::Bytes;
using chameleon::ByteWriter;
using chameleon::ErrorKind;
using chameleon::RankList;

namespace {

using Set = std::set<RankList::Rank>;

RankList list_of(const Set& set) {
  RankList list;
  for (const auto rank : set) list.insert(rank);
  return list;
}
Set set_of(const RankList& list) {
  const auto ranks = list.ranks();
  return {ranks.begin(), ranks.end()};
}
Bytes encoded(const RankList& list) {
  ByteWriter writer;
  list.encode(writer);
  return writer.take();
}
RankList parsed(std::string_view text) {
  auto list = RankList::parse(text);
  INFO(text);
  REQUIRE(list);
  return *list;
}
void check_forms(const RankList& list) {
  const Bytes bytes = encoded(list);
  ByteReader reader(bytes);
  RankList back;
  REQUIRE(RankList::decode(reader, back));
  REQUIRE(reader.at_end());
  REQUIRE(back == list);
  REQUIRE(parsed(list.to_string()) == list);
}
Set random_set(std::mt19937_64& random) {
  Set set;
  for (auto n = random() % 6; n != 0; --n) {
    const auto start = random() % 60, count = 1 + random() % 8, stride = 1 + random() % 5;
    for (std::uint64_t i = 0; i < count; ++i)
      set.insert(static_cast<RankList::Rank>(start + i * stride));
  }
  return set;
}

}  // namespace

TEST_CASE("grids are small and readable", "[rank_list]") {
  RankList column, interior, cube;
  for (RankList::Rank i = 0; i < 1024; ++i) column.insert(i * 1024);
  for (RankList::Rank y = 1; y < 7; ++y) interior.merge(RankList::range(8 * y + 1, 8 * y + 6));
  for (RankList::Rank z = 1; z < 99; ++z)
    for (RankList::Rank y = 1; y < 99; ++y)
      cube.merge(RankList::range(10000 * z + 100 * y + 1, 10000 * z + 100 * y + 98));
  CHECK(column.to_string() == "0-1047552:1024");
  CHECK(interior.to_string() == "9-14+8*6");
  CHECK(cube.to_string() == "10101-10198+100*98+10000*98");
  CHECK(cube.size() == 98 * 98 * 98);
  CHECK(encoded(column).size() <= 8);
  CHECK(encoded(cube).size() <= 16);
  for (const auto& list : {column, interior, cube, RankList(), RankList::single(5)})
    check_forms(list);
}

TEST_CASE("text is read and refused", "[rank_list]") {
  CHECK(parsed("0,3,5-9,0-56:8").to_string() == "0,3,5-9,16-56:8");
  CHECK(parsed("").empty());
  CHECK(parsed("7-7") == RankList::single(7));
  CHECK(parsed("0-7:2,1-7:2") == RankList::range(0, 7));
  CHECK(parsed("0-7+1*2") == RankList::range(0, 8));
  for (const char* text :
       {",", "1,", "a", "1-", "5-3", "1-5:0", "1-5:", "16777216", "0-16777216", "1 2", "-1", "1+2",
        "1+2*", "1+0*3", "0-16777215:2", "1+9*16777215", "99999999999999999999"}) {
    INFO(text);
    const auto list = RankList::parse(text);
    REQUIRE_FALSE(list);
    CHECK(list.error().kind == ErrorKind::kUsage);
  }
}

TEST_CASE("runs are those that are found from left to right, however a set came to be",
          "[rank_list][property]") {
  const auto seed = std::random_device{}();
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  for (int round = 0; round < 3000; ++round) {
    // Few distances and lengths, so that runs meet, and pairs stand before longer runs.
    RankList x, y;
    std::vector<RankList::Interval> all;
    std::uint32_t next = static_cast<std::uint32_t>(random() % 3);
    const auto most = 1 + random() % 3;
    for (auto n = random() % 40; n != 0; --n) {
      const auto last = next + static_cast<std::uint32_t>(random() % 2 == 0 ? 0 : random() % most);
      all.push_back({next, last});
      next = last + 2 + static_cast<std::uint32_t>(random() % most);
    }
    for (const auto& [first, last] : all) {
      x.merge(RankList::range(first, last));
      (random() % 2 == 0 ? x : y).merge(RankList::range(first, last));
    }
    y.merge(x);
    CAPTURE(x.to_string());
    const auto runs = x.runs();
    CHECK(std::ranges::equal(runs, y.runs()));
    std::size_t i = 0;
    for (const auto& run : runs) {
      const auto run_from = [&](std::size_t from) {
        std::size_t end = from + 1;
        while (end < all.size() && all[end].size() == all[from].size() &&
               all[end].first - all[end - 1].first == all[from + 1].first - all[from].first)
          ++end;
        return end - from;
      };
      std::size_t count = run_from(i);
      if (count == 2 && run_from(i + 1) > 2) count = 1;
      REQUIRE(run.interval == all[i]);
      REQUIRE(run.count == count);
      REQUIRE(run.stride == (count == 1 ? 0 : all[i + 1].first - all[i].first));
      i += count;
    }
    REQUIRE(i == all.size());
    std::vector<RankList::Interval> listed;
    for (const auto& interval : x.intervals()) listed.push_back(interval);
    REQUIRE(listed == all);
    REQUIRE(x.intervals().size() == all.size());
  }
}

TEST_CASE("large sets of equal distances are few runs", "[rank_list]") {
  const RankList even = parsed("0-1048574:2"), odd = parsed("1-1048575:2"),
                 third = parsed("0-1048575:3");
  CHECK(even.runs().size() == 1);
  CHECK(even.minus(RankList::single(1000)).runs().size() == 2);
  CHECK(RankList::range(0, 1048575).minus(even) == odd);
  CHECK(even.intersection(third) == parsed("0-1048574:6"));
  RankList all = even;
  all.merge(odd);
  CHECK(all == RankList::range(0, 1048575));
  // Every second one of every second row of 1,024: a run for each row.
  RankList rows;
  for (std::uint32_t y = 0; y < 1024; y += 2)
    rows.merge(parsed(std::to_string(1024 * y) + "-" + std::to_string(1024 * y + 1022) + ":2"));
  CHECK(rows.runs().size() == 512);
  CHECK(rows.size() == 512 * 512);
  CHECK(rows.to_string() == "0-1022:2+2048*512");
  check_forms(rows);
}

TEST_CASE("sets behave as sets", "[rank_list][property]") {
  const auto seed = std::random_device{}();
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  for (int round = 0; round < 3000; ++round) {
    const Set a = random_set(random), b = random_set(random);
    std::vector<RankList::Rank> shuffled(a.begin(), a.end());
    std::shuffle(shuffled.begin(), shuffled.end(), random);
    RankList x;
    for (const auto rank : shuffled) x.insert(rank);
    const RankList y = list_of(b);
    Set both, either = a, rest;
    either.insert(b.begin(), b.end());
    std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::inserter(both, both.end()));
    std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::inserter(rest, rest.end()));
    REQUIRE(set_of(x) == a);
    REQUIRE(x == list_of(a));
    REQUIRE(x.hash() == list_of(a).hash());
    REQUIRE(x.size() == a.size());
    REQUIRE(x.first() == (a.empty() ? 0 : *a.begin()));
    RankList merged = x;
    merged.merge(y);
    REQUIRE(merged == list_of(either));
    REQUIRE(x.intersection(y) == list_of(both));
    REQUIRE(x.minus(y) == list_of(rest));
    REQUIRE(x.intersects(y) == !both.empty());
    REQUIRE((x == y) == (a == b));
    REQUIRE((x < y || y < x) == (a != b));
    for (RankList::Rank rank = 0; rank < 120; ++rank)
      REQUIRE(x.contains(rank) == (a.count(rank) != 0));
    check_forms(merged);
  }
}

TEST_CASE("a rank list that was moved from is empty, copies are their own", "[rank_list]") {
  for (const char* text : {"", "3", "0-15", "1,3,7", "0-56:8"}) {
    RankList list = *RankList::parse(text), copy = list;
    RankList moved(std::move(list));
    CHECK(list.empty());
    CHECK(moved == copy);
    copy.insert(1000);
    CHECK(moved == *RankList::parse(text));
    copy = std::move(moved);
    CHECK(moved.empty());
    CHECK(copy.to_string() == text);
    list = copy;
    copy = *RankList::parse("5,9");
    CHECK(list.to_string() == text);
  }
}

TEST_CASE("hostile rank lists are refused", "[rank_list][fuzz]") {
  const auto seed = std::random_device{}();
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  const auto try_decode = [](const Bytes& bytes) {
    ByteReader reader(bytes);
    RankList list;
    const bool good = RankList::decode(reader, list);
    REQUIRE(good == reader.ok());
    REQUIRE(list.intervals().size() <= RankList::kMaxIntervals);
    if (!list.empty()) REQUIRE(list.runs().back().last() < RankList::kMaxRanks);
    return good;
  };
  for (int round = 0; round < 20000; ++round) {
    Bytes bytes(random() % 30);
    for (auto& byte : bytes) byte = static_cast<std::uint8_t>(random() % (round % 2 ? 256 : 8));
    try_decode(bytes);
  }
  const Bytes whole = encoded(parsed("0,3,5-9,16-56:8,100-104+10*5+1000*3"));
  for (std::size_t size = 0; size < whole.size(); ++size)
    CHECK_FALSE(try_decode({whole.data(), whole.data() + size}));
  ByteWriter wide;  // every second of 2^24 ranks: more intervals than allowed
  for (const std::uint64_t v : {1U, 0U, 1U, 1U << 23, 2U}) wide.varint(v);
  CHECK_FALSE(try_decode(wide.bytes()));
  const auto decoded = [](std::initializer_list<std::uint64_t> bytes) {
    ByteWriter many;
    for (int list = 0; list < 4000; ++list)
      for (const std::uint64_t v : bytes) many.varint(v);
    ByteReader reader(many.bytes());
    std::uint64_t lists = 0;
    for (RankList list; RankList::decode(reader, list);) ++lists;
    return lists;
  };
  // Lists of few bytes, and a million intervals each: half a million runs, or one.
  const std::uint64_t runs = std::uint64_t{1} << 19, intervals = std::uint64_t{1} << 20;
  CHECK(decoded({1, 0, 2, 2, 3, runs, 8}) == ByteReader::kMostExpanded / (runs + intervals / 64));
  CHECK(decoded({1, 0, 1, intervals, 2}) == ByteReader::kMostExpanded / (1 + intervals / 64));
  ByteWriter touching;
  for (const std::uint64_t v : {2, 3, 0, 1, 0}) touching.varint(v);
  CHECK_FALSE(try_decode(touching.bytes()));
}
