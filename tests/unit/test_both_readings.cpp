// SPDX-License-Identifier: BSD-3-Clause
// End-points known both ways, written without the caller's rank: they come back, whatever they are,
// and take fewer bytes where they are partners.
#include <cstdint>
#include <random>

#include "format/codec.h"
#include "model/both_readings.h"
#include "model/end_point.h"
#include "unit/catch.h"

using namespace chameleon;

namespace {

std::size_t bytes_of(const ValueSequence& values) {
  ByteWriter writer;
  values.encode(writer);
  return writer.bytes().size();
}

}  // namespace

TEST_CASE("partners take half the bytes without the caller's rank, and come back") {
  constexpr std::int32_t kSize = 1 << 20;
  std::mt19937_64 random(7);
  std::size_t plain = 0, less = 0;
  int close = 0;
  for (int i = 0; i < 200; ++i) {
    const auto self = static_cast<std::int32_t>(random() % kSize);
    ValueSequence values;
    for (int call = 0; call < 8; ++call)
      values.append(pack_rank(static_cast<std::int32_t>(random() % kSize), self, kSize));
    const auto both = BothReadings::of(values);
    REQUIRE(both);
    CHECK((both->self - self) % kSize == 0);
    close += both->self == self ? 1 : 0;
    CHECK(both->undone() == values);
    plain += bytes_of(values);
    less += bytes_of(both->values) + 3;
  }
  CHECK(less * 3 < plain * 2);
  CHECK(close > 170);
}

TEST_CASE("any values come back without a caller's rank") {
  std::mt19937_64 random(11);
  constexpr std::int64_t kSome[] = {INT64_MIN, INT64_MAX,        0,
                                    -1,        INT64_C(1) << 32, INT64_C(1) << 62};
  const auto value = [&]() -> std::int64_t {
    switch (random() % 4) {
      case 0: return kSome[random() % std::size(kSome)];
      case 1: return pack_special(static_cast<SpecialRank>(1 + random() % 5));
      case 2: return static_cast<std::int64_t>(random());
      default: return pack_rank(static_cast<std::int32_t>(random() % 1000), 500, 1000);
    }
  };
  int made = 0;
  for (int i = 0; i < 2000; ++i) {
    ValueSequence values;
    for (std::uint64_t left = random() % 6; left != 0; --left)
      values.append(ValueSequence::Segment{value(), value(), 1 + random() % 4});
    if (random() % 2 == 0) values.append_times(ValueSequence(values), 3);
    for (const std::int64_t self : {value(), std::int64_t{0}})
      REQUIRE(BothReadings{self, values}.undone().size() == values.size());
    if (const auto both = BothReadings::of(values)) {
      REQUIRE(both->undone() == values);
      ++made;
    }
  }
  CHECK(made > 100);
}

TEST_CASE("both readings are written in fewer bytes, and read back") {
  constexpr std::int32_t kSize = 1 << 16;
  Trace trace;
  trace.world_size = kSize;
  trace.ranks = RankList::range(0, 99);
  trace.calls[1] = {"Send", {{"dest", "dest", FieldKind::kEndPoint}}};
  std::vector<ParamGroup> groups;
  for (std::int32_t rank = 0; rank < 100; ++rank) {
    ValueSequence partners;
    for (const std::int32_t partner :
         {rank * 7919 % kSize, rank * 104729 % kSize, rank + 40000, rank * rank + 3})
      partners.append(pack_rank(partner, rank, kSize));
    groups.push_back(
        {RankList::single(static_cast<std::uint32_t>(rank)), EndPointForm::kBoth, partners});
  }
  const auto node = [](Param param) {
    Node made;
    made.call = 1;
    made.path = 7;
    made.shape = Shape::of(made.symbol());
    made.params.push_back(std::move(param));
    return made;
  };
  Param by_rank;
  by_rank.set_groups(groups);
  trace.nodes.push_back(node(std::move(by_rank)));
  trace.nodes.push_back(node(Param(groups[99].values)));
  const Bytes bytes = format::encode_trace(trace);
  CHECK(bytes.size() < 3000);
  const auto read = format::decode_trace(bytes);
  REQUIRE(read);
  REQUIRE(read->nodes.size() == 2);
  CHECK(read->nodes[1].params[0].values() == groups[99].values);
  CHECK(read->nodes[1].params[0].form() == EndPointForm::kBoth);
  std::size_t at = 0;
  for (const ParamGroup& group : read->nodes[0].params[0].groups()) {
    CHECK(group.ranks == groups[at].ranks);
    CHECK(group.form == EndPointForm::kBoth);
    CHECK(group.values == groups[at].values);
    ++at;
  }
  CHECK(at == 100);
}
