// SPDX-License-Identifier: BSD-3-Clause
#include <catch2/catch.hpp>

#include "format/codec.h"
#include "format/file.h"
#include "format/rank_formula.h"
#include "unit/trace_builder.h"

using namespace chameleon;
using namespace chameleon::compress;
using namespace chameleon::format;

namespace {

std::map<std::uint32_t, std::int64_t> table(std::uint32_t size, EndPointForm form,
                                            std::int64_t (*partner)(std::uint32_t)) {
  std::map<std::uint32_t, std::int64_t> values;
  for (std::uint32_t rank = 0; rank < size; ++rank)
    values[rank] =
        form == EndPointForm::kRelative
            ? relative_rank(static_cast<std::int32_t>(partner(rank)),
                            static_cast<std::int32_t>(rank), static_cast<std::int32_t>(size))
            : partner(rank);
  return values;
}

/// One event of `size` ranks whose partner is a value of its own for each.
Trace trace_of(const std::map<std::uint32_t, std::int64_t>& values, EndPointForm form) {
  Trace trace;
  trace.world_size = static_cast<std::uint32_t>(values.size());
  trace.ranks = RankList::range(0, trace.world_size - 1);
  trace.calls[1] = {"Send", {{"dest", "dest", FieldKind::kEndPoint}}};
  std::vector<ParamGroup> groups;
  for (const auto& [rank, value] : values)
    groups.push_back({RankList::single(rank), form, ValueSequence(value, 3)});
  Node node;
  node.call = 1;
  node.path = 7;
  node.shape = Shape::of(node.symbol());
  node.params.resize(1);
  node.params[0].set_groups(std::move(groups));
  trace.nodes.push_back(std::move(node));
  return trace;
}

}  // namespace

TEST_CASE("what follows from the rank is the same formula for all of its threads") {
  constexpr std::uint32_t kRanks = 64, kThreads = 3;
  for (const EndPointForm form : {EndPointForm::kAbsolute, EndPointForm::kRelative}) {
    const auto one = table(kRanks, form, [](std::uint32_t r) -> std::int64_t { return r ^ 5U; });
    auto all = one;
    for (std::uint32_t stream = kRanks; stream < kRanks * kThreads; ++stream)
      all[stream] = one.at(stream % kRanks);
    REQUIRE(find_formula(all, form, kRanks));
    Trace trace = trace_of(all, form);
    trace.world_size = kRanks;
    trace.threads = kThreads;
    const auto read = decode_trace(encode_trace(trace));
    REQUIRE(read);
    CHECK(read->threads == kThreads);
    for (const auto& [stream, value] : all) {
      EndPointForm found{};
      const ValueSequence* values = read->nodes[0].params[0].find(stream, found);
      REQUIRE(values != nullptr);
      REQUIRE(values->front() == value);
    }
    all[2 * kRanks + 7] += 1;
    CHECK_FALSE(find_formula(all, form, kRanks));
  }
}

TEST_CASE("partners that follow from the rank are written as a formula") {
  const auto flipped = [](std::uint32_t rank) -> std::int64_t { return rank ^ 5U; };
  const auto transposed = [](std::uint32_t rank) -> std::int64_t {
    return rank % 16 * 16 + rank / 16;
  };
  const auto in_pairs = [](std::uint32_t rank) -> std::int64_t {
    const std::uint32_t half = rank / 2;
    return 2 * (half % 8 * 16 + half / 8) + rank % 2;
  };
  const auto no_rule = [](std::uint32_t rank) -> std::int64_t { return rank * rank % 251; };
  for (const EndPointForm form : {EndPointForm::kAbsolute, EndPointForm::kRelative}) {
    for (const auto partner : {+flipped, +transposed, +in_pairs}) {
      const auto values = table(256, form, partner);
      REQUIRE(find_formula(values, form, 256));
      const Trace trace = trace_of(values, form);
      const Bytes bytes = encode_trace(trace);
      CHECK(bytes.size() < 200);
      auto read = decode_trace(bytes);
      REQUIRE(read);
      for (const auto& [rank, value] : values) {
        EndPointForm read_form{};
        const ValueSequence* sequence = read->nodes[0].params[0].find(rank, read_form);
        REQUIRE(sequence != nullptr);
        CHECK(sequence->front() == value);
        CHECK(sequence->size() == 3);
        CHECK(read_form == form);
      }
    }
    CHECK_FALSE(find_formula(table(256, form, +no_rule), form, 256));
  }
}

TEST_CASE("a formula that cannot be is refused") {
  for (const Bytes& bytes : {Bytes{0, 1, 1}, Bytes{3, 1, 1}, Bytes{2, 0, 1}, Bytes{1, 1, 0}}) {
    ByteReader reader(bytes);
    RankFormula formula;
    CHECK_FALSE(RankFormula::decode(reader, formula));
    CHECK_FALSE(reader.ok());
  }
}
