// SPDX-License-Identifier: BSD-3-Clause
/// Outliers of a run: which are kept, and what the file has of them.

#include <algorithm>
#include <random>
#include <tuple>

#include "format/outliers_codec.h"
#include "model/outliers.h"
#include "model/trace.h"
#include "unit/catch.h"

using namespace chameleon;
using namespace chameleon::format;

namespace {

Outlier some(std::mt19937_64& random, std::uint32_t streams) {
  Outlier one;
  one.stream = static_cast<std::uint32_t>(random() % streams);
  one.event = 1 + random() % 1'000'000;
  one.in_call = random() % 2 == 0;
  one.place = {1 + random() % 7, random() % 7};
  one.usual_ns = random() % 1'000'000;
  one.ns = one.usual_ns + 1'000'000 + random() % 1'000'000'000;
  one.begin_ns = 1000 * (random() % 1'000'000'000);
  return one;
}

Outliers many(std::mt19937_64& random, std::size_t count, std::uint32_t streams) {
  Outliers outliers;
  outliers.know();
  for (std::size_t i = 0; i < count; ++i) outliers.add(some(random, streams));
  outliers.settle();
  return outliers;
}

Bytes encoded(const Outliers& outliers) {
  ByteWriter out;
  write_outliers(out, outliers);
  return out.take();
}

bool decodes(std::span<const std::uint8_t> bytes, Outliers& outliers) {
  ByteReader in(bytes);
  read_outliers(in, outliers);
  return in.ok();
}

bool near(std::uint64_t a, std::uint64_t b) { return (a > b ? a - b : b - a) <= b / 1024; }

}  // namespace

TEST_CASE("outliers are in the file, their times within a thousandth") {
  std::mt19937_64 random(7);
  const std::size_t count = GENERATE(0, 1, 2, 40, 900);
  const Outliers outliers = many(random, count, 64);
  Outliers read;
  REQUIRE(decodes(encoded(outliers), read));
  CHECK(read.known());
  REQUIRE(read.all().size() == outliers.all().size());
  for (std::size_t i = 0; i < read.all().size(); ++i) {
    const Outlier &said = read.all()[i], &wanted = outliers.all()[i];
    CHECK(said.stream == wanted.stream);
    CHECK(said.event == wanted.event);
    CHECK(said.in_call == wanted.in_call);
    CHECK(said.place == wanted.place);
    CHECK(near(said.ns, wanted.ns));
    CHECK(near(said.usual_ns, wanted.usual_ns));
    CHECK(said.begin_ns == wanted.begin_ns);
  }
}

TEST_CASE("damaged outliers are refused, or are outliers in order") {
  std::mt19937_64 random(8);
  const Bytes good = encoded(many(random, 30, 4));
  for (int i = 0; i < 20000; ++i) {
    Bytes bytes = good;
    for (std::size_t k = 0; k <= random() % 3; ++k)
      bytes[random() % bytes.size()] = static_cast<std::uint8_t>(random());
    if (random() % 4 == 0) bytes.resize(random() % bytes.size());
    Outliers read;
    if (!decodes(bytes, read)) continue;
    CHECK(read.all().size() <= Outliers::kMost);
    const auto order = [](const Outlier& one) {
      return std::tuple(one.stream, one.event, one.in_call);
    };
    for (std::size_t k = 1; k < read.all().size(); ++k)
      if (order(read.all()[k - 1]) >= order(read.all()[k])) FAIL("out of order");
  }
}

TEST_CASE("the worst are kept, whoever they are joined with first") {
  std::mt19937_64 random(9);
  std::vector<Outliers> parts;
  for (int i = 0; i < 8; ++i) parts.push_back(many(random, 700, 8));
  Outliers forwards, pairs;
  for (const Outliers& part : parts) forwards.merge(part);
  for (std::size_t i = 0; i < parts.size(); i += 2) {
    Outliers two = parts[i + 1];
    two.merge(parts[i]);
    pairs.merge(two);
  }
  CHECK(forwards == pairs);
  CHECK(forwards.all().size() == Outliers::kMost);
  const auto computes = std::count_if(forwards.all().begin(), forwards.all().end(),
                                      [](const Outlier& one) { return !one.in_call; });
  CHECK(computes == static_cast<std::ptrdiff_t>(Outliers::kMost) / 2);
  std::uint64_t least = UINT64_MAX;
  for (const Outlier& one : forwards.all())
    if (!one.in_call) least = std::min(least, one.excess_ns());
  std::size_t worse = 0;
  for (const Outliers& part : parts)
    for (const Outlier& one : part.all()) worse += !one.in_call && one.excess_ns() > least ? 1 : 0;
  CHECK(worse < Outliers::kMost / 2);
  CHECK(
      forwards.of(3).size() + forwards.of(99).size() ==
      static_cast<std::size_t>(std::count_if(forwards.all().begin(), forwards.all().end(),
                                             [](const Outlier& one) { return one.stream == 3; })));
}

TEST_CASE("a commit with two tables of outliers is refused") {
  std::mt19937_64 random(10);
  const Bytes good = encoded(many(random, 30, 4));
  Outliers read;
  REQUIRE(decodes(good, read));
  CHECK(!decodes(good, read));
  CHECK(read.all().size() == 30);
}
