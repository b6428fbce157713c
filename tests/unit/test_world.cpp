// SPDX-License-Identifier: BSD-3-Clause
// VirtualWorld against the tree's recursive definition, with combinations that show their order.
// That MpiWorld does the same is tests/mpi/world_program.cpp.
#include <algorithm>
#include <numeric>
#include <string>

#include "unit/catch.h"
#include "world/several_roots.h"
#include "world/virtual_subset.h"
#include "world/virtual_world.h"

using namespace chameleon;
using namespace chameleon::world;

namespace {

void join(std::string& mine, std::string&& theirs) { mine = "(" + mine + theirs + ")"; }

// The tree over positions [at, at + 2^k), cut at size: the lower half, joined by the upper.
std::string reference(const std::vector<std::uint32_t>& members, std::size_t at,
                      std::size_t width) {
  if (width == 1) return std::to_string(members[at]);
  std::string lower = reference(members, at, width / 2);
  if (at + width / 2 < members.size()) join(lower, reference(members, at + width / 2, width / 2));
  return lower;
}

std::string reference(const std::vector<std::uint32_t>& members) {
  return reference(members, 0, std::size_t{1} << tree_depth(members.size()));
}

template <class T>
T round_trip(const T& value) {
  ByteWriter writer;
  encode_value(writer, value);
  ByteReader reader(writer.bytes());
  T out{};
  REQUIRE(decode_value(reader, out));
  REQUIRE(reader.at_end());
  return out;
}

}  // namespace

TEST_CASE("reductions combine as the tree does") {
  const auto size = GENERATE(range(1U, 17U));
  VirtualWorld world(size, true);
  auto names = world.generate([](std::uint32_t rank) { return std::to_string(rank); });
  std::vector<std::uint32_t> everyone(size);
  std::iota(everyone.begin(), everyone.end(), 0);

  REQUIRE(world.reduce(names, join) == reference(everyone));
  CHECK(world.traffic().messages == size - 1);
  CHECK(world.traffic().depth == tree_depth(size));
  CHECK((world.traffic().bytes > 0) == (size > 1));
  REQUIRE(all_reduce(world, names, join) == reference(everyone));
  CHECK(world.traffic().messages == 3 * (size - 1));

  for (std::uint32_t subset = 0; subset < (1U << size); subset += 1 + subset / 3) {
    std::vector<std::uint32_t> members;
    for (std::uint32_t rank = 0; rank < size; ++rank)
      if ((subset >> rank & 1) != 0) members.push_back(rank);
    world.reset_traffic();
    const auto result = world.reduce(members, names, join);
    REQUIRE(result.has_value() == !members.empty());
    if (members.empty()) continue;
    REQUIRE(*result == reference(members));
    CHECK(world.traffic().messages == members.size() - 1 + (members.front() != 0 ? 1 : 0));
  }
}

TEST_CASE("map sees every rank") {
  VirtualWorld world(5, true);
  auto names = world.generate([](std::uint32_t rank) { return std::string(rank, 'x'); });
  const auto lengths =
      world.map(names, [](std::uint32_t, const std::string& name) { return name.size(); });
  CHECK(lengths == std::vector<std::size_t>{0, 1, 2, 3, 4});
  std::uint32_t visited = 0;
  world.map(names, [&](std::uint32_t rank, std::string&) { visited += rank; });
  CHECK(visited == 10);
}

TEST_CASE("broadcast gives rank 0's value or a default one") {
  VirtualWorld world(4);
  CHECK(world.broadcast(std::optional<int>(7)) == 7);
  CHECK(world.broadcast(std::optional<std::string>()).empty());
  CHECK(world.traffic().bytes == 0);  // not asked to count them
  CHECK(world.traffic().messages == 6);
}

static_assert(TreeWorld<VirtualWorld> && TreeWorld<VirtualSubset>);

TEST_CASE("members are in canonical order") {
  const Members members({7, 2, 9, 2, 4, 7}, 9);
  CHECK(members.ranks() == std::vector<std::uint32_t>{2, 4, 7});
  CHECK(members.position(4) == 1);
  CHECK(members[2] == 7);
  CHECK(members.position(3) == 3);  // no member
  CHECK(members.position(8) == 3);
}

TEST_CASE("a subset maps, reduces and broadcasts among its members") {
  const std::uint32_t size = GENERATE(1U, 2U, 3U, 4U, 7U, 8U, 16U);
  VirtualWorld world(size, true);
  const auto names = world.generate([](std::uint32_t rank) { return std::to_string(rank); });
  for (std::uint32_t chosen = 0; chosen < (1U << size); chosen += 1 + chosen / 3) {
    std::vector<std::uint32_t> ranks;
    for (std::uint32_t rank = size; rank-- > 0;)  // named in any order
      if ((chosen >> rank & 1) != 0) ranks.push_back(rank);
    const auto members = static_cast<std::uint32_t>(ranks.size());
    VirtualSubset subset(world, ranks);
    REQUIRE(std::is_sorted(subset.ranks().begin(), subset.ranks().end()));
    REQUIRE(subset.size() == members);

    world.reset_traffic();
    auto own = subset.of(names);
    REQUIRE(own == subset.generate([](std::uint32_t rank) { return std::to_string(rank); }));
    auto marked = subset.map(own, [](std::uint32_t rank, std::string& name) {
      return name + "@" + std::to_string(rank);
    });
    for (std::uint32_t at = 0; at < members; ++at)
      CHECK(marked[at] == own[at] + "@" + std::to_string(subset.ranks()[at]));
    CHECK(world.traffic().messages == 0);

    const auto reduced = subset.reduce(own, join);
    REQUIRE(reduced.has_value() == (members != 0));
    if (members == 0) {
      CHECK(subset.broadcast(reduced).empty());
      continue;
    }
    CHECK(*reduced == reference(subset.ranks()));
    CHECK(world.traffic().messages == members - 1);
    CHECK(world.traffic().depth == tree_depth(members));

    world.reset_traffic();
    CHECK(subset.broadcast(reduced) == *reduced);
    CHECK(world.traffic().messages == members - 1);
    CHECK(world.traffic().bytes == (members - 1) * (reduced->size() + (members > 1 ? 1 : 0)));
    CHECK(world.traffic().depth == tree_depth(members));
    CHECK(all_reduce(subset, own, join) == *reduced);

    const auto all = subset.everyone(own);
    REQUIRE(all.size() == size);
    for (std::uint32_t rank = 0; rank < size; ++rank)
      CHECK(all[rank] == ((chosen >> rank & 1) != 0 ? names[rank] : ""));
  }
}

TEST_CASE("several roots broadcast at once, each to all") {
  const std::uint32_t size = GENERATE(1U, 2U, 3U, 4U, 7U, 8U, 16U);
  for (std::uint32_t chosen = 0; chosen < (1U << size); chosen += 1 + chosen / 3) {
    VirtualWorld world(size, true);
    std::vector<std::uint32_t> roots;
    std::vector<std::string> expected;
    for (std::uint32_t rank = 0; rank < size; ++rank)
      if ((chosen >> rank & 1) != 0) {
        roots.insert(roots.begin(), rank);
        expected.push_back(std::string(rank, 'r'));
      }
    const auto found = broadcast_from<std::string>(
        world, roots, world.generate([](std::uint32_t rank) { return std::string(rank, 'r'); }));
    CHECK(found == expected);
    const bool away = !roots.empty() && roots.back() != 0;
    CHECK(world.traffic().messages ==
          (roots.empty() ? 0 : roots.size() - 1) + (away ? 1 : 0) + (size - 1));
    CHECK(world.traffic().depth ==
          (roots.empty() ? 0 : tree_depth(roots.size())) + (away ? 1 : 0) + tree_depth(size));
  }
}

TEST_CASE("groups broadcast at once, each from its first") {
  VirtualWorld world(9, true);
  auto names = world.generate([](std::uint32_t rank) { return std::to_string(rank); });
  const std::vector<std::vector<std::uint32_t>> groups = {{1, 4, 8}, {2}, {}, {3, 5, 6, 7}};
  names = world.broadcast_groups(groups, std::move(names));
  CHECK(names == std::vector<std::string>{"0", "1", "2", "3", "1", "3", "3", "3", "1"});
  CHECK(world.traffic().messages == 5);
  CHECK(world.traffic().bytes == 10);
  CHECK(world.traffic().depth == 2);
}

TEST_CASE("values survive the wire") {
  using Nested = std::vector<std::pair<std::string, std::vector<double>>>;
  CHECK(round_trip(Nested{{"a", {1.5, -2}}, {"", {}}}) == Nested{{"a", {1.5, -2}}, {"", {}}});
  CHECK(round_trip(std::uint64_t{1} << 63) == std::uint64_t{1} << 63);
  ByteWriter writer;
  encode_value(writer, std::vector<std::uint64_t>{1, 2, 3});
  const Bytes cut(writer.bytes().begin(), writer.bytes().end() - 1);
  ByteReader reader(cut);
  std::vector<std::uint64_t> out;
  CHECK_FALSE(decode_value(reader, out));
}
