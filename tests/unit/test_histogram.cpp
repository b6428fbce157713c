// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <random>
#include <vector>

#include "model/histogram.h"
#include "unit/catch.h"

using chameleon::ByteReader;
using chameleon::Bytes;
using chameleon::ByteWriter;
using chameleon::Histogram;

namespace {

/// Of files and of messages.
struct Form {
  void (Histogram::*write)(ByteWriter& writer) const;
  bool (*read)(ByteReader& reader, Histogram& histogram);
};
constexpr Form kOfFiles{&Histogram::encode, Histogram::decode};
constexpr Form kOfMessages{&Histogram::pack, Histogram::unpack};

Bytes encoded(const Histogram& histogram, const Form& form = kOfFiles) {
  ByteWriter writer;
  (histogram.*form.write)(writer);
  return writer.take();
}
Histogram round_trip(const Histogram& histogram, const Form& form) {
  const Bytes bytes = encoded(histogram, form);
  ByteReader reader(bytes);
  Histogram back;
  REQUIRE(form.read(reader, back));
  REQUIRE(reader.at_end());
  return back;
}
Histogram round_trip(const Histogram& histogram) {
  const Histogram back = round_trip(histogram, kOfFiles);
  REQUIRE(round_trip(histogram, kOfMessages) == back);
  return back;
}

}  // namespace

TEST_CASE("bins are four per octave", "[histogram]") {
  for (unsigned bin = 0; bin < Histogram::kBins; ++bin) {
    CHECK(Histogram::bin_of(Histogram::bin_low(bin)) == bin);
    if (bin > 0) CHECK(Histogram::bin_of(Histogram::bin_low(bin) - 1) == bin - 1);
  }
  CHECK(Histogram::bin_of(UINT64_MAX) == Histogram::kBins - 1);
  CHECK(Histogram::bin_low(Histogram::bin_of(1024) + 4U) == 2048);
}

TEST_CASE("every duration goes to its bin", "[histogram]") {
  const auto bin_after_adding = [](std::uint64_t ns) {
    Histogram histogram;
    histogram.add(ns);
    return histogram.bins().front().first;
  };
  for (unsigned bit = 0; bit < 64; ++bit)
    for (const std::uint64_t quarter : {4, 5, 6, 7})
      for (const int offset : {-1, 0, 1}) {
        const std::uint64_t ns =
            (bit < 2 ? bit : quarter << (bit - 2)) + static_cast<std::uint64_t>(offset);
        CHECK(bin_after_adding(ns) == Histogram::bin_of(ns));
      }
}

TEST_CASE("one duration takes a few bytes", "[histogram]") {
  Histogram one;
  CHECK(round_trip(one) == one);
  CHECK(one.mean() == 0);
  CHECK(one.quantile(0.5) == 0);
  one.add(1500);
  CHECK(encoded(one).size() == 3);
  CHECK(round_trip(one) == one);
  CHECK(one.mean() == 1500);
  CHECK(one.deviation() == 0);
  CHECK(one.quantile(0.5) == 1500);
}

TEST_CASE("statistics are those of the durations", "[histogram][property]") {
  const auto seed = std::random_device{}();
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  for (int round = 0; round < 300; ++round) {
    std::vector<std::uint64_t> values(1 + random() % (round % 10 == 0 ? 5000 : 200));
    std::lognormal_distribution<double> durations(8, round % 7 * 0.5);
    Histogram all, left, right;
    double sum = 0, squares = 0;
    std::map<std::uint8_t, std::uint64_t> bins;
    for (auto& value : values) {
      value = static_cast<std::uint64_t>(durations(random));
      all.add(value);
      ++bins[Histogram::bin_of(value)];
      (random() % 2 ? left : right).add(value);
      sum += static_cast<double>(value);
    }
    CHECK(all.bins() == Histogram::Bins(bins.begin(), bins.end()));
    const double n = static_cast<double>(values.size()), mean = sum / n;
    for (const auto value : values) squares += std::pow(static_cast<double>(value) - mean, 2);
    const double deviation = std::sqrt(squares / n);
    std::sort(values.begin(), values.end());
    left.merge(right);
    const Histogram back = round_trip(all);
    const Histogram kinds[] = {all, left, back};
    for (const Histogram& histogram : kinds) {
      CHECK(histogram.count() == values.size());
      CHECK(static_cast<double>(histogram.sum()) == sum);
      CHECK(histogram.min() == values.front());
      CHECK(histogram.max() == values.back());
      CHECK(histogram.mean() == Approx(mean));
      CHECK(histogram.deviation() == Approx(deviation).margin(0.6));
      const bool coarse = &histogram == std::end(kinds) - 1;  // a file joins bins
      if (!coarse) CHECK(histogram.bins() == all.bins());
      double previous = 0;
      for (const double q : {0.0, 0.1, 0.5, 0.9, 1.0}) {
        const double value = histogram.quantile(q);
        const auto rank = static_cast<std::size_t>(std::max(0.0, std::ceil(q * n) - 1));
        const auto exact = static_cast<double>(values[rank]);
        CHECK(value >= previous);
        previous = value;
        if (coarse) {
          const auto below = std::upper_bound(values.begin(), values.end(), value * 1.26 + 1);
          const auto above = std::lower_bound(values.begin(), values.end(), value / 1.26 - 1);
          CHECK(static_cast<double>(below - values.begin()) / n >= q - 0.15);
          CHECK(static_cast<double>(above - values.begin()) / n <= q + 0.15);
          continue;
        }
        CHECK(value >= exact / 1.26 - 1);
        CHECK(value <= exact * 1.26 + 1);
      }
    }
  }
}

TEST_CASE("sums saturate", "[histogram]") {
  Histogram histogram;
  histogram.add(UINT64_MAX);
  histogram.add(UINT64_MAX);
  CHECK(histogram.sum() == UINT64_MAX);
  CHECK(round_trip(histogram).sum() == UINT64_MAX);
  histogram.add(1);
  const Histogram back = round_trip(histogram);
  CHECK(back.sum() == UINT64_MAX);
  CHECK(back.bins() == histogram.bins());
  histogram.merge(histogram);
  CHECK(histogram.count() == 6);
}

TEST_CASE("hostile histograms are refused", "[histogram][fuzz]") {
  const auto seed = std::random_device{}();
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  const Form form = GENERATE(kOfFiles, kOfMessages);
  const auto try_decode = [form](const Bytes& bytes) {
    ByteReader reader(bytes);
    Histogram histogram;
    const bool good = form.read(reader, histogram);
    REQUIRE(good == reader.ok());
    std::uint64_t total = 0;
    for (const auto& [bin, count] : histogram.bins()) total += count;
    REQUIRE(total == histogram.count());
    REQUIRE(std::isfinite(histogram.deviation()));
    return good;
  };
  for (int round = 0; round < 50000; ++round) {
    Bytes bytes(random() % 30);
    for (auto& byte : bytes) byte = static_cast<std::uint8_t>(random() % (round % 2 ? 256 : 8));
    try_decode(bytes);
  }
  Histogram histogram;
  for (int i = 0; i < 100; ++i) histogram.add(random() % 100000);
  const Bytes whole = encoded(histogram, form);
  for (std::size_t size = 0; size < whole.size(); ++size)
    CHECK_FALSE(try_decode({whole.data(), whole.data() + size}));
}

TEST_CASE("in a message a bin takes a byte", "[histogram]") {
  Histogram near;
  for (unsigned bin = 40; bin < 50; ++bin)
    for (unsigned i = 40; i <= bin; ++i) near.add(Histogram::bin_low(bin));
  // Ten bins: in a file the place and the count of each but the last's; in a message one byte for
  // each but the last.
  CHECK(encoded(near, kOfFiles).size() == encoded(near, kOfMessages).size() + 10);

  // 15 is the longest step and the most durations that fit in it.
  for (const unsigned most : {15U, 16U, 100U}) {
    CAPTURE(most);
    Histogram far;
    for (unsigned bin = 20; bin < 20 + 4 * most && bin < Histogram::kBins; bin += most)
      for (unsigned i = 0; i < std::min(most, 20U); ++i) far.add(Histogram::bin_low(bin));
    CHECK(round_trip(far).bins() == far.bins());
  }
}

TEST_CASE("counts of a message that overflow are refused", "[histogram]") {
  ByteWriter writer;
  for (const std::uint64_t number : {3, 8, 100, 10, 1, 3}) writer.varint(number);
  const auto read = [&](std::uint64_t less) {
    ByteWriter all;
    all.raw(writer.bytes());
    for (int i = 0; i < 2; ++i) {
      all.u8(255);
      all.varint(0);
      all.varint(i == 0 ? less : 0);
    }
    ByteReader reader(all.bytes());
    Histogram histogram;
    return Histogram::unpack(reader, histogram);
  };
  CHECK(read(0));
  for (const std::uint64_t less : {std::uint64_t{1}, std::uint64_t{2}, UINT64_MAX - 1, UINT64_MAX})
    CHECK_FALSE(read(less));
}

TEST_CASE("what a file keeps does not grow with the number of events", "[histogram]") {
  std::mt19937_64 random(11);
  std::size_t at_thousand = 0;
  for (const int events : {1000, 100000}) {
    Histogram histogram;
    for (int i = 0; i < events; ++i) histogram.add(500 + (random() % 1000) * (random() % 1000));
    ByteWriter first;
    histogram.encode(first);
    const Histogram back = round_trip(histogram);
    CHECK(back.count() == histogram.count());
    CHECK(back.sum() == histogram.sum());
    ByteWriter again;
    back.encode(again);
    CHECK(again.bytes() == first.bytes());
    if (events == 1000) at_thousand = first.bytes().size();
    CHECK(first.bytes().size() <= at_thousand + 6);
  }
}
