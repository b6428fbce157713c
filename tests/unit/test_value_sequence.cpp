// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "model/coded_values.h"
#include "model/end_point.h"
#include "model/value_sequence.h"
#include "unit/catch.h"

using chameleon::ByteReader;
using chameleon::Bytes;
using chameleon::ByteWriter;
using chameleon::ValueSequence;

namespace {

using Values = std::vector<std::int64_t>;

Values values_of(const ValueSequence& sequence) {
  Values values;
  for (ValueSequence::Cursor cursor(sequence); !cursor.done();) values.push_back(cursor.next());
  return values;
}

ValueSequence sequence_of(const Values& values) {
  ValueSequence sequence;
  for (const std::int64_t value : values) sequence.append(value);
  return sequence;
}

Bytes encoded(const ValueSequence& sequence) {
  ByteWriter writer;
  sequence.encode(writer);
  return writer.take();
}

ValueSequence round_trip(const ValueSequence& sequence) {
  const Bytes bytes = encoded(sequence);
  ByteReader reader(bytes);
  ValueSequence back;
  REQUIRE(ValueSequence::decode(reader, back));
  REQUIRE(reader.at_end());
  return back;
}

double seconds_of(auto&& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// Nested loops of runs, progressions and noise.
void add_random(std::mt19937_64& random, Values& values, int depth) {
  const auto below = [&](std::uint64_t n) { return random() % n; };
  const int parts = 1 + static_cast<int>(below(4));
  for (int part = 0; part < parts; ++part) {
    const auto start = below(8) == 0 ? static_cast<std::int64_t>(random())
                                     : static_cast<std::int64_t>(below(20)) - 5;
    switch (below(depth > 0 ? 5 : 4)) {
      case 0: values.insert(values.end(), 1 + below(6), start); break;
      case 1:
      case 2: {
        const auto stride = static_cast<std::int64_t>(below(7)) - 3;
        const auto count = static_cast<std::int64_t>(1 + below(8));
        for (std::int64_t i = 0; i < count; ++i)
          values.push_back(static_cast<std::int64_t>(static_cast<std::uint64_t>(start) +
                                                     static_cast<std::uint64_t>(i * stride)));
        break;
      }
      case 3: values.push_back(start); break;
      default: {
        Values body;
        add_random(random, body, depth - 1);
        const std::uint64_t repeats = 1 + below(5);
        for (std::uint64_t i = 0; i < repeats; ++i)
          values.insert(values.end(), body.begin(), body.end());
      }
    }
  }
}

}  // namespace

TEST_CASE("constants stay small and inline", "[value_sequence]") {
  ValueSequence one;
  CHECK(one.empty());
  CHECK(one.to_string().empty());
  for (int i = 0; i < 1000; ++i) one.append(7);
  CHECK(one.is_constant());
  CHECK(one.memory_bytes() == 24);
  CHECK(one.term_count() == 1);
  CHECK(one.to_string() == "7x1000");
  ValueSequence other(7, 999), third(7);
  other.append(third);
  CHECK(one == other);
  CHECK(one.hash() == other.hash());
  third.append(8);
  third.set_back(7);
  CHECK(third.is_constant());
  CHECK(third == ValueSequence(7, 2));
  CHECK(third.hash() == ValueSequence(7, 2).hash());
  CHECK_FALSE(third == ValueSequence(8, 2));
  CHECK(encoded(ValueSequence(5)).size() == 2);
  CHECK(ValueSequence() == round_trip(ValueSequence()));
  one.append(1, 0);
  CHECK(one.is_constant());
}

TEST_CASE("text shows segments and loops", "[value_sequence]") {
  Values loop;
  for (int i = 0; i < 3; ++i)
    for (int v = 0; v < 10; ++v) loop.push_back(v);
  CHECK(sequence_of({5}).to_string() == "5");
  CHECK(sequence_of({0, 1}).to_string() == "0,1");
  CHECK(sequence_of({4, 0, 1, 2, 3}).to_string() == "4,0..3");
  CHECK(sequence_of({0, 8, 16, 24}).to_string() == "0..24:8");
  CHECK(sequence_of(loop).to_string() == "(0..9)x3");
  CHECK(sequence_of({3, 5, 3, 7, 3, 5, 3, 7}).to_string() == "(3,5,3,7)x2");
  CHECK(sequence_of({1, 3, 2, 9, 4}).to_string(2) == "1,3,...");
}

TEST_CASE("loops fold whatever their length", "[value_sequence]") {
  std::mt19937_64 random(1);
  const int length = GENERATE(2, 3, 4, 7, 8, 9, 10, 17, 63, 64, 65, 100, 1000);
  const int kinds = GENERATE(3, 1000000);
  Values body;
  for (int i = 0; i < length; ++i)
    body.push_back(static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(kinds)));
  ValueSequence sequence;
  for (int i = 0; i < 200; ++i)
    for (const std::int64_t value : body) sequence.append(value);
  CAPTURE(length, kinds, sequence.to_string(40));
  // A rotated loop, with what came before it and a pass not yet complete.
  CHECK(sequence.term_count() <= 4 * body.size() + 4);
  const ValueSequence back = round_trip(sequence);
  CHECK(back == sequence);
  CHECK(values_of(back) == values_of(sequence));
}

TEST_CASE("a long period is linear in time and space", "[value_sequence]") {
  std::mt19937_64 random(2);
  Values body(10000);
  for (auto& value : body) value = static_cast<std::int64_t>(random());
  ValueSequence sequence;
  const double seconds = seconds_of([&] {
    for (int i = 0; i < 100; ++i)
      for (const std::int64_t value : body) sequence.append(value);
  });
  CAPTURE(seconds, sequence.memory_bytes());
  CHECK(sequence.size() == 1000000);
  CHECK(sequence.term_count() <= 20002);
  CHECK(encoded(sequence).size() < 101000);
  CHECK(seconds < 20);  // quadratic would take hours
  ValueSequence nested;
  for (int i = 0; i < 1000000; ++i) {
    for (int j = 0; j < 3; ++j) nested.append(j % 2);
    nested.append(17);
  }
  CHECK(nested.term_count() < 20);
}

TEST_CASE("noise stays explicit at small cost", "[value_sequence]") {
  const std::uint64_t kinds = GENERATE(2, 10, UINT64_MAX);
  std::mt19937_64 random(3);
  ValueSequence sequence;
  Values values(1000000);
  for (auto& value : values) value = static_cast<std::int64_t>(random() % kinds);
  const double seconds = seconds_of([&] { sequence = sequence_of(values); });
  CAPTURE(kinds, seconds, sequence.memory_bytes(), sequence.term_count());
  CHECK(seconds < 20);
  CHECK(sequence.memory_bytes() < 100 * values.size());
  CHECK(encoded(sequence).size() < 11 * values.size());
  CHECK(values_of(sequence) == values);
}

TEST_CASE("values come back however they were appended", "[value_sequence][property]") {
  const auto seed = std::random_device{}();
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  for (int round = 0; round < 1500; ++round) {
    Values values;
    add_random(random, values, 4);
    CAPTURE(round);
    const ValueSequence single = sequence_of(values);
    REQUIRE(single.size() == values.size());
    REQUIRE(values_of(single) == values);
    REQUIRE(single.front() == values.front());
    REQUIRE(single.back() == values.back());

    ValueSequence joined;
    for (std::size_t i = 0; i < values.size();) {
      const std::size_t end = std::min(values.size(), i + 1 + random() % 20);
      joined.append(sequence_of({values.begin() + static_cast<std::ptrdiff_t>(i),
                                 values.begin() + static_cast<std::ptrdiff_t>(end)}));
      i = end;
    }
    REQUIRE(values_of(joined) == values);
    REQUIRE(joined == single);
    REQUIRE(joined.hash() == single.hash());

    ValueSequence back = round_trip(single);
    REQUIRE(values_of(back) == values);
    REQUIRE(back == single);
    REQUIRE(back.hash() == single.hash());
    REQUIRE(encoded(back) == encoded(single));

    const std::uint64_t times = random() % 12;
    ValueSequence often = joined;
    often.append_times(single, times);
    Values all = values;
    for (std::uint64_t i = 0; i < times; ++i) all.insert(all.end(), values.begin(), values.end());
    REQUIRE(values_of(often) == all);
    REQUIRE(often == sequence_of(all));

    // What was copied, decoded or joined can still grow and be changed.
    for (ValueSequence sequence : {single, back, joined}) {
      sequence.append(sequence);
      Values changed = values;
      changed.insert(changed.end(), values.begin(), values.end());
      for (int i = 0; i < 3; ++i) {
        changed.back() = i < 2 ? static_cast<std::int64_t>(random() % 20) : changed.front();
        sequence.set_back(changed.back());
        REQUIRE(values_of(sequence) == changed);
        changed.push_back(static_cast<std::int64_t>(random() % 20));
        sequence.append(changed.back());
      }
      REQUIRE(values_of(sequence) == changed);
      REQUIRE(sequence == sequence_of(changed));
      REQUIRE(sequence.hash() == sequence_of(changed).hash());
      sequence.set_back(changed.back() + 1);
      REQUIRE_FALSE(sequence == sequence_of(changed));
    }

    ValueSequence mapped = single.map_linear([](std::int64_t start, std::int64_t stride) {
      const auto w = [](std::int64_t v) { return static_cast<std::uint64_t>(v); };
      return std::pair(static_cast<std::int64_t>(100 - 3 * w(start)),
                       static_cast<std::int64_t>(-3 * w(stride)));
    });
    Values expected = values;
    for (auto& v : expected) v = static_cast<std::int64_t>(100 - 3 * static_cast<std::uint64_t>(v));
    REQUIRE(values_of(mapped) == expected);
    REQUIRE(mapped == sequence_of(expected));
    const ValueSequence zeros =
        single.map_linear([](std::int64_t, std::int64_t) { return std::pair(0, 0); });
    REQUIRE(zeros.is_constant());
    REQUIRE(zeros.size() == values.size());
  }
}

TEST_CASE("dropping values one at a time keeps the rest", "[value_sequence][property]") {
  const auto seed = std::random_device{}();
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  for (int round = 0; round < 200; ++round) {
    Values values;
    add_random(random, values, 3);
    ValueSequence run;
    for (std::size_t i = 0; i < values.size(); ++i) {
      run.append(static_cast<std::int64_t>(random() % 3));
      run.set_back(values[i]);
    }
    REQUIRE(values_of(run) == values);
    REQUIRE(run == sequence_of(values));
  }
}

TEST_CASE("hostile bytes are refused", "[value_sequence][fuzz]") {
  const auto seed = std::random_device{}();
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  const auto try_decode = [](const Bytes& bytes) {
    ByteReader reader(bytes);
    ValueSequence sequence;
    const bool good = ValueSequence::decode(reader, sequence);
    REQUIRE(good == reader.ok());
    if (!good) REQUIRE(sequence.empty());
    if (good) {
      REQUIRE(sequence.size() <= std::uint64_t{1} << 48);
      ValueSequence::Cursor cursor(sequence);
      for (int i = 0; i < 1000 && !cursor.done(); ++i) cursor.next();
      sequence.append(3);
      sequence.set_back(4);
      static_cast<void>(sequence.to_string(20));
    }
    return good;
  };
  for (int round = 0; round < 20000; ++round) {
    Bytes bytes(random() % 60);
    for (auto& byte : bytes) byte = static_cast<std::uint8_t>(random() % (round % 2 ? 256 : 16));
    try_decode(bytes);
  }
  for (int round = 0; round < 300; ++round) {
    Values values;
    add_random(random, values, 3);
    const Bytes whole = encoded(sequence_of(values));
    for (std::size_t size = 0; size < whole.size(); ++size)
      CHECK_FALSE(try_decode({whole.data(), whole.data() + size}));
    for (int i = 0; i < 20; ++i) {
      Bytes bad = whole;
      bad[random() % bad.size()] = static_cast<std::uint8_t>(random());
      try_decode(bad);
    }
  }
  Bytes deep{3};  // loops of loops without end
  for (int i = 0; i < 100000; ++i) deep.insert(deep.end(), {1, 11});
  CHECK_FALSE(try_decode(deep));
  ByteWriter huge;  // 2^40 times 2^40 values
  huge.varint(1);
  huge.varint(1);
  huge.varint(std::uint64_t{1} << 42 | 3);
  huge.varint(1);
  huge.varint(std::uint64_t{1} << 42 | 1);
  huge.svarint(0);
  CHECK_FALSE(try_decode(huge.bytes()));
}

TEST_CASE("a progression that wraps keeps its order, with ends that are small",
          "[value_sequence]") {
  for (const ValueSequence::Segment& segment :
       {ValueSequence::Segment{2, INT64_MAX, 5},
        ValueSequence::Segment{1284017083177597805, -8614738280443435392, 5}}) {
    ValueSequence values, one_by_one;
    values.append(segment);
    auto value = static_cast<std::uint64_t>(segment.start);
    for (std::uint64_t i = 0; i < segment.count; ++i) {
      one_by_one.append(static_cast<std::int64_t>(value));
      value += static_cast<std::uint64_t>(segment.stride);
    }
    CHECK(values == one_by_one);
    CHECK(values.back() == one_by_one.back());
  }
}

TEST_CASE("a rank and a special partner at the end keep their readings") {
  using namespace chameleon;
  ValueSequence packed;
  const std::vector<std::int64_t> partners = {pack_rank(3, 0, 16), pack_rank(1, 0, 16),
                                              pack_rank(4, 0, 16),
                                              pack_special(SpecialRank::kProcNull)};
  for (std::size_t length = 1; length <= partners.size(); ++length) {
    packed = ValueSequence();
    for (std::size_t i = 0; i < length; ++i) packed.append(partners[i]);
    for (const EndPointForm form : {EndPointForm::kRelative, EndPointForm::kAbsolute}) {
      const ValueSequence read = packed.map_linear(ProjectEndPoint{form});
      ValueSequence::Cursor cursor(read);
      for (std::size_t i = 0; i < length; ++i)
        CHECK(cursor.next() == ProjectEndPoint{form}(partners[i], 0).first);
    }
  }
}

TEST_CASE("values in a random order are coded, and read back", "[value_sequence]") {
  std::mt19937_64 random(std::random_device{}());
  const auto seed = random();
  random.seed(seed);
  INFO("seed " << seed);
  for (int round = 0; round < 300; ++round) {
    const std::size_t distinct = 2 + random() % 20;
    Values different, values;
    for (std::size_t i = 0; i < distinct; ++i)
      different.push_back(static_cast<std::int64_t>(random() >> (random() % 64)));
    const bool blocks = random() % 2 == 0;
    for (std::size_t left = random() % 200; left > 0; --left) {
      if (blocks) std::shuffle(different.begin(), different.end(), random);
      for (std::size_t i = 0; i < distinct; ++i)
        values.push_back(different[blocks ? i : random() % distinct]);
    }
    const ValueSequence sequence = sequence_of(values);
    ByteWriter writer;
    std::uint64_t left = chameleon::CodedValues::kMostWork;
    sequence.encode_small(writer, left);
    ByteReader reader(writer.bytes());
    ValueSequence read;
    REQUIRE(ValueSequence::decode(reader, read));
    REQUIRE(reader.at_end());
    REQUIRE(values_of(read) == values);
    REQUIRE(read.hash() == sequence.hash());
    if (const auto coded = chameleon::CodedValues::encode(values); coded)
      REQUIRE(coded->decode(values.size()) == values);
  }
}

TEST_CASE("permutations take little more than their entropy", "[value_sequence]") {
  std::mt19937_64 random(2026);
  Values block{0, 1, 2, 3, 4, 5}, values;
  for (int i = 0; i < 2000; ++i) {
    std::shuffle(block.begin(), block.end(), random);
    values.insert(values.end(), block.begin(), block.end());
  }
  ByteWriter writer;
  std::uint64_t work = chameleon::CodedValues::kMostWork;
  sequence_of(values).encode_small(writer, work);
  const double entropy = 2000 * std::log2(720.0) / 8;
  CHECK(static_cast<double>(writer.bytes().size()) < 1.04 * entropy);
}

TEST_CASE("coded values of any bytes are values, or refused", "[value_sequence]") {
  std::mt19937_64 random(std::random_device{}());
  const auto seed = random();
  random.seed(seed);
  INFO("seed " << seed);
  Values block{7, -3, 1000000, 2}, values;
  for (int i = 0; i < 100; ++i) {
    std::shuffle(block.begin(), block.end(), random);
    values.insert(values.end(), block.begin(), block.end());
  }
  ByteWriter writer;
  std::uint64_t work = chameleon::CodedValues::kMostWork;
  sequence_of(values).encode_small(writer, work);
  REQUIRE(writer.bytes().front() == 1);
  for (int round = 0; round < 2000; ++round) {
    Bytes bytes = writer.bytes();
    for (std::uint64_t left = 1 + random() % 3; left > 0; --left)
      bytes[random() % bytes.size()] = static_cast<std::uint8_t>(random());
    if (random() % 4 == 0) bytes.resize(random() % bytes.size());
    ByteReader reader(bytes);
    ValueSequence read;
    if (!ValueSequence::decode(reader, read))
      CHECK_FALSE(reader.ok());
    else if (bytes.front() == 1)
      CHECK(read.size() <= chameleon::CodedValues::most_in(bytes.size()));
  }
}

TEST_CASE("more coded values than a section may have are refused, and not written",
          "[value_sequence]") {
  Values block, values;
  std::mt19937_64 random(7);
  for (std::int64_t i = 0; i < 60; ++i) block.push_back(i);
  for (int i = 0; i < 1000; ++i) {
    std::shuffle(block.begin(), block.end(), random);
    values.insert(values.end(), block.begin(), block.end());
  }
  const ValueSequence sequence = sequence_of(values);
  ByteWriter writer;
  std::uint64_t left = 3 * chameleon::CodedValues::kMostWork;
  for (int i = 0; i < 2; ++i) sequence.encode_small(writer, left);
  ByteReader reader(writer.bytes());
  ValueSequence read;
  REQUIRE(ValueSequence::decode(reader, read));
  CHECK_FALSE(ValueSequence::decode(reader, read));
  left = chameleon::CodedValues::kMostWork;
  ByteWriter kept;
  for (int i = 0; i < 2; ++i) sequence.encode_small(kept, left);
  ByteReader again(kept.bytes());
  for (int i = 0; i < 2; ++i) {
    REQUIRE(ValueSequence::decode(again, read));
    CHECK(values_of(read) == values);
  }
}
