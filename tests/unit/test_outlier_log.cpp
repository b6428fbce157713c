// SPDX-License-Identifier: BSD-3-Clause
/// Outliers found while a stream's events come.

#include <algorithm>
#include <random>
#include <set>

#include "record/outlier_log.h"
#include "unit/catch.h"

using namespace chameleon;
using namespace chameleon::record;

namespace {

constexpr std::uint64_t kMs = 1'000'000;
constexpr double kNsPerTick = 0.5;

struct Run {
  AccountBook book;
  OutlierLog log;

  /// In ns.
  void event(std::uint64_t symbol, std::uint64_t compute, std::uint64_t call) {
    const auto ticks = [](std::uint64_t ns) {
      return static_cast<std::uint64_t>(static_cast<double>(ns) / kNsPerTick);
    };
    book.add_ticks(book.number_of(symbol), ticks(compute), ticks(call), kNsPerTick);
    log.add(book, ticks(compute), ticks(call), kNsPerTick);
  }
  std::vector<Outlier> outliers() const { return log.outliers(book, 5, kNsPerTick); }
};

}  // namespace

TEST_CASE("an event that takes far longer than others at its place is an outlier") {
  Run run;
  std::mt19937 random(1);
  for (int step = 0; step < 100; ++step) {
    const std::uint64_t compute = step == 70 ? 200 * kMs : 9 * kMs + random() % (2 * kMs);
    run.event(1, compute, kMs);
    run.event(2, kMs, step == 30 ? 80 * kMs : 2 * kMs);
  }
  std::vector<Outlier> found = run.outliers();
  std::sort(found.begin(), found.end(),
            [](const Outlier& a, const Outlier& b) { return a.event < b.event; });
  REQUIRE(found.size() == 2);
  CHECK(found[0].event == 2 * 30 + 2);
  CHECK(found[0].in_call);
  CHECK(found[0].stream == 5);
  CHECK(found[0].place == Place{2, 1});
  CHECK(found[0].ns == 80 * kMs);
  CHECK(static_cast<double>(found[0].usual_ns) == Approx(2.0 * kMs).epsilon(0.3));
  CHECK(found[1].event == 2 * 70 + 1);
  CHECK(!found[1].in_call);
  CHECK(found[1].ns == 200 * kMs);
  CHECK(found[1].place == Place{1, 2});
  CHECK(static_cast<double>(found[1].usual_ns) == Approx(10.0 * kMs).epsilon(0.15));
  // 70 steps of 14 ms on average, and 78 ms more in one of them.
  CHECK(static_cast<double>(found[1].begin_ns) == Approx(70 * 14.0 * kMs + 78 * kMs).epsilon(0.02));
}

TEST_CASE("what varies has no outliers, nor has what comes three times") {
  Run run;
  std::mt19937 random(2);
  for (int step = 0; step < 200; ++step) run.event(1, kMs + random() % (20 * kMs), random() % kMs);
  run.event(2, 10 * kMs, 1);
  run.event(2, 10 * kMs, 1);
  run.event(2, 300 * kMs, 1);
  CHECK(run.outliers().empty());
}

TEST_CASE("of millions of events only few are looked at, and the worst are found") {
  Run run;
  std::mt19937 random(3);
  std::set<std::uint64_t> planted;
  for (std::uint64_t event = 1; event <= 2'000'000; ++event) {
    // The rank waits for longer and longer: each such event is the longest so far.
    const bool rare = event % 20'000 == 0;
    const bool slow = event > 1'500'000 && event % 100'000 == 1;
    if (slow) planted.insert(event);
    run.event(1, slow ? 20 * kMs : 500 + random() % 500, rare ? event * 2 : 300);
  }
  std::set<std::uint64_t> found;
  for (const Outlier& one : run.outliers())
    if (!one.in_call) found.insert(one.event);
  CHECK(found == planted);
}

TEST_CASE("waiting at markers counts to when an outlier began") {
  Run run;
  for (int step = 0; step < 20; ++step) {
    run.event(1, step == 10 ? 50 * kMs : kMs, 0);
    if (step == 4) run.log.waited(7 * kMs);
  }
  const std::vector<Outlier> found = run.outliers();
  REQUIRE(found.size() == 1);
  CHECK(found[0].begin_ns == 17 * kMs);
}
