// SPDX-License-Identifier: BSD-3-Clause
// An exporter out of tree: who sends to whom in MPI_COMM_WORLD, as a graph for Graphviz.
//     export_dot run.cham | dot -Tsvg >messages.svg
#include <chameleon/trace_reader.h>

#include <cstdio>
#include <map>
#include <utility>

namespace reader = chameleon::reader;

int main(int argc, char** argv) {
  reader::Error error;
  const auto trace = reader::TraceReader::open(argc > 1 ? argv[1] : "", error);
  if (!trace) return std::fprintf(stderr, "%s\n", error.message.c_str()), 3;

  std::map<std::pair<std::uint32_t, std::int64_t>, std::uint64_t> messages;  // by sender, receiver
  const auto add = [&](const reader::Event& event) {
    const std::int64_t to = event.value("dest", reader::kNone);
    if (to >= 0 && trace->object_name("comm", event.value("comm")) == "MPI_COMM_WORLD")
      ++messages[{event.rank, to}];
    return true;
  };
  for (const reader::RankInterval& streams : trace->run().ranks)
    for (std::uint32_t stream = streams.first; stream <= streams.last; ++stream)
      if (!trace->for_each_event(stream, add, error))
        return std::fprintf(stderr, "%s\n", error.message.c_str()), 3;

  std::printf("digraph messages {\n");
  for (const auto& [ends, count] : messages)
    std::printf("  %u -> %lld [label=%llu];\n", ends.first, static_cast<long long>(ends.second),
                static_cast<unsigned long long>(count));
  std::printf("}\n");
}
