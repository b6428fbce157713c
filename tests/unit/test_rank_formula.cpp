// SPDX-License-Identifier: BSD-3-Clause

#include "base/hash.h"
#include "format/codec.h"
#include "format/file.h"
#include "format/node_codec.h"
#include "format/rank_formula.h"
#include "format/value_parts.h"
#include "unit/catch.h"
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

std::optional<RankFormula> formula_of(const std::map<std::uint32_t, std::int64_t>& values,
                                      EndPointForm form, std::uint32_t size) {
  std::vector<ValueOfStreams> in_order;
  for (const auto& [stream, value] : values) {
    if (in_order.empty() || in_order.back().value != value ||
        in_order.back().streams.last + 1 != stream)
      in_order.push_back({{stream, stream}, value});
    in_order.back().streams.last = stream;
  }
  return find_formula(in_order, form, size);
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
    REQUIRE(formula_of(all, form, kRanks));
    Trace trace = trace_of(all, form);
    trace.world_size = kRanks;
    trace.threads = kThreads;
    const auto read = decode_trace(encode_trace(trace));
    REQUIRE(read);
    CHECK(read->threads == kThreads);
    for (const auto& [stream, value] : all) {
      ValueSequence own;
      EndPointForm found{};
      const ValueSequence* values = read->nodes[0].params[0].find(stream, found, own);
      REQUIRE(values != nullptr);
      REQUIRE(values->front() == value);
    }
    all[2 * kRanks + 7] += 1;
    CHECK_FALSE(formula_of(all, form, kRanks));
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
      REQUIRE(formula_of(values, form, 256));
      const Trace trace = trace_of(values, form);
      const Bytes bytes = encode_trace(trace);
      CHECK(bytes.size() < 200);
      auto read = decode_trace(bytes);
      REQUIRE(read);
      for (const auto& [rank, value] : values) {
        EndPointForm read_form{};
        ValueSequence own;
        const ValueSequence* sequence = read->nodes[0].params[0].find(rank, read_form, own);
        REQUIRE(sequence != nullptr);
        CHECK(sequence->front() == value);
        CHECK(sequence->size() == 3);
        CHECK(read_form == form);
      }
    }
    CHECK_FALSE(formula_of(table(256, form, +no_rule), form, 256));
  }
}

TEST_CASE("a grid of any shape is found") {
  for (std::uint32_t size = 4; size <= 96; ++size)
    for (std::uint32_t group = 1; group <= 2; ++group)
      for (std::uint32_t a = 2; size % group == 0 && a < size / group; ++a) {
        if (size / group % a != 0) continue;
        const RankFormula grid{RankFormula::Kind::kTranspose, a, group};
        std::map<std::uint32_t, std::int64_t> values;
        for (std::uint32_t rank = 0; rank < size; ++rank)
          values[rank] = grid.stored(rank, EndPointForm::kAbsolute, size);
        INFO(size << " ranks, groups of " << group << ", " << a << " columns");
        const auto found = formula_of(values, EndPointForm::kAbsolute, size);
        REQUIRE(found);
        for (const auto& [rank, value] : values)
          REQUIRE(found->stored(rank, EndPointForm::kAbsolute, size) == value);
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

namespace {

/// Both read back alike, and how many bytes the values of `groups` take.
std::size_t written(const std::vector<ParamGroup>& groups) {
  Trace trace =
      trace_of(table(512, EndPointForm::kAbsolute, [](std::uint32_t) -> std::int64_t { return 0; }),
               EndPointForm::kAbsolute);
  trace.nodes[0].params[0].set_groups(groups);
  ByteWriter nodes;
  write_nodes(nodes, trace);
  const auto read = decode_trace(encode_trace(trace));
  REQUIRE(read);
  REQUIRE(encode_trace(*read) == encode_trace(trace));
  for (const ParamGroup& group : groups)
    group.ranks.for_each([&](std::uint32_t rank) {
      EndPointForm form{};
      ValueSequence own;
      const ValueSequence* values = read->nodes[0].params[0].find(rank, form, own);
      REQUIRE(values != nullptr);
      REQUIRE(*values == group.values);
      REQUIRE(form == group.form);
    });
  return nodes.bytes().size();
}

}  // namespace

TEST_CASE("own values among common ones take no bytes for each rank") {
  for (const EndPointForm form :
       {EndPointForm::kBoth, EndPointForm::kAbsolute, EndPointForm::kRelative}) {
    std::vector<ParamGroup> groups;
    for (std::uint32_t rank = 0; rank < 512; ++rank) {
      ValueSequence values(rank);
      values.append(1, 100);  // rank 1 has it before, too
      values.append(ValueSequence::Segment{3 * rank, 7, 3});
      values.append(1, rank % 2 == 0 ? 3 : 1);
      if (rank % 2 != 0) values.append(2, 2);
      groups.push_back({RankList::single(rank), form, std::move(values)});
    }
    CHECK(written(groups) < 100);
    groups[9].values.append(5);  // now one has more
    CHECK(written(groups) > 2000);
  }
}

TEST_CASE("groups stay where parts would be longer") {
  std::uint64_t state = 7;
  std::vector<ParamGroup> groups(16);
  for (std::size_t i = 0; i < groups.size(); ++i) {
    groups[i].values.append(static_cast<std::int64_t>(i));
    groups[i].values.append(77, 10);
  }
  for (std::uint32_t rank = 0; rank < 512; ++rank) {
    state = mix(state + rank);
    groups[state % groups.size()].ranks.insert(rank);
  }
  CHECK_FALSE(ValueParts::of(groups));
  written(groups);
  for (std::size_t i = 0; i < groups.size(); ++i)
    for (int k = 0; k < 20; ++k) groups[i].values.append(k % 3 == 0 ? 5 : 100 * k);
  CHECK_FALSE(ValueParts::of(groups));  // too many parts
}

TEST_CASE("parts that cannot be are refused") {
  const Bytes ranks = [] {
    ByteWriter writer;
    RankList::range(0, 7).encode(writer);
    return writer.take();
  }();
  const auto refused = [&](std::uint64_t parts, std::uint64_t count, std::size_t values,
                           std::uint64_t most) {
    ByteWriter writer;
    writer.varint(parts);
    writer.raw(ranks);
    for (std::uint64_t i = 0; i < parts; ++i) {
      writer.varint(count);
      ValueSequence(0, values).encode(writer);
    }
    const Bytes bytes = writer.take();
    ByteReader reader(bytes);
    ValueParts read;
    return !ValueParts::decode(reader, most, nullptr, read);
  };
  CHECK_FALSE(refused(2, 3, 8, 8));
  CHECK(refused(0, 3, 8, 8));
  CHECK(refused(17, 3, 8, 8));
  CHECK(refused(2, 0, 8, 8));
  CHECK(refused(2, 1ULL << 48, 8, 8));
  CHECK(refused(2, 3, 7, 8));
  CHECK(refused(2, 3, 8, 7));
}
