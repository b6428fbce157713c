// SPDX-License-Identifier: BSD-3-Clause
// A flush's plan on its way to all ranks.

#include <cstddef>
#include <optional>
#include <string>

#include "flush/plan.h"
#include "unit/catch.h"

using namespace chameleon;
using flush::FlushPlan;

namespace {

FlushPlan::Entry entry_of(const char* ranks, std::uint32_t group) {
  FlushPlan::Entry entry;
  entry.ranks = *RankList::parse(ranks);
  entry.sender = entry.ranks.first();
  entry.group = group;
  return entry;
}

Bytes encoded(const FlushPlan& plan) {
  ByteWriter writer;
  plan.encode(writer);
  return writer.take();
}

std::optional<FlushPlan> decoded(const Bytes& bytes) {
  ByteReader reader(bytes);
  FlushPlan plan;
  if (!FlushPlan::decode(reader, plan) || !reader.at_end()) return std::nullopt;
  return plan;
}

}  // namespace

TEST_CASE("a plan arrives, whatever holds for its classes") {
  FlushPlan plan;
  plan.groups = 3;
  plan.filtered = true;
  for (unsigned what = 0; what < 64; ++what) {
    const char* const ranks[] = {"5", "2-8:2", "0-15", "3,17"};
    FlushPlan::Entry& entry = plan.entries.emplace_back(entry_of(ranks[what % 4], what % 3));
    entry.relative = (what & 4) != 0;
    entry.by_xor = (what & 8) != 0;
    entry.by_rules = (what & 16) != 0;
    if ((what & 32) != 0) {
      entry.kinds = static_cast<flush::ValueKinds>(what % 15);
      entry.sender = what;
      entry.inexact.resize(1);
      entry.inexact.front().ranks = RankList::range(1, what);
    }
  }
  FlushPlan::Crowd& crowd = plan.crowds.emplace_back();
  crowd.group = 2;
  crowd.whole = true;
  crowd.kinds = 5;
  crowd.ranks = *RankList::parse("100-900");
  const std::optional<FlushPlan> read = decoded(encoded(plan));
  REQUIRE(read);
  CHECK(encoded(*read) == encoded(plan));
  REQUIRE(read->entries.size() == plan.entries.size());
  for (std::size_t i = 0; i < plan.entries.size(); ++i) {
    const FlushPlan::Entry &sent = plan.entries[i], &mine = read->entries[i];
    CHECK(mine.sender == sent.sender);
    CHECK(mine.group == sent.group);
    CHECK(mine.relative == sent.relative);
    CHECK(mine.by_xor == sent.by_xor);
    CHECK(mine.by_rules == sent.by_rules);
    CHECK(mine.kinds == sent.kinds);
    CHECK(mine.ranks == sent.ranks);
    CHECK(mine.inexact.size() == sent.inexact.size());
  }
  CHECK(read->crowds.front().ranks == crowd.ranks);
}

TEST_CASE("ranks by themselves take three bytes each of a plan") {
  FlushPlan plan;
  plan.groups = 16;
  for (std::uint32_t rank = 0; rank < 16; ++rank)
    plan.entries.push_back(entry_of(std::to_string(rank).c_str(), rank));
  CHECK(encoded(plan).size() <= 4 + 16 * 3);
}

TEST_CASE("what is no plan is refused") {
  FlushPlan plan;
  plan.groups = 1;
  plan.entries.push_back(entry_of("7", 0));
  plan.entries.push_back(entry_of("2-8:2", 0));
  const Bytes good = encoded(plan);
  REQUIRE(decoded(good));
  for (std::size_t left = 0; left < good.size(); ++left) {
    CAPTURE(left);
    CHECK_FALSE(decoded(Bytes(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(left))));
  }
  plan.entries.front().ranks = RankList::single(RankList::kMaxRanks);
  CHECK_FALSE(decoded(encoded(plan)));
  plan.entries.front() = entry_of("7", 1);  // a group that is not there
  CHECK_FALSE(decoded(encoded(plan)));
}
