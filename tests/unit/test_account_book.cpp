// SPDX-License-Identifier: BSD-3-Clause
// What an account says is what histograms of the same times say, however times are counted.
#include <functional>
#include <random>

#include "model/account_book.h"
#include "unit/catch.h"

using namespace chameleon;

namespace {

void check_same(const Histogram& found, const Histogram& wanted) {
  CHECK(found.count() == wanted.count());
  CHECK(found.sum() == wanted.sum());
  CHECK(found.min() == wanted.min());
  CHECK(found.max() == wanted.max());
  CHECK(found.bins() == wanted.bins());
  CHECK(found.deviation() == Approx(wanted.deviation()).epsilon(1e-6).margin(1e-3));
}

using Draw = std::function<std::uint64_t(std::mt19937_64&)>;

std::uint64_t any_size(std::mt19937_64& random) { return random() >> (14 + random() % 50); }

/// Times of every kind: some small, of which 0 to 3 ns have bins of their own; near each other; of
/// two modes; anything.
const std::vector<Draw>& kinds() {
  static const std::vector<Draw> all = {
      [](auto& random) { return random() % 5; },
      [](auto& random) { return random() % 40; },
      [](auto& random) { return 900 + random() % 300; },
      [](auto& random) { return (random() % 4 == 0 ? 5'000'000 : 200) + random() % 100; },
      [](auto& random) { return random() % 1000 == 0 ? std::uint64_t{1} << 31 : random() % 2000; },
      any_size};
  return all;
}

}  // namespace

TEST_CASE("an account is what histograms of the same times are") {
  const std::size_t compute = GENERATE(range(std::size_t{0}, std::size_t{6}));
  const std::size_t communication = GENERATE(range(std::size_t{0}, std::size_t{6}));
  const int count = GENERATE(1, 2, 40, 20'000);
  CAPTURE(compute, communication, count);
  std::mt19937_64 random(compute * 6 + communication);
  AccountBook book;
  const std::uint32_t symbol = book.number_of(7);
  book.add(symbol, 0, 0);  // after nothing
  Histogram computed, called;
  for (int i = 0; i < count; ++i) {
    const std::uint64_t before = kinds()[compute](random), in_it = kinds()[communication](random);
    book.add(symbol, before, in_it);
    computed.add(before);
    called.add(in_it);
    if (i == count / 2) static_cast<void>(book.accounts());  // asking changes nothing
  }
  REQUIRE(book.accounts().size() == 2);
  const Account account = book.accounts().back();
  CHECK(account.place == Place{7, 7});
  check_same(account.times.compute, computed);
  check_same(account.times.communication, called);
}

TEST_CASE("ticks are made whole ns, none of them too long") {
  const double ns_per_tick = GENERATE(0.3846, 1.0, 2.5);
  std::mt19937_64 random(5);
  AccountBook book;
  const std::uint32_t symbol = book.number_of(7);
  Histogram computed, called;
  for (int i = 0; i < 5000; ++i) {
    const std::uint64_t before = any_size(random) >> 2, in_it = 100 + random() % 1000;
    book.add_ticks(symbol, before, in_it, ns_per_tick);
    if (i == 0) continue;  // after nothing
    const auto ns = [ns_per_tick](std::uint64_t ticks) {
      return static_cast<std::uint64_t>(static_cast<double>(ticks) * ns_per_tick);
    };
    computed.add(ns(before));
    called.add(ns(in_it));
  }
  const Account account = book.accounts().back();
  check_same(account.times.compute, computed);
  check_same(account.times.communication, called);
}

TEST_CASE("more events than an account counts side by side") {
  AccountBook book;
  const std::uint32_t symbol = book.number_of(7);
  constexpr std::uint64_t kEvents = 3'000'000, kMost = (std::uint64_t{1} << 31) - 1;
  for (std::uint64_t i = 0; i <= kEvents; ++i) book.add(symbol, kMost, i % 100 + 1);
  const Durations times = book.accounts().back().times;
  CHECK(times.compute.count() == kEvents);
  CHECK(times.compute.sum() == kEvents * kMost);
  CHECK(times.compute.deviation() == Approx(0).margin(1));
  CHECK(times.communication.sum() == kEvents / 100 * 5050);
  CHECK(times.communication.min() == 1);
  CHECK(times.communication.max() == 100);
}
