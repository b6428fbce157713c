// SPDX-License-Identifier: BSD-3-Clause
// VirtualWorld against the tree's recursive definition, with combinations that show their order.
// That MpiWorld does the same is tests/mpi/world_program.cpp.
#include <catch2/catch.hpp>
#include <numeric>
#include <string>

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
  REQUIRE(world.all_reduce(names, join) == reference(everyone));
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

TEST_CASE("map sees every rank and route keeps order") {
  VirtualWorld world(5, true);
  using Values = std::vector<std::pair<std::uint32_t, std::string>>;
  auto outgoing = world.generate([](std::uint32_t rank) {
    Values values;
    for (std::uint32_t i = 0; i < rank; ++i)
      values.emplace_back((rank * i) % 5, std::to_string(rank) + "." + std::to_string(i));
    return values;
  });
  auto incoming = world.route(outgoing);
  CHECK(incoming[0] == Values{{1, "1.0"}, {2, "2.0"}, {3, "3.0"}, {4, "4.0"}});
  CHECK(incoming[2] == Values{{2, "2.1"}, {4, "4.3"}});
  const auto counts =
      world.map(incoming, [](std::uint32_t, const Values& values) { return values.size(); });
  CHECK(std::accumulate(counts.begin(), counts.end(), std::size_t{0}) == 10);
  std::uint32_t visited = 0;
  world.map(incoming, [&](std::uint32_t rank, Values&) { visited += rank; });
  CHECK(visited == 10);
}

TEST_CASE("broadcast gives rank 0's value or a default one") {
  VirtualWorld world(4);
  CHECK(world.broadcast(std::optional<int>(7)) == 7);
  CHECK(world.broadcast(std::optional<std::string>()).empty());
  CHECK(world.traffic().bytes == 0);  // not asked to count them
  CHECK(world.traffic().messages == 6);
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
