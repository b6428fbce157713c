// SPDX-License-Identifier: BSD-3-Clause

#include "online/clock_fit.h"
#include "unit/catch.h"

using namespace chameleon;
using namespace chameleon::online;
using namespace chameleon::world;

namespace {

ClockSample sample(std::int64_t local, double begin, double drift, std::int64_t error,
                   std::int64_t wrong_by = 0) {
  return {local, std::llround(begin + drift * static_cast<double>(local)) + wrong_by, error};
}

}  // namespace

TEST_CASE("no comparison says nothing, one an offset") {
  ClockFit fit;
  CHECK(fit.clock() == RankClock{});
  fit.add({5000, -700, 30});
  CHECK(fit.clock() == RankClock{1, -700, 0, 30});
}

TEST_CASE("a clock that drifts is found, and a bad comparison weighs little") {
  ClockFit fit;
  for (int i = 0; i < 40; ++i) fit.add(sample(i * 1'000'000'000LL, 123'456, 5e-6, 100));
  CHECK(fit.clock().begin_ns == 123'456);
  CHECK(fit.clock().drift_ppb == 5000);
  CHECK(fit.clock().error_ns == 100);
  fit.add(sample(40'000'000'000LL, 123'456, 5e-6, 1'000'000, 900'000));
  CHECK(std::abs(fit.clock().begin_ns - 123'456) < 10);
  CHECK(std::abs(fit.clock().drift_ppb - 5000) < 2);
  CHECK(fit.clock().error_ns >= 1'000'000);
}

TEST_CASE("of many comparisons few are kept, the first and the last among them") {
  for (const int count : {63, 64, 65, 66, 127, 128, 129, 1000, 10'000}) {
    ClockFit fit;
    // Only the first and the last tell of the drift.
    for (int i = 0; i < count; ++i) {
      const bool end = i == 0 || i + 1 == count;
      fit.add(sample(i * 1'000'000'000LL, 0, 1e-4, end ? 10 : 1'000'000'000, end ? 0 : 50'000'000));
    }
    INFO(count);
    CHECK(fit.clock().samples == static_cast<std::uint64_t>(count));
    CHECK(std::abs(fit.clock().drift_ppb - 100'000) < 10);
  }
}
