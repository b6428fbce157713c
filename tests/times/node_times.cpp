// SPDX-License-Identifier: BSD-3-Clause
// node_times TRACE: what the C++ reader says of the times at each event of the loop tree.
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
  trace->for_each_node([](const reader::Node& node) {
    if (node.is_loop || node.call == nullptr) return;
    std::printf("%s", node.call->name.c_str());
    for (const reader::Times& times : {node.compute, node.in_call})
      std::printf(" %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64, times.count, times.sum,
                  times.min, times.max);
    std::printf("\n");
  });
}
