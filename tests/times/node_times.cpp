// SPDX-License-Identifier: BSD-3-Clause
// node_times TRACE: what the C++ reader says of the times at each event of the loop tree.
// node_times TRACE totals: what it says that ranks spent, by phase.
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
  if (argc > 2) {
    for (const reader::Total& total : trace->totals()) {
      const std::uint64_t spent[] = {total.compute, total.point_to_point, total.collective,
                                     total.waiting, total.tool};
      std::printf("%u %u %d", total.ranks.front().first, total.ranks.back().last, total.phase);
      for (const std::uint64_t ns : spent) std::printf(" %" PRIu64, ns);
      std::printf("\n");
    }
    return 0;
  }
  trace->for_each_node([](const reader::Node& node) {
    if (node.is_loop || node.call == nullptr) return;
    std::printf("%s", node.call->name.c_str());
    for (const reader::Times& times : {node.compute, node.in_call})
      std::printf(" %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64, times.count, times.sum,
                  times.min, times.max);
    std::printf("\n");
  });
}
