// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "model/value_list.h"
#include "model/value_sequence.h"
#include "unit/catch.h"

using namespace chameleon;

namespace {

using Values = std::vector<std::int64_t>;

Bytes encoded(const Values& values, std::uint64_t left = kListValuesBeside) {
  ByteWriter writer;
  encode_list(writer, values, left);
  return writer.take();
}

Bytes as_sequence(const Values& values) {
  ValueSequence sequence;
  for (const std::int64_t value : values) sequence.append(value);
  ByteWriter writer;
  sequence.encode(writer);
  return writer.take();
}

Values decoded(const Bytes& bytes, std::uint64_t most = UINT64_MAX) {
  ByteReader reader(bytes);
  Values values;
  if (!decode_list(reader, most, values) || !reader.at_end()) return {-1};
  return values;
}

/// What a reader that knows sequences only makes of it.
Values decoded_as_sequence(const Bytes& bytes) {
  ByteReader reader(bytes);
  ValueSequence sequence;
  if (!ValueSequence::decode(reader, sequence) || !reader.at_end()) return {-1};
  Values values;
  for (ValueSequence::Cursor cursor(sequence); !cursor.done();) values.push_back(cursor.next());
  return values;
}

/// The places of blocks of which each lies somewhere else in its cell.
Values irregular(std::size_t size) {
  std::mt19937_64 random(7);
  Values values;
  for (std::size_t i = 0; i < size; ++i)
    values.push_back(static_cast<std::int64_t>(16 * i + random() % 8));
  return values;
}

}  // namespace

TEST_CASE("lists come back, whatever is in them, also from readers of sequences") {
  std::mt19937_64 random(11);
  const std::int64_t least = INT64_MIN, most = INT64_MAX;
  for (int round = 0; round < 300; ++round) {
    Values values;
    const std::size_t size = random() % (round % 2 == 0 ? 20 : 9000);
    while (values.size() < size) {
      const std::int64_t value = static_cast<std::int64_t>(random() % 1000) - 500;
      const auto count = static_cast<std::int64_t>(random() % 7);
      switch (random() % 5) {
        case 0: values.insert(values.end(), static_cast<std::size_t>(count), value); break;
        case 1:
          for (std::int64_t i = 0; i < count; ++i) values.push_back(value + 3 * i);
          break;
        case 2: values.push_back(random() % 2 == 0 ? least : most); break;
        case 3:  // the last of one progression is the first of the next
          for (std::int64_t i = 0; i < 10; ++i) values.push_back(i < 5 ? i : 4 + 2 * (i - 4));
          break;
        default: values.push_back(static_cast<std::int64_t>(random())); break;
      }
    }
    const Bytes bytes = encoded(values);
    REQUIRE(decoded(bytes) == values);
    REQUIRE(decoded_as_sequence(bytes) == values);
    REQUIRE(decoded(as_sequence(values)) == values);
  }
}

TEST_CASE("a long list that repeats is written as a sequence, its end may be irregular") {
  Values values;
  for (int i = 0; i < 100'000; ++i) values.push_back(i % 7 == 0 ? 3 : i % 5);
  CHECK(encoded(values) == as_sequence(values));
  CHECK(encoded(values).size() < 100);
  CHECK(decoded(encoded(values)) == values);
  const Values end = irregular(100'000);
  values.insert(values.end(), end.begin(), end.end());
  CHECK(decoded(encoded(values)) == values);
}

TEST_CASE("a long list of which a quarter is loops of irregular values is a sequence") {
  std::mt19937_64 random(5);
  Values blocks, few;
  for (int i = 0; i < 200; ++i) blocks.push_back(static_cast<std::int64_t>(random() % 1000));
  for (std::size_t i = 0; i < 20'000; ++i) {
    const auto n = static_cast<std::int64_t>(i);
    few.push_back(n + n / 4 * 4);  // distances 1, 1, 1, 5
    if (i >= 200) blocks.push_back(blocks[i - 200]);
  }
  for (const Values& values : {blocks, few}) {
    CHECK(encoded(values) == as_sequence(values));
    CHECK(decoded(encoded(values)) == values);
  }
}

TEST_CASE("many numbers at once are written as one by one, and bytes are moved from either end") {
  std::mt19937_64 random(3);
  Values values{INT64_MIN, INT64_MAX, 0, -1, 63, 64, -64, -65};
  for (int i = 0; i < 1000; ++i) values.push_back(static_cast<std::int64_t>(random() >> (i % 64)));
  for (const std::size_t size : {0, 1, 8, 255, 256, 257, 1008}) {
    ByteWriter one, all;
    for (std::size_t i = 0; i < size; ++i) one.svarint(values[i]);
    all.svarints(std::span(values).first(size));
    CHECK(one.bytes() == all.bytes());
  }
  for (const std::size_t count : {0, 1, 3, 4, 5, 8, 9}) {
    ByteWriter writer;
    Bytes expected;
    for (std::uint8_t i = 0; i < 9; ++i) writer.u8(i);
    for (std::size_t i = 0; i < 9; ++i)
      expected.push_back(static_cast<std::uint8_t>((i + count) % 9));
    writer.move_back(count);
    CHECK(writer.bytes() == expected);
  }
}

TEST_CASE("an irregular list takes hardly more bytes than as a sequence") {
  const Values values = irregular(200'000);
  const Bytes bytes = encoded(values), sequence = as_sequence(values);
  CHECK(bytes.size() <= sequence.size() + sequence.size() / 50);
  CHECK(decoded(bytes) == values);
}

TEST_CASE("lists of a few bytes each are not more than a reader takes of all of them") {
  Values values(100'000);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::int64_t>(2 * i);
  ByteWriter writer;
  std::uint64_t left = kListValuesBeside, sum = 0;
  for (int list = 0; list < 40; ++list) {
    values.push_back(list);
    sum += values.size();
    encode_list(writer, values, left);
  }
  const Bytes bytes = writer.take();
  CHECK(sum > kListValuesBeside);
  CHECK(sum <= kListValuesBeside + kListValuesPerByte * bytes.size());
  ByteReader reader(bytes);
  Values read;
  while (!reader.at_end()) REQUIRE(decode_list(reader, UINT64_MAX, read));
  CHECK(read == values);
  const Values equal(5'000'000, 7);
  CHECK(encoded(equal).size() > equal.size() / 64 - (kListValuesBeside / 64));
  CHECK(decoded(encoded(equal)) == equal);
}

TEST_CASE("a list is refused that is cut, or has more values than it says or may have") {
  const Values values = irregular(5000);
  Bytes bytes = encoded(values);
  CHECK(decoded(bytes, 5000) == values);
  CHECK(decoded(bytes, 4999) == Values{-1});
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{5}, bytes.size() - 1})
    CHECK(decoded(Bytes(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size))) ==
          Values{-1});
  // 2^40 rounds of a loop of two.
  ByteWriter writer;
  writer.varint(std::uint64_t{1} << 42 | 1);
  writer.varint(1);
  writer.varint(std::uint64_t{1} << 42 | 3);
  writer.varint(1);
  writer.varint(2 << 2);
  writer.svarint(1);
  writer.svarint(5);
  CHECK(decoded(writer.take(), 1 << 20) == Values{-1});
  // A loop in which nothing is.
  ByteWriter empty;
  for (const std::uint64_t number : {9, 1, 4 << 2 | 3, 0}) empty.varint(number);
  CHECK(decoded(empty.take()) == Values{-1});
}
