// SPDX-License-Identifier: BSD-3-Clause
// Reads a trace with the library for readers: the loop tree, and what each rank waits for most.
#include <chameleon/trace_reader.h>

#include <cstdio>
#include <map>
#include <string>

namespace reader = chameleon::reader;

int main(int argc, char** argv) {
  reader::Error error;
  const auto trace = reader::TraceReader::open(argc > 1 ? argv[1] : "", error);
  if (!trace) return std::fprintf(stderr, "%s\n", error.message.c_str()), 3;
  trace->for_each_node([](const reader::Node& node) {
    std::printf("%*s%s", static_cast<int>(2 * node.depth), "", node.is_loop ? "loop x" : "");
    std::printf("%s\n",
                node.is_loop ? std::to_string(node.iterations).c_str() : node.call->name.c_str());
  });
  for (const reader::RankInterval& ranks : trace->run().ranks)
    for (std::uint32_t rank = ranks.first; rank <= ranks.last; ++rank) {
      std::map<std::string, std::uint64_t> waited;
      std::uint64_t events = 0;
      const bool read = trace->for_each_event(
          rank,
          [&](const reader::Event& event) {
            ++events;
            waited[event.call->name + " at " + trace->site(event.path)] += event.call_ns;
            return true;
          },
          error);
      if (!read) return std::fprintf(stderr, "%s\n", error.message.c_str()), 3;
      std::pair<std::string, std::uint64_t> most;
      for (const auto& place : waited)
        if (place.second >= most.second) most = place;
      std::printf("rank %u: %llu events, longest in %s\n", rank,
                  static_cast<unsigned long long>(events), most.first.c_str());
    }
}
