// SPDX-License-Identifier: BSD-3-Clause
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "record/time_account.h"

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
