// SPDX-License-Identifier: BSD-3-Clause
// bench/fold: nanoseconds per event of the fold, by shape of the loop. Prints a
// line a shape: the shape, events, ns per event (best of three), nodes left.
#include <chrono>
#include <cstdio>
#include <functional>

#include "trace/fold.h"

namespace {

using chameleon::Event;
using chameleon::Folder;

/// Calls emit(site) for `events` events of a shape.
using Shape = std::function<void(std::uint64_t events, const std::function<void(int)>& emit)>;

Shape flat(int body) {
  return [body](std::uint64_t events, const auto& emit) {
    for (std::uint64_t i = 0; i < events; ++i) emit(static_cast<int>(i % static_cast<unsigned>(body)));
  };
}

Shape nested(int outer, int inner) {
  return [=](std::uint64_t events, const auto& emit) {
    for (std::uint64_t i = 0; i < events;) {
      for (int o = 0; o < outer; ++o, ++i) emit(1000 + o);
      for (int j = 0; j < inner; ++j, ++i) emit(j % 2);
    }
  };
}

Shape varying() {
  return [](std::uint64_t events, const auto& emit) {
    for (std::uint64_t i = 0, step = 0; i < events; ++step) {
      for (int o = 0; o < 6; ++o, ++i) emit(100 + o);
      for (std::uint64_t j = 0; j < 20 + step * 7 % 11; ++j, i += 2) emit(1), emit(2);
    }
  };
}

void measure(const char* name, const Shape& shape, std::uint64_t events) {
  double best = 1e30;
  std::size_t nodes = 0;
  for (int repeat = 0; repeat < 3; ++repeat) {
    Folder folder;
    const std::int64_t values[] = {0, 1000, -2, 4294967297, 7, 0};
    const auto begin = std::chrono::steady_clock::now();
    shape(events, [&](int site) {
      folder.push({1, static_cast<std::uint64_t>(site), 250, 900, values});
    });
    const std::chrono::duration<double, std::nano> elapsed =
        std::chrono::steady_clock::now() - begin;
    nodes = folder.node_count();
    best = std::min(best, elapsed.count() / static_cast<double>(folder.event_count()));
  }
  std::printf("%-28s %10llu events %8.1f ns/event %8zu top-level nodes\n", name,
              static_cast<unsigned long long>(events), best, nodes);
}

}  // namespace

int main() {
  measure("one event", flat(1), 4'000'000);
  measure("body of 10", flat(10), 4'000'000);
  measure("body of 100", flat(100), 4'000'000);
  measure("body of 1,000", flat(1000), 4'000'000);
  measure("body of 10,000", flat(10000), 4'000'000);
  measure("6 events + 100 in a loop", nested(6, 100), 4'000'000);
  measure("inner count varies", varying(), 4'000'000);
}
