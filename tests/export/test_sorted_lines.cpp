// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <random>
#include <sstream>

#include "tools/export/sorted_lines.h"
#include "unit/catch.h"

using namespace chameleon;
using namespace chameleon::tools;

TEST_CASE("lines come out in order of time, with and without spilling") {
  const std::size_t limit = GENERATE(1, 1000, 100000, SortedLines::kLimit);
  std::mt19937 random(7);
  std::vector<std::pair<std::uint64_t, int>> expected;
  SortedLines lines(limit);
  for (int i = 0; i < 500; ++i) {
    const std::uint64_t time = random() % 50;  // many are equal: they keep their order
    expected.emplace_back(time, i);
    lines.add(time, std::to_string(time) + " " + std::to_string(i) + "\n");
  }
  std::stable_sort(expected.begin(), expected.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  const std::string path = "sorted-lines." + std::to_string(limit) + ".txt";
  {
    TextFile file(path);
    REQUIRE(lines.write(file));
    REQUIRE(file.close());
  }
  std::ifstream written(path);
  std::uint64_t time = 0;
  int number = 0;
  for (const auto& [at, i] : expected) {
    REQUIRE(written >> time >> number);
    CHECK(time == at);
    CHECK(number == i);
  }
  CHECK_FALSE(written >> time);
  std::remove(path.c_str());
}

TEST_CASE("a file that cannot be written is told") {
  TextFile file("/nonexistent/folder/file");
  file << "text";
  CHECK_FALSE(file.close());
}
