// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <catch2/catch.hpp>
#include <iterator>
#include <random>
#include <set>
#include <vector>

#include "model/rank_list.h"

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
    if (!list.empty()) REQUIRE(list.intervals().back().last < RankList::kMaxRanks);
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
  ByteWriter many;  // lists of few bytes and a million intervals each
  for (int list = 0; list < 40; ++list)
    for (const std::uint64_t v : {1U, 0U, 1U, 1U << 20, 2U}) many.varint(v);
  ByteReader reader(many.bytes());
  int lists = 0;
  for (RankList list; RankList::decode(reader, list);) ++lists;
  CHECK(lists == ByteReader::kMostExpanded >> 20);
  ByteWriter touching;
  for (const std::uint64_t v : {2, 3, 0, 1, 0}) touching.varint(v);
  CHECK_FALSE(try_decode(touching.bytes()));
}
