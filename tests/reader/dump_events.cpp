// SPDX-License-Identifier: BSD-3-Clause
// dump_events TRACE: what the C++ reader says of every event, for test_reader.py to compare:
// rank, number, call, path, inexact, times, waiting, iteration, values; an array as its elements.
// dump_events TRACE loops: of every loop: depth, iterations, place.
#include <chameleon/trace_reader.h>

#include <cinttypes>
#include <cstdio>

namespace reader = chameleon::reader;

int main(int argc, char** argv) {
  reader::Error error;
  const auto trace = reader::TraceReader::open(argc > 1 ? argv[1] : "", error);
  if (!trace) {
    std::fprintf(stderr, "%s\n", error.message.c_str());
    return 3;
  }
  const auto numbers = [](const auto& list) {
    std::putchar('[');
    for (const auto number : list) std::printf("%lld,", static_cast<long long>(number));
    std::putchar(']');
  };
  if (argc > 2) {
    trace->for_each_node([](const reader::Node& node) {
      if (node.is_loop)
        std::printf("%u %" PRIu64 " %s\n", node.depth, node.iterations, node.place.c_str());
    });
    return 0;
  }
  for (const auto [first, last] : trace->run().ranks)
    for (std::uint32_t rank = first; rank <= last; ++rank) {
      const bool good = trace->for_each_event(
          rank,
          [&](const reader::Event& event) {
            std::printf("%u %" PRIu64 " %s %" PRIu64 " %u %" PRIu64 " %" PRIu64 " %" PRIu64 " ",
                        rank, event.number, event.call->name.c_str(), event.path, event.inexact,
                        event.compute_ns, event.call_ns, event.waiting_ns);
            numbers(event.iteration);
            for (const std::int64_t value : event.values) {
              std::putchar(' ');
              if (const auto* elements = trace->array(value))
                numbers(*elements);
              else
                std::printf("%" PRId64, value);
            }
            std::printf(" %s\n", trace->site(event.path).c_str());
            return true;
          },
          error);
      if (!good) {
        std::fprintf(stderr, "%s\n", error.message.c_str());
        return 3;
      }
    }
}
