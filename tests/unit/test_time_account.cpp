// SPDX-License-Identifier: BSD-3-Clause
#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "record/interval_account.h"
#include "record/time_account.h"
#include "unit/catch.h"

using namespace chameleon::mpi;
using namespace chameleon::record;

namespace {

constexpr std::uint64_t kLong = 1'000'000;  ///< ns
constexpr unsigned kCalls = 15;             ///< for which a sample stands

/// Times of the process's clock, in ns, of which some have passed already.
struct OneStream {
  OneStream() {
    times.start();
    while (now() < begun + 2 * kLong) continue;
  }
  std::uint64_t now() const { return times.clock().now(); }
  void leave(std::uint64_t entry, std::uint64_t after) {
    times.leave(stream, CallId::kBarrier, entry, entry, after);
  }

  RecordOptions options;
  Stream stream{options, 64U << 10, 0};
  TimeAccount times{false, {}};
  std::uint64_t begun = now();
};

}  // namespace

TEST_CASE("two clocks are read at one instant, however often the thread is preempted in between") {
  std::uint64_t now = 0, random = 1;  // ns; a tick is a third of it
  const auto pass = [&] {
    random = random * 6364136223846793005 + 1442695040888963407;
    now += random >> 62 == 0 ? 20 : kLong;  // three times in four
  };
  double furthest = 0;
  for (int i = 0; i < 1000; ++i) {
    const ClockPair both = read_both([&] { return pass(), 3 * now; }, [&] { return pass(), now; });
    furthest = std::max(
        furthest, std::abs(static_cast<double>(both.tick) / 3 - static_cast<double>(both.ns)));
  }
  CHECK(furthest <= 2.0 * kLong);  // sixteen readings may all be disturbed
  std::uint64_t near = 0;
  for (int i = 0; i < 1000; ++i) {
    const ClockPair both = read_both([&] { return pass(), 3 * now; }, [&] { return pass(), now; });
    if (3 * both.ns - both.tick + 150 <= 300) ++near;
  }
  CHECK(near > 550);  // one try would be so at one of sixteen
}

TEST_CASE("an interrupt while the first call of a kind is recorded is not the next calls'") {
  OneStream one;
  const std::uint64_t first = one.now() - kLong;
  one.leave(first, first);  // recording it takes until now
  CHECK(one.stream.tool_ticks >= kLong);
  const std::uint64_t before = one.times.computed(one.stream, one.now());
  for (unsigned i = 0; i < kCalls; ++i) {
    ::usleep(100);
    const std::uint64_t entry = one.now();
    CHECK(one.stream.computed_until(entry) > 90'000);
    one.leave(entry, entry);
  }
  CHECK(one.times.computed(one.stream, one.now()) - before > kCalls * 90'000);
}

TEST_CASE("recording took no longer than until the next call") {
  OneStream one;
  for (unsigned i = 0; i < Epilogue::kFirst + 1; ++i) {
    const std::uint64_t after = one.now() - kLong / 2;
    one.stream.last_exit = after;
    one.leave(after, after);
  }
  const std::uint64_t told = one.stream.tool_ticks, from = one.stream.last_exit;
  std::uint64_t tick = from;
  for (unsigned i = 0; i < kCalls; ++i) {
    one.leave(tick, tick + 10);
    tick += 10;
  }
  CHECK(one.stream.last_exit >= tick + kLong / 2);  // what is not known yet
  CHECK(one.stream.tool_ticks - told + kCalls * 10 == one.stream.last_exit - from);
}

TEST_CASE("a time that went backwards is none") {
  CHECK(chameleon::time_between(3, 10) == 7);
  CHECK(chameleon::time_between(10, 3) == 0);
  CHECK(chameleon::time_between(UINT64_MAX, 0) == 0);
  chameleon::Growth growth;
  std::uint64_t sum = 0;
  for (const std::uint64_t reading : {100, 90, 100, 95, 130}) sum += growth.take(reading);
  CHECK(sum == 130);  // and not 100 + 10 + 35
}

TEST_CASE("an interval's parts are all of it, whatever the clock and the sums show") {
  IntervalAccount account;
  const auto check = [&](const RunTicks& run, std::uint64_t all) {
    const IntervalTicks ticks = account.close(run);
    CHECK(ticks.all() == all);
    CHECK(ticks.collective <= ticks.called);
    CHECK(ticks.effort <= ticks.called);
    return ticks;
  };
  const IntervalTicks first = check({1000, 600, 300, 100, 50}, 1000);
  CHECK(first.computed == 600);
  CHECK(first.called == 300);
  CHECK(first.tool == 100);
  CHECK(first.collective == 100);
  CHECK(first.effort == 50);
  check({990, 590, 310, 90, 60}, 0);      // another processor's counter is behind
  check({1010, 700, 400, 200, 200}, 10);  // more than there was time for
  check({1020, 10, 400, 200, 200}, 10);   // an estimate was corrected
  check({2000, 3'000'000'000, 1, 1, 1}, 980);
  check({1, 1, UINT64_MAX, UINT64_MAX, UINT64_MAX}, 0);
  std::uint64_t last = 2000;
  for (std::uint64_t random = 1, i = 0; i < 10'000; ++i) {
    random = random * 6364136223846793005 + 1442695040888963407;
    const std::uint64_t now = 2000 + 10 * i + (random >> 58);
    check({now, random >> 50, random >> 40, random >> 45, random >> 30},
          now > last ? now - last : 0);
    last = std::max(last, now);
  }
}

TEST_CASE("the time since the start never goes back") {
  TimeAccount times(true, {});
  times.start();
  std::uint64_t before = 0;
  for (int i = 0; i < 20'000; ++i) {
    const std::uint64_t now = times.elapsed_ns();
    REQUIRE(now >= before);
    before = now;
  }
}

TEST_CASE("calls of which the end shows an earlier time than the begin take none") {
  OneStream one;
  const std::uint64_t tick = one.now();
  one.leave(tick, tick - 1000);
  CHECK(one.stream.call_ticks == 0);
  CHECK(one.stream.tool_ticks < one.now() - one.begun);
  one.times.spent_before(one.now() + kLong);
  CHECK(one.times.spent_otherwise().at_start == 0);
  CHECK(one.times.spent_at_marker(one.now() + kLong) == 0);
  CHECK(one.times.computed(one.stream, 0) == 0);
}
