// SPDX-License-Identifier: BSD-3-Clause
// Bytes that the library allocates are counted, and bounded where a rank takes in others' traces.
#include <thread>

#include "base/memory.h"
#include "unit/catch.h"

using namespace chameleon;

TEST_CASE("a bound of memory holds in its thread, and while it lives") {
  const MemoryUse before = memory_use();
  allow_for_merging(before.now + 1000);
  REQUIRE(count_allocated(600));
  CHECK(memory_use().now == before.now + 600);
  {
    const MergeBound bound;
    CHECK(count_allocated(400));
    CHECK_FALSE(count_allocated(1));
    CHECK(memory_use().now == before.now + 1000);
    bool others = false;
    std::thread([&] { others = count_allocated(5000); }).join();
    CHECK(others);
    count_released(5000);
  }
  CHECK(count_allocated(700));
  CHECK(memory_use().most >= before.now + 6000);
  count_released(1700);
  CHECK(memory_use().now == before.now);
  allow_for_merging(UINT64_MAX);
}
