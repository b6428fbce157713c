// SPDX-License-Identifier: BSD-3-Clause
#include <zstd.h>

#include <random>

#include "format/codec.h"
#include "format/series_codec.h"
#include "model/trace.h"
#include "unit/catch.h"

using namespace chameleon;
using namespace chameleon::format;

namespace {

constexpr std::uint64_t kUs = 1000;

/// One interval of so many ranks, each with noise of its own.
SeriesSpan interval(std::uint64_t marker, std::uint32_t ranks, std::mt19937& random) {
  SeriesSpan span;
  span.first = span.slowest = marker;
  span.end_ns = marker * 1100 * kUs;
  span.state = 2;
  const auto noisy = [&](std::uint64_t ns) { return ns + random() % (ns / 5); };
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    const std::uint64_t compute = noisy(700 * kUs), call = noisy(300 * kUs);
    const IntervalTally one{RankExtent::of(rank, compute), RankExtent::of(rank, call),
                            RankExtent::of(rank, compute + call),
                            RankExtent::of(rank, noisy(50 * kUs))};
    rank == 0 ? void(span.all = one) : span.all.add(one);
  }
  span.worst = span.all;
  return span;
}

Bytes encoded(const Series& series) {
  ByteWriter out;
  write_series(out, series);
  return out.take();
}

}  // namespace

TEST_CASE("a series of any length keeps all intervals in few spans, and the slowest by itself") {
  std::mt19937 random(1);
  const std::uint64_t count = GENERATE(1, 2047, 2048, 2049, 5000, 20'000);
  const std::uint64_t slow = count / 3 + 1;
  Series series;
  std::uint64_t computed = 0;
  for (std::uint64_t marker = 1; marker <= count; ++marker) {
    SeriesSpan span = interval(marker, 3, random);
    if (marker == slow) {
      span.all.compute.add(RankExtent::of(7, 90'000 * kUs));
      span.all.busy.add(RankExtent::of(7, 90'000 * kUs));
      span.worst = span.all;
    }
    computed += span.all.compute.sum_ns;
    series.add(span);
  }
  REQUIRE(series.spans().size() <= Series::kMost);
  if (count > Series::kMost) CHECK(series.spans().size() > Series::kMost / 2 - 1);
  std::uint64_t next = 1, sum = 0;
  int named = 0;
  for (const SeriesSpan& span : series.spans()) {
    CHECK(span.first == next);
    next += span.intervals;
    sum += span.all.compute.sum_ns;
    CHECK(span.slowest >= span.first);
    CHECK(span.slowest < next);
    if (span.slowest == slow && span.worst.compute.most_rank == 7) ++named;
  }
  CHECK(next == count + 1);
  CHECK(sum == computed);
  CHECK(named == 1);
}

TEST_CASE("parts of a series join to the whole") {
  std::mt19937 random(2);
  Series whole, joined, part;
  for (std::uint64_t marker = 1; marker <= 7000; ++marker) {
    const SeriesSpan span = interval(marker, 2, random);
    whole.add(span);
    part.add(span);
    if (marker % 100 == 0) {
      joined.append(part);
      part.clear();
    }
  }
  CHECK(joined == whole);
}

TEST_CASE("spans follow each other, whatever a damaged file has") {
  std::mt19937 random(5);
  Series series;
  for (std::uint64_t marker = 1; marker <= 16; ++marker) series.add(interval(marker, 2, random));
  const Series before = series;
  // A delta twice: what there is already is left out.
  series.append(before);
  CHECK(series == before);
  // Later than it should: its markers go on, the slowest too.
  SeriesSpan late = interval(100, 2, random);
  late.intervals = 4;
  late.slowest = 102;
  series.add(late);
  REQUIRE(series.spans().back().first == 17);
  CHECK(series.spans().back().slowest == 19);
  // Beyond all markers, at once or as a sum.
  SeriesSpan huge = interval(Series::kMostMarker, 2, random);
  huge.intervals = Series::kMostMarker;
  series.add(huge);
  CHECK(series.spans().back().intervals == 4);
  Trace trace;
  trace.world_size = 2;
  trace.series = series;
  const Result<Trace> read = decode_trace(encode_trace(trace));
  REQUIRE(read);
  CHECK(read->series.spans().size() == series.spans().size());
}

TEST_CASE("a series is read as it was written, within 1/128") {
  std::mt19937 random(3);
  Series series;
  const std::uint64_t count = GENERATE(1, 10, 5000);
  for (std::uint64_t marker = 1; marker <= count; ++marker) series.add(interval(marker, 4, random));
  Trace trace;
  trace.world_size = 4;
  trace.series = series;
  const Result<Trace> read = decode_trace(encode_trace(trace));
  REQUIRE(read);
  const auto& mine = series.spans();
  const auto& others = read->series.spans();
  REQUIRE(others.size() == mine.size());
  for (std::size_t i = 0; i < mine.size(); ++i) {
    const SeriesSpan &a = mine[i], &b = others[i];
    CHECK(a.first == b.first);
    CHECK(a.intervals == b.intervals);
    CHECK(a.state == b.state);
    CHECK(a.slowest == b.slowest);
    CHECK(a.end_ns / kUs == b.end_ns / kUs);
    for (const auto part : {&IntervalTally::compute, &IntervalTally::communication,
                            &IntervalTally::busy, &IntervalTally::waiting})
      for (const auto& [x, y] :
           {std::pair(a.all.*part, b.all.*part), std::pair(a.worst.*part, b.worst.*part)}) {
        CHECK(x.most_rank == y.most_rank);
        CHECK(x.least_rank == y.least_rank);
        CHECK(static_cast<double>(y.sum_ns) ==
              Approx(static_cast<double>(x.sum_ns)).epsilon(1.0 / 128));
        CHECK(static_cast<double>(y.most_ns) ==
              Approx(static_cast<double>(x.most_ns)).epsilon(1.0 / 128));
      }
  }
  // What was read is written and read the same again.
  CHECK(encoded(read->series).size() <= encoded(series).size() + 64);
}

TEST_CASE("the series of a million markers takes at most 128 KiB") {
  std::mt19937 random(4);
  Series series;
  std::vector<SeriesSpan> some;
  for (std::uint64_t i = 0; i < 512; ++i) some.push_back(interval(1, 64, random));
  for (std::uint64_t marker = 1; marker <= 1'000'000; ++marker) {
    SeriesSpan span = some[random() % some.size()];
    span.first = span.slowest = marker;
    span.end_ns = marker * 1100 * kUs;
    series.add(span);
  }
  const Bytes plain = encoded(series);
  Bytes packed(ZSTD_compressBound(plain.size()));
  const std::size_t size =
      ZSTD_compress(packed.data(), packed.size(), plain.data(), plain.size(), 9);
  INFO(series.spans().size() << " spans, " << plain.size() << " bytes, packed " << size);
  CHECK(size <= 128U << 10);
}

TEST_CASE("damaged series are refused, or read to something possible") {
  std::mt19937 random(5);
  Series series;
  for (std::uint64_t marker = 1; marker <= 3000; ++marker) series.add(interval(marker, 4, random));
  const Bytes good = encoded(series);
  for (int round = 0; round < 400; ++round) {
    Bytes bad = good;
    for (int i = 0; i < 3; ++i)
      bad[random() % (round % 2 == 0 ? 64 : bad.size())] = static_cast<std::uint8_t>(random());
    ByteReader in(bad);
    Series read;
    read_series(in, read);
    if (!in.ok()) continue;
    for (const SeriesSpan& span : read.spans()) {
      REQUIRE(span.intervals > 0);
      REQUIRE(span.state <= 3);
      REQUIRE(span.slowest >= span.first);
    }
  }
}
